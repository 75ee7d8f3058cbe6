// libibverbs programs on a board that `hca serve` serves: their memory is shared with its process, page by
// page.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { freePort } from '../helpers/free_port.ts';
import { HcaProcess } from '../helpers/hca_process.ts';
import { runHca } from '../helpers/run_hca.ts';
import { requireFile, requireTool } from '../helpers/tools.ts';
import { compiled } from './compiled_program.ts';
import { runEnds, startProgram } from '../helpers/verbs_program.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-served-'));
const socket = path.join(folder, 'board');
const device = `serve:${socket}`;
let server: HcaProcess;
beforeAll(async () => {
  server = new HcaProcess(['serve', socket, '--device', 'emu:?linkLayer=infiniband'], 'file');
  await server.hasSaid('can be opened');
});
afterAll(async () => {
  server.kill('SIGTERM');
  await server.ended;
  rmSync(folder, { recursive: true });
});

const names = [
  'regions that have pages in common',
  'pages that are registered again keep their content',
  'new memory at an old address',
  'a thread that writes while pages are replaced loses nothing',
  'a handler that writes while pages are replaced waits for nothing',
  'memory that grows when it was registered',
  'a child has copies of its own',
  'stacks, and memory that is shared with others, are refused',
  'memory that cannot be written is read',
  'faults of the program reach its handlers',
  'all',
];

test('memory of a program becomes shared while the program uses it', async (context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const { exitCode, out } = await startProgram(device, [compiled('gcc', 'shared_memory.c')]).ended;
  expect(out.trim().split('\n')).toEqual(names.map((name) => `ok ${name}`));
  expect(exitCode).toBe(0);
});

test.for([
  ['windows, groups and queues', 'queues.c'],
  ['completion queues of other sizes', 'queue_sizes.c'],
] as const)('%s', async ([, source], context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const { exitCode, out } = await startProgram(device, [compiled('gcc', source)]).ended;
  expect(out).toMatch(/^ok all$/m);
  expect(exitCode).toBe(0);
});

test.for([
  ['ibv_rc_pingpong', '-c', '-n', '100'],
  ['ibv_ud_pingpong', '-c', '-n', '100', '-e'],
  ['ibv_srq_pingpong', '-c', '-n', '100'],
])('%j: two programs, each with a function of the board', async (words, context) => {
  requireTool('ibv_rc_pingpong', context);
  for (const end of await runEnds(device, words)) {
    expect(end).toMatchObject({ exitCode: 0, error: '' });
    expect(end.out).not.toContain('invalid data');
  }
});

test('ib_write_lat, which polls its own memory', async (context) => {
  requireTool('ib_send_lat', context);
  for (const end of await runEnds(device, ['ib_write_lat', '-F', '-n', '100', '-s', '4096']))
    expect(end).toMatchObject({ exitCode: 0 });
});

test('hca why explains a queue pair of a program', async (context) => {
  requireTool('ibv_rc_pingpong', context);
  const port = String(await freePort());
  const program = startProgram(`${device}/3`, ['stdbuf', '-oL', 'ibv_rc_pingpong', '-p', port]);
  await program.hasSaid('local address');
  const number = /QPN (0x\w+)/.exec(program.out)![1]!;
  const { exitCode, out } = await runHca(['why', number, '--device', `${device}/3`]);
  expect({ exitCode, out }).toMatchObject({ exitCode: 0 });
  expect(out).toMatch(/INIT|init/);
});

test('a function in use, and a nonexistent board', async (context) => {
  requireTool('ibv_rc_pingpong', context);
  const first = startProgram(`${device}/5`, ['ibv_asyncwatch']);
  await first.hasSaid('async event FD');
  const second = await startProgram(`${device}/5`, ['ibv_devinfo']).ended;
  expect(second.error).toContain('underlying function 5 is open in process');
  const none = await startProgram(`serve:${folder}/none`, ['ibv_devinfo']).ended;
  expect(none.error).toContain(`device "serve:${folder}/none": `);
});
