import { PhysicalCollectBufferState, VirtualCollectBufferState } from '../spec/index.ts';
import { readCredits } from './credits.ts';
import type { DeviceFunction } from './device_function.ts';
import { blockNamed, readNamed, registerNamed } from './named_registers.ts';
import {
  controlPageOf,
  observeBuffersInUse,
  observeLanes,
  observePhysicalCollectBuffers,
  observeVirtualCollectBuffers,
  type ObservedLane,
  type ObservedPhysicalCollectBuffer,
  type ObservedVirtualCollectBuffer,
} from './observed.ts';
import { lanesOf } from './resources.ts';

/** Resources that a function has in use at a moment. Undefined: the function that was asked does not see it. */
export interface Occupancy {
  /** Undefined: lanes that all functions share, and lanes without an owner. */
  readonly underlyingFunction: number | undefined;
  /** Virtual collect buffers, how many are not free, and those in which a command is begun, with and without a PCB, or refused. */
  readonly virtualCollectBuffers: number;
  readonly virtualCollectBuffersInUse: number;
  readonly collecting: number | undefined;
  readonly sendQueueMode: number | undefined;
  readonly error: number | undefined;
  /** Physical collect buffers that it holds of the pool, of how many that are its own, and of the dedicated ones. */
  readonly physicalCollectBuffers: number;
  readonly ownPhysicalCollectBuffers: number;
  readonly dedicatedPhysicalCollectBuffers: number | undefined;
  /** Transmit virtual lanes, of these with commands on their list, and how many. */
  readonly lanes: number;
  readonly lanesWaiting: number | undefined;
  readonly commandsListed: number | undefined;
  /** Credits of its lanes that are free, and shared ones that they hold. */
  readonly executionCredits: number | undefined;
  readonly sharedExecutionCredits: number | undefined;
  readonly completionCredits: number | undefined;
  readonly sharedCompletionCredits: number | undefined;
  /** The same of each level's lanes, low and high; a lane that serves both counts for both. None of what belongs to no function. */
  readonly levels: readonly LaneOccupancy[];
}

/** Use of some transmit virtual lanes. */
export type LaneOccupancy = Pick<
  Occupancy,
  | 'lanes'
  | 'lanesWaiting'
  | 'commandsListed'
  | 'executionCredits'
  | 'sharedExecutionCredits'
  | 'completionCredits'
  | 'sharedCompletionCredits'
>;

/** Buffers that are not free, and all lanes, one by one. */
export interface BuffersAndLanes {
  readonly virtual: readonly ObservedVirtualCollectBuffer[];
  readonly physical: readonly ObservedPhysicalCollectBuffer[];
  readonly lanes: readonly ObservedLane[];
}

/** The buffers and lanes of all functions. @throws VerbsError EPERM: not the control function */
export function readBuffersAndLanes(device: DeviceFunction): BuffersAndLanes {
  return {
    virtual: observeVirtualCollectBuffers(device),
    physical: observePhysicalCollectBuffers(device),
    lanes: observeLanes(device),
  };
}

/**
 * Resources that the functions have in use, the shared lanes last; through a function that is not the control function what it has itself. Each
 * value is of the moment when it was read.
 * @param inUse where it was read already
 */
