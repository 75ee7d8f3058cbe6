import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

import { freePort } from '../helpers/free_port.ts';
import { HcaProcess, untilListening } from '../helpers/hca_process.ts';
import { requireFile, requireTool, toolEnvironment } from '../helpers/tools.ts';
import { ownFabric, startProgram } from './verbs_program.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-checks-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Compiles a file of test/libibverbs/programs as users do, against the system's libibverbs. */
function compiled(compiler: string, source: string, words: readonly string[] = []): string {
  const made = path.join(folder, path.parse(source).name);
  const file = fileURLToPath(new URL(`programs/${source}`, import.meta.url));
  const { status, stderr } = spawnSync(
    compiler,
    [...words, '-Wall', '-o', made, file, '-libverbs', '-lpthread'],
    {
      encoding: 'utf8',
      env: toolEnvironment(),
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return made;
}

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
  'a completion queue holds what is asked for, as far as it was made for that',
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
])('a C program that leaves with work under way: %s', async ([way, says], context) => {
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

test('ibv_rc_pingpong and hca pingpong: a program in C and one in JavaScript', async (context) => {
  requireTool('ibv_rc_pingpong', context);
  const device = ownFabric();
  const port = await freePort();
  const server = startProgram(device, ['ibv_rc_pingpong', '-c', '-g', '0', '-n', '100', '-p', String(port)]);
  await Promise.race([untilListening(port), server.ended]);
  const words = ['pingpong', 'rc', 'localhost', '-c', '-n', '100', '-p', String(port), '--device', device];
  const client = new HcaProcess(words);
  expect(await client.ended).toMatchObject({ exitCode: 0 });
  expect(await server.ended).toMatchObject({ exitCode: 0, error: '' });
});
