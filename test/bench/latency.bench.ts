import { availableParallelism } from 'node:os';

import { loadAddon } from '../../lib/board/addon.ts';
import { statisticsOf } from '../../lib/cli/output/statistics.ts';
import { table } from '../../lib/cli/output/table.ts';
import {
  libfabricOverSharedMemory,
  libfabricOverTcp,
  postMessage,
  socketBetweenProcesses,
  socketInAThread,
  ucx,
} from './latency/peers.ts';
import { bytes, type Contender } from './latency/setting.ts';
import { oneThread, twoProcesses, twoThreads } from './latency/verbs.ts';

// Half of a round trip of a 64 B SEND, beside other mechanisms of Node and other libraries in the same
// setting. All take turns, round by round.

const rounds = 5;
const roundTripsOfFloor = 20_000;
/** Microseconds on one thread; cache-line round trips on two. */
const aims = { oneThread: 0.6, twoThreads: 4 };

const median = (samples: readonly number[]): number => statisticsOf(Float64Array.from(samples)).median;

/**
 * A cache line from one thread to another and back: the floor for everything that crosses threads, in
 * microseconds.
 */
const floor: Contender = {
  name: 'a cache line there and back',
  round: () =>
    Promise.resolve(statisticsOf(loadAddon().cacheLineRoundTrip(roundTripsOfFloor, -1, -1)).median / 1000),
};

const programs = {
  'fi_pingpong -p tcp (libfabric-bin)': libfabricOverTcp,
  'fi_pingpong -p shm (libfabric-bin)': libfabricOverSharedMemory,
  'ucx_perftest (ucx-utils)': ucx,
};
const installed = Object.values(programs).filter((each) => each !== undefined);
const settings: readonly (readonly Contender[])[] = [
  [oneThread, socketInAThread],
  [twoThreads, postMessage, floor],
  [twoProcesses, socketBetweenProcesses, ...installed],
];
const contenders = settings.flat();
const samples = new Map<Contender, number[]>(contenders.map((each) => [each, []]));
for (let round = 0; round < rounds; round++) {
  for (const each of contenders) samples.get(each)!.push(await each.round());
}

const figure = (contender: Contender): number => median(samples.get(contender)!);
const aimOf = (contender: Contender): number | undefined =>
  contender === oneThread
    ? aims.oneThread
    : contender === twoThreads
      ? aims.twoThreads * figure(floor)
      : undefined;
const rows = settings.flatMap((setting) =>
  setting.map((contender) => {
    const aim = aimOf(contender);
    return [
      contender.name,
      figure(contender).toFixed(2),
      (figure(contender) / figure(setting[0]!)).toFixed(2),
      aim === undefined ? '' : (figure(contender) / aim).toFixed(2),
    ];
  }),
);
console.log(
  `\nA SEND of ${bytes} B, half of a round trip: medians of ${rounds} rounds (aims: ${aims.oneThread} us on one thread; ` +
    `${aims.twoThreads} cache-line round trips on two)\n${table(
      [
        { title: 'setting, and its peers', align: 'left' },
        { title: 'us', align: 'right' },
        { title: 'by the first of the setting', align: 'right' },
        { title: 'by the aim', align: 'right' },
      ],
      rows,
    )}`,
);
for (const [name, contender] of Object.entries(programs)) {
  if (contender === undefined) console.log(`Not measured: ${name} is not installed.`);
}
if (availableParallelism() < 2)
  console.log('Two threads on one CPU wait for the scheduler: read nothing into their figures.');
