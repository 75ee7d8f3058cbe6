import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import type { Addon, BoardOptions } from './addon.ts';

/** Counters of the RTL of all boards of this process; the model has none. */
export interface RtlCounters {
  /** Clocks of every virtual_kick. */
  readonly clocks: number;
  /** Kicks that virtual_kick has taken. */
  readonly kicksTaken: number;
  /** Commands of these kicks that it has started. */
  readonly commandsStarted: number;
  /** Commands of these kicks that it has dropped before their start. */
  readonly commandsDropped: number;
  /** Clocks from that in which a kick is taken to its start: the sum of all that started. Undefined: none has. */
  readonly startClocks?: number;
  /** The least of them. */
  readonly leastStartClocks?: number;
  /** The most of them. */
  readonly mostStartClocks?: number;
  /** Clocks of every collect_buffer. */
  readonly collectBufferClocks: number;
  /** Beats that collect_buffer has taken. */
  readonly beatsTaken: number;
  /** Beats of commands that were fetched into its memory. */
  readonly beatsStored: number;
  /** Commands that collect_buffer has collected and kicked. */
  readonly commandsCollected: number;
  /** Clocks from that in which the first beat of a command is taken to its kick: the sum of all commands. Undefined: there was none. */
  readonly kickClocks?: number;
  /** The least of them. */
  readonly leastKickClocks?: number;
  /** The most of them. */
  readonly mostKickClocks?: number;
}

/** Exports of the addon with blocks in RTL. */
export interface RtlAddon extends Pick<Addon, 'version' | 'EmulatedBoard'> {
  /** The sizes that the RTL is made for: a board has no more of each, and as many physical collect buffers. */
  readonly rtlSizes: Pick<
    BoardOptions,
    'transmitVirtualLanes' | 'virtualCollectBuffers' | 'physicalCollectBuffers' | 'queuePairs'
  >;
  /** Counters of the RTL of all boards, from the start of the process. */
  rtlCounters(): RtlCounters;
}

/** Loads the addon with blocks in RTL, built in this clone; undefined: it is not built. */
export function loadRtlAddon(): RtlAddon | undefined {
  const places = ['../../build/Release/fpga_verbs_rtl.node', '../../../build/Release/fpga_verbs_rtl.node'];
  const built = places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((path) => existsSync(path));
  return built === undefined ? undefined : (createRequire(import.meta.url)(built) as RtlAddon);
}
