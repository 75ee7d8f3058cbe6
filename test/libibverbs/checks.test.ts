import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { requireFile, requireTool } from '../helpers/tools.ts';
import { compiled } from './compiled_program.ts';
import { ownFabric, startProgram } from '../helpers/verbs_program.ts';

const names = [
  'a device',
  'memory of any kind, and what is refused',
  'queue pairs',
  'completion events on a descriptor',
  'no event for what lies there',
  'an event goes with its queue',
  'ibv_wr_* and extended completion queues',
  'a datagram, 40 B of GRH before it',
  'four threads',
  'a child that does nothing of verbs',
  'RDMA WRITE into memory of an address of its own',
  'RDMA READ',
  'atomics',
  'SEND with inline data and immediate data, received in pieces',
  'errors of posts, and a region changed',
  'a memory window',
  'what is in use stays',
  'an error at the peer, flushed work, and its asynchronous event',
  'all',
];

test.for(['', '&progress=own', '&mapping=adversarial&seed=7'])(
  'a C program, board emu:%s',
  async (options, context) => {
    requireTool('g++', context);
    requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
    const program = compiled('gcc', 'checks.c');
    const { exitCode, out } = await startProgram(ownFabric(`linkLayer=infiniband${options}`), [program])
      .ended;
    expect(out.trim().split('\n')).toEqual(names.map((name) => `ok ${name}`));
    expect(exitCode).toBe(0);
  },
);

const namesOfQueues = [
  'a window of type 2, whose key the program chooses',
  'it is invalidated, and bound again under another key',
  'the peer invalidates it, and reaches nothing through it afterwards',
  'a datagram to a multicast group comes to each member',
  'to those alone that are members',
  'an event when fewer receives are left than the limit, once',
  'a shared receive queue grows, and keeps what is posted',
  'all',
];

test.for(['', '&progress=own', '&mapping=adversarial&seed=7'])(
  'a C program of windows, groups and queues, board emu:%s',
  async (options, context) => {
    requireTool('g++', context);
    requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
    const program = compiled('gcc', 'queues.c');
    const { exitCode, out } = await startProgram(ownFabric(`linkLayer=infiniband${options}`), [program])
      .ended;
    expect(out.trim().split('\n')).toEqual(namesOfQueues.map((name) => `ok ${name}`));
    expect(exitCode).toBe(0);
  },
);

test.for([
  ['', 'left\n'],
  ['exec', 'left\nanother\n'],
  ['reopens', 'left\n'],
])('a C program that ends with work in flight: %s', async ([way, says], context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const program = compiled('gcc', 'leaves.c');
  const device = ownFabric();
  for (let run = 0; run < 10; run++)
    expect(await startProgram(device, [program, way!]).ended).toEqual({ exitCode: 0, out: says, error: '' });
});

test('the interface is that of <infiniband/verbs.h>, member by member', (context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const native = fileURLToPath(new URL('../../native', import.meta.url));
  compiled('g++', 'abi.cpp', ['-std=c++20', '-I', native]);
});
