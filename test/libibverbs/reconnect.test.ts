// Virtual queue pairs (US7095750), as libibverbs programs use them.
import { expect, test } from 'vitest';

import { requireFile, requireTool } from '../helpers/tools.ts';
import { compiled } from './compiled_program.ts';
import { ownFabric, startProgram } from '../helpers/verbs_program.ts';

test('a C program resets and connects queue pairs again', async (context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const program = compiled('gcc', 'reconnect.c');
  const { exitCode, out } = await startProgram(ownFabric('linkLayer=infiniband'), [program]).ended;
  expect(out.trim().split('\n')).toEqual(['ok the same numbers, to the same peer', 'ok other numbers']);
  expect(exitCode).toBe(0);
});
