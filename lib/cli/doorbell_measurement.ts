import { setImmediate } from 'node:timers/promises';

import { loadAddon, type DoorbellProbeRun } from '../board/addon.ts';
import { KickRecordRing } from '../driver/kick_records.ts';
import type { Context } from '../index.ts';
import { COMMAND_PAYLOAD_BYTES } from '../spec/index.ts';
import { doorbellProbeSetup } from './doorbell_probe_setup.ts';
import { LoopedQueuePair } from './looped_queue_pair.ts';
import { histogramOf, statisticsOf, type Bin, type Statistics } from './output/statistics.ts';

/** The parts of a doorbell's way, in the order of their letters. */
export const parts = [
  { letter: 'a', name: 'callToLastStore', text: 'call to last store', ofDevice: false },
  { letter: 'b', name: 'fence', text: 'fence', ofDevice: false },
  { letter: 'c', name: 'lastStoreToKick', text: 'last store to kick', ofDevice: true },
  { letter: 'd', name: 'firstWriteToKick', text: 'first write to kick', ofDevice: true },
  { letter: 'e', name: 'kickToRecord', text: 'kick to record seen', ofDevice: true },
  { letter: 'f', name: 'postToCompletion', text: 'post to completion', ofDevice: true },
  { letter: 'g', name: 'lastStoreToRecord', text: 'last store to record seen', ofDevice: false },
] as const;
export type PartName = (typeof parts)[number]['name'];
export type Samples = Readonly<Record<PartName, Float64Array>>;

/** How it is measured. */
export interface MeasurementOptions {
  /** Stamped posts of each payload size; as many are posted without stamps. */
  readonly iterations: number;
  /** Posts before, not measured. */
  readonly warmup: number;
  /** CPU that the posting thread is pinned to. */
  readonly cpu: number | undefined;
  /** CPU that the device thread is pinned to, and the other thread of the floor. */
  readonly deviceCpu: number | undefined;
  /** Ends it between two rounds. */
  readonly signal: AbortSignal;
}

/** Measurements for one payload size; nanoseconds. */
export interface Measurement {
  readonly payloadBytes: number;
  readonly parts: Readonly<Record<PartName, Statistics>>;
  /** Of the headline, last store to record seen. */
  readonly histogram: readonly Bin[];
  /** The headline as a poller sees it that looks all the time, in turns with the paced one; undefined: the device works on the posting thread. */
  readonly lastStoreToRecordUnpaced: Statistics | undefined;
  /** Of post to completion. */
  readonly completionHistogram: readonly Bin[];
  /** A cache-line round trip between two threads, in turns with the posts; undefined: the device works on the posting thread. */
  readonly floor: Statistics | undefined;
  /** Median of the headline by the median of the floor. */
  readonly ratio: number | undefined;
  /** Of a whole post, its records and completion waited for: with stamps and without. */
  readonly stampedPost: number;
  readonly unstampedPost: number;
  /** Cost of taking the time once; a stamped post does it five times. */
  readonly stamp: number;
  readonly clockUncertainty: number;
}

/** Rounds at least, in which stamped posts, unstamped ones and the floor take turns. */
const turns = 10;
/** Posts for which the loop lies in native code: some milliseconds, after which an interrupt is seen. */
const postsAtOnce = 10_000;
const recordsLog2 = 8;
const sendQueueEntries = 64;
/** Milliseconds after which an own device thread has gone to sleep, so that the floor has its CPU to itself. */
const deviceSleeps = 6;

/**
 * Measures one payload size: stamped and unstamped posts and the floor in turns, so that all see the same machine.
 * @throws AbortError when the signal says so
 */
