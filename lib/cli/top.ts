import { setTimeout } from 'node:timers/promises';

import { openBeside, parseDeviceString } from '../board/index.ts';
import { DeviceFunction } from '../driver/device_function.ts';
import { readOccupancy, type LaneOccupancy, type Occupancy } from '../driver/occupancy.ts';
import type { Output } from './output/output.ts';
import { table, type Column } from './output/table.ts';

/** Options of `hca top`. */
export interface TopOptions {
  /** Looks; 0: until it is interrupted. */
  readonly count: number;
  /** Milliseconds between two of them. */
  readonly interval: number;
  readonly signal: AbortSignal;
}

const columns: readonly Column[] = [
  { title: 'UF' },
  ...['VCBS', 'IN USE', 'COLLECTING', 'SQ MODE', 'ERROR', 'PCBS', 'OWN', 'TVLS', 'WAITING', 'COMMANDS'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
  ...['EXECUTION', 'COMPLETION', 'LOW EXECUTION', 'COMPLETION', 'HIGH EXECUTION', 'COMPLETION'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
];

/** Puts the terminal's cursor at the begin, and clears what is behind it. */
const home = '\x1b[H\x1b[J';

/**
 * `hca top`: what the functions of a board have in use, again and again; through another function than the control function, what it has
 * itself. It reads registers beside the driver that uses the board. JSON: an array of {@link Occupancy} a line.
 */
export async function top(output: Output, deviceString: string, options: TopOptions): Promise<void> {
  const { count, interval, signal } = options;
  const looks = count === 0 ? Infinity : count;
  const device = new DeviceFunction(openBeside(parseDeviceString(deviceString)));
  try {
    for (let look = 0; look < looks; look++) {
      if (look > 0) await setTimeout(interval, undefined, { signal });
      const occupancy = readOccupancy(device);
      output.value(occupancy);
      if (look > 0) output.text(output.isTerminal ? home : '\n');
      output.text(table(columns, occupancy.map(rowOf)));
    }
  } catch (error) {
    if (count > 0 || !signal.aborted) throw error; // to be interrupted is how it ends
  } finally {
    device.close();
  }
}

/** A value that the function sees. */
const seen = (value: number | undefined): string => `${value ?? '-'}`;

/** Own ones that are free, and shared ones that are held. */
function creditsOf(lanes: LaneOccupancy): string[] {
  return [
    `${seen(lanes.executionCredits)} + ${seen(lanes.sharedExecutionCredits)}`,
    `${seen(lanes.completionCredits)} + ${seen(lanes.sharedCompletionCredits)}`,
  ];
}

function rowOf(each: Occupancy): string[] {
  const isFunction = each.underlyingFunction !== undefined;
  const buffers = [
    each.virtualCollectBuffers,
    each.virtualCollectBuffersInUse,
    each.collecting,
    each.sendQueueMode,
    each.error,
    each.physicalCollectBuffers,
    each.ownPhysicalCollectBuffers,
  ].map((value) => (isFunction ? seen(value) : ''));
  return [
    isFunction ? `${each.underlyingFunction}` : 'shared',
    ...buffers,
    `${each.lanes}`,
    seen(each.lanesWaiting),
    seen(each.commandsListed),
    ...[each, ...each.levels].flatMap(creditsOf),
  ];
}
