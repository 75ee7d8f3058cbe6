import { createRequire } from 'node:module';

import type { Addon, BoardOptions } from './addon.ts';
import { builtFile } from './native_files.ts';

/** RTL counters of all boards of this process; the model has none. */
export interface RtlCounters {
  /** Clocks of every virtual_kick. */
  readonly clocks: number;
  /** Kicks that virtual_kick has accepted. */
  readonly kicksTaken: number;
  /** Commands of these kicks that it has started. */
  readonly commandsStarted: number;
  /** Commands of these kicks that it dropped before their start. */
  readonly commandsDropped: number;
  /** Clocks from accepting a kick to its start, summed over all starts. Undefined: there was none. */
  readonly startClocks?: number;
  /** Minimum of these latencies. */
  readonly leastStartClocks?: number;
  /** Maximum of these latencies. */
  readonly mostStartClocks?: number;
  /** Clocks of every collect_buffer. */
  readonly collectBufferClocks: number;
  /** Beats that collect_buffer has accepted. */
  readonly beatsTaken: number;
  /** Beats of fetched commands written to its memory. */
  readonly beatsStored: number;
  /** Commands that collect_buffer has collected and kicked. */
  readonly commandsCollected: number;
  /** Clocks from a command's first beat to its kick, summed over all commands. Undefined: there was none. */
  readonly kickClocks?: number;
  /** Minimum of these latencies. */
  readonly leastKickClocks?: number;
  /** Maximum of these latencies. */
  readonly mostKickClocks?: number;
}

/** Exports of the addon with blocks in RTL. */
export interface RtlAddon extends Pick<Addon, 'version' | 'EmulatedBoard'> {
  /** The sizes that the RTL is built for: the maximum of each for a board, and the exact number of physical collect buffers. */
  readonly rtlSizes: Pick<
    BoardOptions,
    'transmitVirtualLanes' | 'virtualCollectBuffers' | 'physicalCollectBuffers' | 'queuePairs'
  >;
  /** Returns the RTL counters of all boards since the start of the process. */
  rtlCounters(): RtlCounters;
}

/** Loads the addon with blocks in RTL, built in this clone; undefined: it is not built. */
export function loadRtlAddon(): RtlAddon | undefined {
  const built = builtFile('fpga_verbs_rtl.node');
  return built === undefined ? undefined : (createRequire(import.meta.url)(built) as RtlAddon);
}
