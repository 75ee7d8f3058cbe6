import { setImmediate } from 'node:timers/promises';

import { loadAddon, type DoorbellProbeRun } from '../board/addon.ts';
import { KickRecordRing } from '../driver/kick_records.ts';
import type { Context } from '../index.ts';
import { COMMAND_PAYLOAD_BYTES } from '../spec/index.ts';
import { doorbellProbeSetup } from './doorbell_probe_setup.ts';
import { LoopedQueuePair } from './looped_queue_pair.ts';
import { histogramOf, statisticsOf, type Bin, type Statistics } from './output/statistics.ts';

/** The parts of a doorbell's path, in the order of their letters. */
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

/** Settings of the measurement. */
export interface MeasurementOptions {
  /** Posts with time stamps for each payload size; the same number is posted without. */
  readonly iterations: number;
  /** Warm-up posts, not measured. */
  readonly warmup: number;
  /** CPU of the posting thread. */
  readonly cpu: number | undefined;
  /** CPU of the device thread, and of the other thread of the floor. */
  readonly deviceCpu: number | undefined;
  /** Ends the measurement between two rounds. */
  readonly signal: AbortSignal;
}

/** Measurements for one payload size; nanoseconds. */
export interface Measurement {
  readonly payloadBytes: number;
  readonly parts: Readonly<Record<PartName, Statistics>>;
  /** Statistics of the headline: last store to record seen. */
  readonly histogram: readonly Bin[];
  /** The headline with a poller that never pauses, in turns with the paced one; undefined: the device works on the posting thread. */
  readonly lastStoreToRecordUnpaced: Statistics | undefined;
  /** Statistics of post to completion. */
  readonly completionHistogram: readonly Bin[];
  /** A cache-line round trip between two threads, in turns with the posts; undefined: the device works on the posting thread. */
  readonly floor: Statistics | undefined;
  /** Median of the headline divided by the median of the floor. */
  readonly ratio: number | undefined;
  /** Times of a whole post, including the wait for its record and completion: with time stamps and without. */
  readonly stampedPost: number;
  readonly unstampedPost: number;
  /** Cost of one time stamp; a stamped post takes five. */
  readonly stamp: number;
  readonly clockUncertainty: number;
}

/** Minimum number of rounds; in each, stamped posts, unstamped posts and the floor take turns. */
const turns = 10;
/** Posts of one native loop: some milliseconds, after which an interruption takes effect. */
const postsAtOnce = 10_000;
const recordsLog2 = 8;
const sendQueueEntries = 64;
/** Milliseconds after which the board's own device thread sleeps, so that the floor has its CPU alone. */
const deviceSleeps = 6;

/**
 * Measures one payload size: stamped posts, unstamped posts and the floor in turns, so that all run under the same load.
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

/** Posts of each round. There are at least `least` rounds, if there are as many posts; the sum is `posts`. */
export function roundsOf(posts: number, least: number): number[] {
  const rounds = Math.min(posts, Math.max(least, Math.ceil(posts / postsAtOnce)));
  const before = (round: number): number => Math.floor((round * posts) / rounds);
  return Array.from({ length: rounds }, (_, round) => before(round + 1) - before(round));
}

/** Runs of all rounds. */
interface Rounds {
  readonly stamped: readonly DoorbellProbeRun[];
  readonly unstamped: readonly DoorbellProbeRun[];
  /** Runs with the poller that never pauses. Empty: no doorbell crosses between CPUs. */
  readonly unpaced: readonly DoorbellProbeRun[];
  /** Empty: no doorbell crosses between CPUs. */
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
