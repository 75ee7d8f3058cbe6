// A served board ends while a C program uses it: the program gets IBV_EVENT_DEVICE_FATAL, and ends normally.
import { expect, test } from 'vitest';

import { openDevice } from '../../lib/index.ts';
import { backends, closing, makeBoard, newSocket } from '../helpers/backends.ts';
import { HcaProcess } from '../helpers/hca_process.ts';
import { requireFile, requireTool } from '../helpers/tools.ts';
import { compiled } from './compiled_program.ts';
import { startProgram } from '../helpers/verbs_program.ts';

const names = [
  'polls end, when all that came was taken',
  'who waits for events learns of it',
  'posts are refused',
  'verbs are refused',
  'all',
];

/** The program on a function of a served board; `end` ends the board while the program uses it. */
async function checkFatal(socket: string, reason: string, end: () => void): Promise<void> {
  const program = startProgram(`serve:${socket}/1`, [compiled('gcc', 'device_fatal.c')]);
  await Promise.race([program.hasSaid('ready'), program.ended]);
  end();
  const { exitCode, out, error } = await program.ended;
  expect(out.trim().split('\n'), error).toEqual(['ready', ...names.map((name) => `ok ${name}`)]);
  expect(error).toContain(`fpga-verbs: the device is gone: ${reason} (Input/output error)`);
  expect(exitCode).toBe(0);
}

test.for(['SIGKILL', 'SIGTERM'] as const)('the server gets %s', async (signal, context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const socket = newSocket();
  const server = new HcaProcess(['serve', socket, '--device', 'emu:?linkLayer=infiniband']);
  await server.hasSaid('can be opened');
  await checkFatal(socket, 'the process that holds the board has ended', () => server.kill(signal));
  await server.ended;
});

test('the control function resets the device', async (context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const socket = newSocket();
  const board = makeBoard(backends[0]!, { linkLayer: 'infiniband' });
  const control = openDevice(board.open(0));
  closing(board.serve({ path: socket }));
  await checkFatal(socket, 'it was reset by its control function', () => control.close());
});
