import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';

import { packageRoot } from '../../lib/board/native_files.ts';
import { statisticsOf } from '../../lib/cli/output/statistics.ts';
import { table } from '../../lib/cli/output/table.ts';
import { libfabricOverSharedMemory, program } from './latency/peers.ts';
import { bytes, roundTrips, type Contender } from './latency/setting.ts';

// Half of a round trip of 64 B between two C programs: perftest over the drop-in library, libfabric's shared
// memory, and Soft-RoCE where this machine has such a device. All take turns, round by round.

const rounds = 5;
const hca = path.join(packageRoot, 'dist/lib/cli/main.js');

/** The average latency, from perftest's line of figures, because fi_pingpong prints no other figure. */
const average = (said: string): number =>
  Number(new RegExp(`^ *${bytes} +\\d+ +\\S+ +\\S+ +\\S+ +(\\S+)`, 'm').exec(said)?.[1]);

/** A latency program of perftest, behind a command prefix. */
function perftest(
  test: string,
  before: readonly string[],
  options: readonly string[],
  name: string,
): Contender | undefined {
  if (spawnSync(test, ['--version'], { stdio: 'ignore' }).error !== undefined) return undefined;
  const words = [...before, test, '-F', '-s', `${bytes}`, '-n', `${roundTrips}`, ...options];
  return program(
    words[0]!,
    (port) => ({
      server: [...words.slice(1), '-p', port],
      client: [...words.slice(1), '-p', port, '127.0.0.1'],
    }),
    average,
    name,
  );
}

const devices = '/sys/class/infiniband';
const softRoce = existsSync(devices)
  ? readdirSync(devices).find((name) => name.startsWith('rxe'))
  : undefined;
const all: Record<string, Contender | undefined> = {
  'fi_pingpong -p shm (libfabric-bin)': libfabricOverSharedMemory,
};
for (const test of ['ib_send_lat', 'ib_write_lat']) {
  const run = [
    process.execPath,
    hca,
    'run',
    '--device',
    `emu:?linkLayer=infiniband&link=host:${randomUUID()}`,
    '--',
  ];
  all[`${test} (perftest)`] = perftest(test, run, [], `hca run -- ${test}`);
  all[`${test} on Soft-RoCE (a device rxe0 of rdma_rxe)`] =
    softRoce === undefined
      ? undefined
      : perftest(test, ['env'], ['-d', softRoce, '-x', '1'], `${test} -d ${softRoce}`);
}
const contenders = Object.values(all).filter((each) => each !== undefined);
const samples = new Map<Contender, number[]>(contenders.map((each) => [each, []]));
for (let round = 0; round < rounds; round++) {
  for (const each of contenders) samples.get(each)!.push(await each.round());
}

const medianOf = (each: Contender): number => statisticsOf(Float64Array.from(samples.get(each)!)).median;
const [first] = contenders;
console.log(
  `\n${bytes} B between two C programs, half of a round trip: medians of the averages of ${rounds} rounds of ${roundTrips} round trips; ` +
    `load ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} CPUs (aim: below the shm provider)\n${table(
      [
        { title: 'programs', align: 'left' },
        { title: 'us', align: 'right' },
        { title: 'by the first', align: 'right' },
      ],
      contenders.map((each) => [
        each.name,
        medianOf(each).toFixed(2),
        (medianOf(each) / medianOf(first!)).toFixed(2),
      ]),
    )}`,
);
for (const [name, contender] of Object.entries(all)) {
  if (contender === undefined) console.log(`Not measured: ${name} is not there.`);
}