export function readOccupancy(device: DeviceFunction, inUse?: BuffersAndLanes): Occupancy[] {
  if (device.controlPage === undefined) return [readOwnOccupancy(device)];
  const page = controlPageOf(device);
  const named = (name: string) => readNamed(page, registerNamed(blockNamed('control'), name));
  const ranges = named('function_virtual_collect_buffer_bar').fields;
  const allotments = named('function_physical_collect_buffers').fields;
  const levels = named('function_transmit_virtual_lanes').values;
  const sharedLanes = lanesOf(named('shared_transmit_virtual_lanes').values[0]!);
  const { virtual, physical, lanes: all } = inUse ?? readBuffersAndLanes(device);
  const occupancyOf = (
    underlyingFunction: number | undefined,
    lanes: readonly number[],
    lanesOfLevels: readonly (readonly number[])[],
  ): Occupancy => {
    const observed = (numbers: readonly number[]) => sumOf(numbers.map((lane) => all[lane]!));
    const buffers = virtual.filter((buffer) => buffer.underlyingFunction === underlyingFunction);
    const inState = (state: VirtualCollectBufferState): number =>
      buffers.filter((buffer) => buffer.state === state).length;
    const held = physical.filter((buffer) => buffer.underlyingFunction === underlyingFunction);
    const { low = 0, high = 0, shared = 0 } = allotments[underlyingFunction ?? -1] ?? {};
    return {
      underlyingFunction,
      virtualCollectBuffers: ranges[underlyingFunction ?? -1]?.['count'] ?? 0,
      virtualCollectBuffersInUse: buffers.length,
      collecting: inState(VirtualCollectBufferState.collecting),
      sendQueueMode: inState(VirtualCollectBufferState.sendQueueMode),
      error: inState(VirtualCollectBufferState.error),
      physicalCollectBuffers: held.filter(({ dedicated }) => !dedicated).length,
      ownPhysicalCollectBuffers: low + high + shared,
      dedicatedPhysicalCollectBuffers: held.filter(
        ({ dedicated, state }) => dedicated && state !== PhysicalCollectBufferState.fetching,
      ).length,
      ...observed(lanes),
      levels: lanesOfLevels.map(observed),
    };
  };
  const functions = Array.from({ length: device.identity.underlyingFunctions }, (_, number) => {
    const [low, high] = [levels[2 * number]!, levels[2 * number + 1]!];
    return occupancyOf(number, lanesOf(low | high), [lanesOf(low), lanesOf(high)]);
  });
  return [...functions, occupancyOf(undefined, sharedLanes, [])];
}

/** Use as a function's own registers show it. */
function readOwnOccupancy(device: DeviceFunction): Occupancy {
  const { page, underlyingFunction } = device;
  const named = (name: string) => readNamed(page, registerNamed(blockNamed('underlying_function'), name));
  const sum = (name: string): number => named(name).values.reduce((total, value) => total + Number(value), 0);
  const unseen = {
    lanesWaiting: undefined,
    commandsListed: undefined,
    executionCredits: undefined,
    sharedExecutionCredits: undefined,
    completionCredits: undefined,
    sharedCompletionCredits: undefined,
  };
  const levels = named('transmit_virtual_lanes').values;
  return {
    underlyingFunction,
    virtualCollectBuffers: named('virtual_collect_buffer_bar').fields[0]!['count']!,
    virtualCollectBuffersInUse: observeBuffersInUse(device).length,
    collecting: undefined,
    sendQueueMode: undefined,
    error: undefined,
    physicalCollectBuffers: sum('physical_collect_buffers_in_use') + sum('physical_collect_buffers_borrowed'),
    ownPhysicalCollectBuffers: sum('physical_collect_buffers_total'),
    dedicatedPhysicalCollectBuffers: undefined,
    ...unseen,
    lanes: lanesOf(levels[0]! | levels[1]!).length,
    levels: readCredits(device).map(({ level, execution, completion }) => ({
      ...unseen,
      lanes: lanesOf(levels[level]!).length,
      executionCredits: execution.ownFree,
      sharedExecutionCredits: execution.sharedHeld,
      completionCredits: completion.ownFree,
      sharedCompletionCredits: completion.sharedHeld,
    })),
  };
}

function sumOf(lanes: readonly ObservedLane[]): LaneOccupancy {
  const sum = (value: (lane: ObservedLane) => number): number =>
    lanes.reduce((total, lane) => total + value(lane), 0);
  return {
    lanes: lanes.length,
    lanesWaiting: lanes.filter(({ commands }) => commands > 0).length,
    commandsListed: sum(({ commands }) => commands),
    executionCredits: sum(({ executionCredits }) => executionCredits),
    sharedExecutionCredits: sum(({ sharedExecutionCredits }) => sharedExecutionCredits),
    completionCredits: sum(({ completionCredits }) => completionCredits),
    sharedCompletionCredits: sum(({ sharedCompletionCredits }) => sharedCompletionCredits),
  };
}
