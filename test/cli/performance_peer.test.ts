import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';

import { freeNetwork, freePort } from '../helpers/free_port.ts';
import { runHca } from '../helpers/run_hca.ts';
import { newSignal, retrying, runTwo } from './two_processes.ts';

const small = 'queuePairs=64&pageTableEntries=8192&memoryKeys=256';
let links = 0;
const network = await freeNetwork();

const deviceOf = (place: string): string[] => ['--device', `emu:?${small}&link=${encodeURIComponent(place)}`];

/** The devices of two ends that are linked. */
const devices = {
  shm: (): [string[], string[]] => {
    const place = `shm:performance ${process.pid} ${links++}`;
    return [deviceOf(place), deviceOf(place)];
  },
  udp: (): [string[], string[]] => {
    const first = 2 * links++;
    return [deviceOf(`udp:${network}${first + 1}`), deviceOf(`udp:${network}${first + 2}`)];
  },
} as const;

interface Result {
  readonly bytes: number;
  readonly iterations: number;
  readonly average: number;
}

const resultsOf = (text: string): readonly Result[] =>
  (JSON.parse(text) as { readonly results: readonly Result[] }).results;

describe('hca lat and hca bw between two processes', () => {
  it.each([
    ['lat', 'send', 'shm', ['-n', '40', '-s', '100', '-e']],
    ['lat', 'write', 'udp', ['-n', '40']],
    ['lat', 'read', 'shm', ['-n', '40', '-s', '5000']],
    ['lat', 'atomic', 'udp', ['-n', '40', '-A', 'CMP_AND_SWAP']],
    ['bw', 'send', 'shm', ['-n', '100', '-s', '3000', '-b', '-q', '2']],
    ['bw', 'write', 'udp', ['-n', '30', '-s', '20000', '-t', '8']],
    ['bw', 'atomic', 'shm', ['-n', '50']],
  ] as const)('%s %s over %s, data compared', async (command, operation, link, more) => {
    // On a busy machine an end may wait longer than the retries of the usual timeout, 0.5 s.
    const words = [command, operation, ...more, '--warmup', '5', '--chk', '--json', '--qp-timeout', '20'];
    const [one, other] = devices[link]();
    const { waited, client } = await runTwo([...words, ...one], [...words, ...other]);
    expect([client.error, waited.stderr]).toEqual(['', '']);
    const [there, here] = [waited.stdout, client.out].map(resultsOf);
    const queuePairs = (more as readonly string[]).includes('-q') ? 2 : 1;
    expect(here).toMatchObject([{ iterations: Number(more[1]) * queuePairs }]);
    expect(here![0]!.average).toBeGreaterThan(0);
    expect(there).toHaveLength(1);
    for (const name of ['bytes', 'iterations', 'average'] as const) {
      expect(there![0]![name]).toBeCloseTo(here![0]![name], 3);
    }
  });

  it('measure only if both ends have the same options', async () => {
    const [one, other] = devices.shm();
    const { waited, client } = await runTwo(['lat', 'send', ...one], ['lat', 'send', '-s', '64', ...other]);
    expect(waited).toMatchObject({
      failed: true,
      stderr: 'hca: --size is [2] here and [64] at the other end; give both ends the same\n',
    });
    expect(client).toMatchObject({
      exitCode: 1,
      error: 'hca: --size is [64] here and [2] at the other end; give both ends the same\n',
    });
  });

  it.each([
    ['garbage', 'hello\n', 'the other end says "hello", but a greeting is due'],
    [
      'another version',
      '{"say":"greeting","version":2}\n',
      'the other end speaks version 2, this one 3; use the same hca at both ends',
    ],
    ['a failure', '{"say":"failed","message":"out of memory"}\n', 'the other end failed: out of memory'],
    ['nothing', '', 'the other end disconnected too early'],
  ])('end if the other end sends %s', async (_, said, message) => {
    const port = await freePort();
    const signal = newSignal();
    const [device] = devices.shm();
    const waiting = runHca(['bw', 'write', '--listen', '--port', String(port), ...device], signal);
    const socket = await retrying(
      signal,
      async () => {
        const tried = connect(port);
        const [error] = (await Promise.race([once(tried, 'connect'), once(tried, 'error')])) as [unknown];
        return { tried, error };
      },
      ({ error }) => error !== undefined,
    );
    socket.tried.end(said);
    expect(await waiting).toMatchObject({ exitCode: 1, error: `hca: ${message}\n` });
  });

  it('wait for the other end, or connect to it', async () => {
    const run = await runHca(['lat', 'send', 'localhost', '--listen']);
    expect(run).toMatchObject({
      exitCode: 2,
      error: 'hca: give either --listen or the host localhost, not both\n',
    });
  });
});
