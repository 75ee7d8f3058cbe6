import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { freeNetwork, freePort } from '../helpers/free_port.ts';
import { HcaProcess, untilListening } from '../helpers/hca_process.ts';

// Each command between two processes, in every pairing of devices: one run of each, or
// FPGA_VERBS_PAIRING_RUNS runs.
const runs = Number(process.env['FPGA_VERBS_PAIRING_RUNS'] ?? 1);
const secondsOfRun = 60;
const small = 'queuePairs=64&pageTableEntries=8192&memoryKeys=256';
const board = `fpga-verbs-pairings-${process.pid}`;
const network = await freeNetwork();
let links = 0;

const kinds = ['default', 'shm', 'udp', 'serve'] as const;
type Kind = (typeof kinds)[number];

/** The devices of both ends. */
function devicesOf(waiting: Kind, looking: Kind): readonly [string, string] {
  const link = (links += 1);
  const device = (kind: Kind, end: number): string => {
    switch (kind) {
      case 'default':
        return `emu:?${small}`;
      case 'shm':
        return `emu:?${small}&link=shm:${board}-${link}`;
      case 'udp':
        return `emu:?${small}&link=udp:${network}${end}`;
      case 'serve':
        return `serve:${board}`;
    }
  };
  return [device(waiting, 1), device(looking, 2)];
}

const areLinked = (waiting: Kind, looking: Kind): boolean =>
  waiting === looking ||
  [waiting, looking].toSorted().join() === 'default,shm' ||
  [waiting, looking].toSorted().join() === 'default,udp';

const commands: readonly (readonly [string, ...string[]])[] = [
  ['pingpong', 'rc', '-n', '100', '--chk'],
  ['lat', 'send', '-n', '100', '--chk', '--qp-timeout', '20'],
  ['bw', 'write', '-n', '50', '-s', '20000', '--chk', '--qp-timeout', '20'],
];

async function run(
  words: readonly string[],
  devices: readonly [string, string],
): Promise<readonly { readonly exitCode: number | null; readonly out: string; readonly error: string }[]> {
  const port = await freePort();
  const waiting = new HcaProcess([...words, '--device', devices[0], '--listen', '-p', `${port}`]);
  await untilListening(port);
  const looking = new HcaProcess([...words, '--device', devices[1], 'localhost', '-p', `${port}`]);
  return Promise.all([waiting.ended, looking.ended]);
}

let server: HcaProcess;
beforeAll(async () => {
  server = new HcaProcess(['serve', board, '--device', `emu:?${small}`], 'file');
  await server.hasSaid('can be opened');
});
afterAll(async () => {
  server.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ exitCode: 0, error: '' });
});

describe.each(commands)('hca %s %s between two processes', (...words: readonly string[]) => {
  const pairs = kinds.flatMap((waiting) => kinds.map((looking) => [waiting, looking] as const));

  it.each(pairs)(
    `%s and %s, ${runs} times`,
    async (waiting, looking) => {
      let longest = 0;
      for (let count = 0; count < runs; count++) {
        const devices = devicesOf(waiting, looking);
        const begun = performance.now();
        const ends = await run(words, devices);
        longest = Math.max(longest, performance.now() - begun);
        if (areLinked(waiting, looking)) {
          expect(ends.map(({ error }) => error)).toEqual(['', '']);
          expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
        } else {
          for (const { exitCode, error } of ends) {
            expect(error).toMatch(
              /^hca: no link joins .* here and .* at the other end; give .*--device '.*'.*\n$/,
            );
            expect(exitCode).toBe(1);
          }
        }
      }
      if (runs > 1)
        process.stdout.write(
          `${words[0]}: ${waiting} and ${looking}: ${runs} runs, ${(longest / 1000).toFixed(1)} s at most\n`,
        );
    },
    runs * secondsOfRun * 1000,
  );
});
