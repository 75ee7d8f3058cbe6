// A C program resizes completion queues under traffic, and moderates their events.
import { expect, test } from 'vitest';

import { requireFile, requireTool } from '../helpers/tools.ts';
import { compiled } from './compiled_program.ts';
import { ownFabric, startProgram } from '../helpers/verbs_program.ts';

const names = [
  'a completion queue of another size',
  'other sizes under traffic',
  'an armed queue of another size gives its event',
  'an extended queue of another size',
  'events that are moderated',
  'all',
];

test.for(['', '&progress=own'])('sizes and moderation, board emu:%s', async (options, context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const program = compiled('gcc', 'queue_sizes.c');
  const { exitCode, out } = await startProgram(ownFabric(`linkLayer=infiniband${options}`), [program]).ended;
  expect(out.trim().split('\n')).toEqual(names.map((name) => `ok ${name}`));
  expect(exitCode).toBe(0);
});
