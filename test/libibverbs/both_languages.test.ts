// A C program at one end of a connection and JavaScript at the other, each with its own board.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

import { Connection } from '../../lib/connect/index.ts';
import { openDevice, RemoteMemory } from '../../lib/index.ts';
import { freePort } from '../helpers/free_port.ts';
import { HcaProcess, untilListening } from '../helpers/hca_process.ts';
import { requireFile, requireTool, toolEnvironment } from '../helpers/tools.ts';
import { compiled } from './compiled_program.ts';
import { ownFabric, startProgram } from '../helpers/verbs_program.ts';

test.for([
  ['rc', []],
  ['uc', []],
  ['ud', ['-s', '1024']],
] as const)('ibv_%s_pingpong and hca pingpong, data compared', async ([service, options], context) => {
  requireTool('ibv_rc_pingpong', context);
  const device = ownFabric();
  const port = await freePort();
  const words = ['-c', '-g', '0', '-n', '100', ...options, '-p', String(port)];
  const server = startProgram(device, [`ibv_${service}_pingpong`, ...words]);
  await Promise.race([untilListening(port), server.ended]);
  const of = ['pingpong', service, 'localhost', '-c', '-n', '100', ...options];
  const client = new HcaProcess([...of, '-p', String(port), '--device', device]);
  expect(await client.ended).toMatchObject({ exitCode: 0 });
  const end = await server.ended;
  expect(end).toMatchObject({ exitCode: 0, error: '' });
  expect(end.out).not.toContain('invalid data');
});

test('memory of a C program is read and written while the program calls no verb', async (context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const device = ownFabric();
  const hca = fileURLToPath(new URL('../../dist/lib/cli/main.js', import.meta.url));
  const words = [hca, 'run', '--device', device, '--', compiled('gcc', 'passive.c')];
  const program = spawn(process.execPath, words, {
    env: toolEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void program.kill('SIGKILL'));
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  const offered = JSON.parse((await lines.next()).value as string) as {
    gid: string;
    localIdentifier: number;
    queuePairNumber: number;
    address: string;
    key: number;
    length: number;
  };
  using peer = openDevice(device);
  using connection = new Connection(peer);
  const { localIdentifier, queuePairNumber, packetSequenceNumber, gid } = connection.address;
  program.stdin.write(`${localIdentifier} ${queuePairNumber} ${packetSequenceNumber} ${gid}\n`);
  expect((await lines.next()).value).toBe('ready');
  connection.connect({ ...offered, packetSequenceNumber: 0 }); // it only answers requests
  const remote = new RemoteMemory({ ...offered, address: BigInt(offered.address) });
  const memory = connection.allocate(64);
  const text = Buffer.from(memory.bytes.buffer, memory.bytes.byteOffset, 64);
  await connection.read(memory.slice(), remote);
  expect(text.toString('latin1', 8, 15)).toBe('offered');
  expect(await connection.fetchAndAdd(remote.slice(0, 8), 2n)).toBe(40n);
  text.write('written\0');
  await connection.write(memory.slice(0, 8), remote.slice(8, 8));
  program.stdin.end();
  expect((await lines.next()).value).toBe('42 written');
  expect(await once(program, 'close')).toEqual([0, null]);
});
