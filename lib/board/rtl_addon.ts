import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import type { Addon, BoardOptions } from './addon.ts';

/** Counters of the RTL of all boards of this process; the model has none. */
export interface RtlCounters {
  /** Clocks of every virtual_kick. */
  readonly clocks: number;
  /** Kicks that virtual_kick has taken, and commands of these that it has started, or dropped before. */
  readonly kicksTaken: number;
  readonly commandsStarted: number;
  readonly commandsDropped: number;
  /** From the clock in which a kick is taken to its start: of all that started, the least and the most. Undefined: none has. */
  readonly startClocks?: number;
  readonly leastStartClocks?: number;
  readonly mostStartClocks?: number;
  /** Clocks of every collect_buffer, the beats that it has taken, and those of commands that were fetched into its memory. */
  readonly collectBufferClocks: number;
  readonly beatsTaken: number;
  readonly beatsStored: number;
  /** Commands that collect_buffer has collected and kicked. */
  readonly commandsCollected: number;
  /** From the clock in which the first beat of a command is taken to its kick: of all, the least and the most. Undefined: none. */
  readonly kickClocks?: number;
  readonly leastKickClocks?: number;
  readonly mostKickClocks?: number;
}

/** Exports of the addon with blocks in RTL. */
export interface RtlAddon extends Pick<Addon, 'version' | 'EmulatedBoard'> {
  /** The sizes that the RTL is made for: a board has no more of each, and as many physical collect buffers. */
  readonly rtlSizes: Pick<
    BoardOptions,
    'transmitVirtualLanes' | 'virtualCollectBuffers' | 'physicalCollectBuffers' | 'queuePairs'
  >;
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
