import { setImmediate } from 'node:timers/promises';

import type { DoorbellProbeRate } from '../board/addon.ts';
import { KickRecordRing } from '../driver/kick_records.ts';
import type { Context } from '../index.ts';
import { COMMAND_PAYLOAD_BYTES } from '../spec/index.ts';
import type { MeasurementOptions } from './doorbell_measurement.ts';
import { doorbellProbeSetup } from './doorbell_probe_setup.ts';
import { LoopedQueuePair } from './looped_queue_pair.ts';
import { statisticsOf } from './output/statistics.ts';

/** Posting rates, by the number of commands that share a fence. */
export interface FenceRate {
  /** Commands that share a fence. */
  readonly commandsPerFence: number;
  /** Commands per second of the stores and fences alone: the limit of the posting thread. */
  readonly storedPerSecond: number;
  /** Commands per second up to their completion. */
  readonly completedPerSecond: number;
}

/** Rounds in which the numbers of commands per fence take turns; results are medians. */
const turns = 9;
const mostBuffers = 32;
const recordsLog2 = 8;
/** Bytes of a command's inline data. */
export const ratePayloadBytes = 32;

/**
 * Measures the benefit of the scoreboard: commands with a fence each, with a fence for sixteen, and with none until a page is used again.
 * @throws AbortError when the signal says so
 */
export async function measureFences(
  device: Context,
  { iterations, cpu, signal }: Pick<MeasurementOptions, 'iterations' | 'cpu' | 'signal'>,
): Promise<FenceRate[]> {
  const looped = new LoopedQueuePair(device, {
    entries: 2 * mostBuffers,
    inlineBytes: COMMAND_PAYLOAD_BYTES,
  });
  const records = new KickRecordRing(device.driver.device, recordsLog2);
  try {
    const { virtualCollectBuffers, device: deviceFunction } = device.driver;
    const { level } = looped.queuePair.driver;
    const buffers = virtualCollectBuffers.all
      .filter((buffer) => virtualCollectBuffers.serves(level, buffer))
      .slice(0, mostBuffers);
    const probe = deviceFunction.board.doorbellProbe({
      ...doorbellProbeSetup(device.driver, looped, records, ratePayloadBytes),
      virtualCollectBufferOffset: buffers[0]!.offset,
      virtualCollectBuffers: buffers.length,
      virtualCollectBufferStride: deviceFunction.virtualCollectBufferRegion.pageStride,
      ...(cpu === undefined ? {} : { cpu }),
    });
    const ways = [...new Set([1, Math.min(16, buffers.length), buffers.length])];
    const runs = ways.map((): DoorbellProbeRate[] => []);
    for (let turn = 0; turn < turns; turn++)
      for (const [index, commandsPerFence] of ways.entries()) {
        await setImmediate(undefined, { signal });
        runs[index]!.push(probe.rate(Math.ceil(iterations / turns), commandsPerFence));
      }
    const perSecond = (rates: readonly DoorbellProbeRate[], name: keyof DoorbellProbeRate): number =>
      1e9 / statisticsOf(Float64Array.from(rates, (rate) => rate[name])).median;
    return ways.map((commandsPerFence, index) => ({
      commandsPerFence,
      storedPerSecond: perSecond(runs[index]!, 'nanosecondsPerStore'),
      completedPerSecond: perSecond(runs[index]!, 'nanosecondsPerPost'),
    }));
  } finally {
    records.close();
    looped.close();
  }
}