export async function measure(
  device: Context,
  payloadBytes: number,
  options: MeasurementOptions,
): Promise<{ readonly measurement: Measurement; readonly samples: Samples }> {
  const { cpu, deviceCpu, signal } = options;
  const crosses = device.queryDevice().board.progress !== 'shared';
  const looped = new LoopedQueuePair(device, {
    entries: sendQueueEntries,
    inlineBytes: COMMAND_PAYLOAD_BYTES,
  });
  const records = new KickRecordRing(device.driver.device, recordsLog2);
  try {
    const probe = device.driver.device.board.doorbellProbe({
      ...doorbellProbeSetup(device.driver, looped, records, payloadBytes),
      ...(cpu === undefined ? {} : { cpu }),
    });
    for (const posts of roundsOf(options.warmup, 1)) {
      await setImmediate(undefined, { signal });
      probe.run(posts, false);
    }
    const stamped: DoorbellProbeRun[] = [];
    const unstamped: DoorbellProbeRun[] = [];
    const unpaced: DoorbellProbeRun[] = [];
    const floors: Float64Array[] = [];
    for (const posts of roundsOf(options.iterations, turns)) {
      await setImmediate(undefined, { signal });
      stamped.push(probe.run(posts, true));
      unstamped.push(probe.run(posts, false));
      if (!crosses) continue;
      unpaced.push(probe.run(posts, true, true));
      pause(deviceSleeps);
      floors.push(loadAddon().cacheLineRoundTrip(posts, cpu ?? -1, deviceCpu ?? -1));
    }
    return summarize(payloadBytes, { stamped, unstamped, unpaced, floors });
  } finally {
    records.close();
    looped.close();
  }
}

/** Posts of each round, `least` rounds or more where there are as many posts; their sum is `posts`. */
export function roundsOf(posts: number, least: number): number[] {
  const rounds = Math.min(posts, Math.max(least, Math.ceil(posts / postsAtOnce)));
  const before = (round: number): number => Math.floor((round * posts) / rounds);
  return Array.from({ length: rounds }, (_, round) => before(round + 1) - before(round));
}

/** Runs of all rounds. */
interface Rounds {
  readonly stamped: readonly DoorbellProbeRun[];
  readonly unstamped: readonly DoorbellProbeRun[];
  /** Of the poller that looks all the time. None: no doorbell goes from one CPU to another. */
  readonly unpaced: readonly DoorbellProbeRun[];
  /** None: no doorbell goes from one CPU to another. */
  readonly floors: readonly Float64Array[];
}

function summarize(
  payloadBytes: number,
  { stamped, unstamped, unpaced, floors }: Rounds,
): { readonly measurement: Measurement; readonly samples: Samples } {
  const joined = (name: PartName): Float64Array => join(stamped.map((run) => run[name]));
  const samples = Object.fromEntries(parts.map(({ name }) => [name, joined(name)])) as Record<
    PartName,
    Float64Array
  >;
  const statistics = Object.fromEntries(
    parts.map(({ name }) => [name, statisticsOf(samples[name])]),
  ) as Record<PartName, Statistics>;
  const floor = floors.length === 0 ? undefined : statisticsOf(join(floors));
  const perPost = (runs: readonly DoorbellProbeRun[]): number =>
    statisticsOf(Float64Array.from(runs, ({ nanosecondsPerPost }) => nanosecondsPerPost)).median;
  return {
    samples,
    measurement: {
      payloadBytes,
      parts: statistics,
      lastStoreToRecordUnpaced:
        unpaced.length === 0 ? undefined : statisticsOf(join(unpaced.map((run) => run.lastStoreToRecord))),
      histogram: histogramOf(samples.lastStoreToRecord),
      completionHistogram: histogramOf(samples.postToCompletion),
      floor,
      ratio: floor && statistics.lastStoreToRecord.median / floor.median,
      stampedPost: perPost(stamped),
      unstampedPost: perPost(unstamped),
      stamp: Math.min(...stamped.map(({ nanosecondsPerStamp }) => nanosecondsPerStamp)),
      clockUncertainty: Math.max(...stamped.map(({ clockUncertainty }) => clockUncertainty)),
    },
  };
}

function join(arrays: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
