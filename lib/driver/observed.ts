import {
  PhysicalCollectBufferState,
  VirtualCollectBufferState,
  type QualityOfServiceLevel,
  type QueuePairState,
  type Refusal,
  type RoomWait,
  type SendHold,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { VerbsError } from './errors.ts';
import { blockNamed, fieldsOf, readNamed, registerNamed } from './named_registers.ts';
import type { RegisterPage } from './register_page.ts';

// Reads the state of all functions from the control registers, and of a function's queue pairs from its own registers, concurrently with
// its driver. Reads change only the selection of the inspect registers.

const block = blockNamed('control');

/** Send queue of a queue pair. */
export interface ObservedQueuePair {
  /** Of commands, completions and events. */
  readonly number: number;
  /** That peers know (US7095750); whether packets with it are taken, and whether it is in time-wait. */
  readonly virtualNumber: number;
  readonly bound: boolean;
  readonly timeWait: boolean;
  readonly underlyingFunction: number;
  readonly state: QueuePairState;
  readonly level: QualityOfServiceLevel;
  readonly hold: SendHold;
  readonly stopped: boolean;
  readonly scheduled: boolean;
  readonly receiverNotReadyWait: boolean;
  readonly retriesLeft: number;
  readonly receiverNotReadyRetriesLeft: number;
  /** Sequence number to execute. */
  readonly next: number;
  readonly posted: number;
  readonly acknowledged: number;
  /** Commands posted and not executed; executed and not acknowledged. */
  readonly waiting: number;
  readonly unacknowledged: number;
  /** Commands kicked and not finished, and the lane that they are on. */
  readonly kicked: number;
  readonly lane: number;
  /** Room on a list that the next command waits for before it is fetched. */
  readonly roomWait: RoomWait;
}

/** A virtual collect buffer that is not free. */
export interface ObservedVirtualCollectBuffer {
  readonly number: number;
  readonly underlyingFunction: number | undefined;
  readonly state: VirtualCollectBufferState;
  readonly refusal: Refusal;
}

/** A physical collect buffer that is not free. */
export interface ObservedPhysicalCollectBuffer {
  readonly number: number;
  readonly underlyingFunction: number;
  readonly state: PhysicalCollectBufferState;
  readonly dedicated: boolean;
}

/** A transmit virtual lane. */
export interface ObservedLane {
  readonly number: number;
  /** Commands on its list. */
  readonly commands: number;
  /** Its own credits that are free, and shared ones that it holds. */
  readonly executionCredits: number;
  readonly completionCredits: number;
  readonly sharedExecutionCredits: number;
  readonly sharedCompletionCredits: number;
}

/** @throws VerbsError EPERM: not the control function */
export function controlPageOf({ controlPage, underlyingFunction }: DeviceFunction): RegisterPage {
  if (controlPage !== undefined) return controlPage;
  throw new VerbsError(`underlying function ${underlyingFunction} cannot read the control registers`, {
    code: 'EPERM',
    verb: 'readRegister',
    attribute: 'underlyingFunction',
    expected: 'the control function: a device string of function 0, such as emu:0',
  });
}

/** A queue pair, by either of its numbers: the control function sees those of any function, another one its own. Undefined: there is none of this number. */
export function observeQueuePair(device: DeviceFunction, number: number): ObservedQueuePair | undefined {
  const { page, controlPage } = device;
  const shown =
    controlPage === undefined
      ? { page, block: blockNamed('underlying_function') }
      : { page: controlPage, block };
  shown.page.write32(registerNamed(shown.block, 'inspect_queue_pair').offset, number);
  const read = (name: string) => readNamed(shown.page, registerNamed(shown.block, name)).fields[0]!;
  const state = read('inspect_queue_pair_state');
  if (state['found'] !== 1) return undefined;
  const positions = read('inspect_queue_pair_positions');
  const lane = read('inspect_queue_pair_lane');
  const [next, posted, acknowledged] = [positions['next']!, positions['posted']!, positions['acknowledged']!];
  const numbers = read('inspect_queue_pair_numbers');
  return {
    number: numbers['queue_pair_number']!,
    virtualNumber: numbers['virtual_queue_pair']!,
    bound: numbers['bound'] === 1,
    timeWait: numbers['time_wait'] === 1,
    underlyingFunction: state['underlying_function']!,
    state: state['state'] as QueuePairState,
    level: state['quality_of_service_level'] as QualityOfServiceLevel,
    hold: state['hold'] as SendHold,
    stopped: state['stopped'] === 1,
    scheduled: state['scheduled'] === 1,
    receiverNotReadyWait: state['receiver_not_ready_wait'] === 1,
    retriesLeft: state['retry_count']!,
    receiverNotReadyRetriesLeft: state['receiver_not_ready_retry']!,
    next,
    posted,
    acknowledged,
    waiting: (posted + 1 - next) & 0xffff,
    unacknowledged: (next - acknowledged) & 0xffff,
    kicked: lane['commands']!,
    lane: lane['transmit_virtual_lane']!,
    roomWait: lane['room_wait'] as RoomWait,
  };
}

/** Numbers of the function's own virtual collect buffers that are not free, on the board. */
export function observeBuffersInUse({ page }: DeviceFunction): number[] {
  const own = blockNamed('underlying_function');
  const base = readNamed(page, registerNamed(own, 'virtual_collect_buffer_bar')).fields[0]!['base']!;
  const { values } = readNamed(page, registerNamed(own, 'virtual_collect_buffer_in_use'));
  return values.flatMap((bits, index) =>
    Array.from({ length: 32 }, (_, bit) => bit)
      .filter((bit) => ((bits >> BigInt(bit)) & 1n) === 1n)
      .map((bit) => base + 32 * index + bit),
  );
}

/** The virtual collect buffers that are not free. @throws VerbsError EPERM: not the control function */
export function observeVirtualCollectBuffers(device: DeviceFunction): ObservedVirtualCollectBuffer[] {
  const page = controlPageOf(device);
  const ranges = readNamed(page, registerNamed(block, 'function_virtual_collect_buffer_bar')).fields;
  const ownerOf = (number: number): number | undefined => {
    const owner = ranges.findIndex(
      (range) => number >= range['base']! && number < range['base']! + range['count']!,
    );
    return owner < 0 ? undefined : owner;
  };
  const found: ObservedVirtualCollectBuffer[] = [];
  const numbers = Array.from({ length: device.identity.virtualCollectBuffers }, (_, number) => number);
  const selections = numbers.map((number) => number * 0x1_0000);
  const inspected = inspect(page, selections, 'inspect_virtual_collect_buffer');
  for (const [number, { state, refusal }] of inspected.entries()) {
    if (state === VirtualCollectBufferState.free) continue;
    found.push({
      number,
      underlyingFunction: ownerOf(number),
      state: state as VirtualCollectBufferState,
      refusal: refusal as Refusal,
    });
  }
  return found;
}

/** The physical collect buffers, pool and dedicated, that are not free. @throws VerbsError EPERM: not the control function */
export function observePhysicalCollectBuffers(device: DeviceFunction): ObservedPhysicalCollectBuffer[] {
  const page = controlPageOf(device);
  const { physicalCollectBuffers, dedicatedPhysicalCollectBuffers } = device.identity;
  const found: ObservedPhysicalCollectBuffer[] = [];
  const count = physicalCollectBuffers + dedicatedPhysicalCollectBuffers;
  const numbers = Array.from({ length: count }, (_, number) => number);
  const inspected = inspect(page, numbers, 'inspect_physical_collect_buffer');
  for (const [number, { state, dedicated, underlying_function }] of inspected.entries()) {
    if (state === PhysicalCollectBufferState.free) continue;
    found.push({
      number,
      underlyingFunction: underlying_function!,
      state: state as PhysicalCollectBufferState,
      dedicated: dedicated === 1,
    });
  }
  return found;
}

/** The transmit virtual lanes. @throws VerbsError EPERM: not the control function */
export function observeLanes(device: DeviceFunction): ObservedLane[] {
  const page = controlPageOf(device);
  const states = readNamed(page, registerNamed(block, 'lane_state')).fields;
  return states.slice(0, device.identity.transmitVirtualLanes).map((state, number) => ({
    number,
    commands: state['commands']!,
    executionCredits: state['execution_credits']!,
    completionCredits: state['completion_credits']!,
    sharedExecutionCredits: state['shared_execution_credits']!,
    sharedCompletionCredits: state['shared_completion_credits']!,
  }));
}

/** The fields of an inspect register, of one selection after the other. */
function inspect(
  page: RegisterPage,
  selections: readonly number[],
  name: string,
): Readonly<Record<string, number>>[] {
  const { offset: selects } = registerNamed(block, 'inspect_select');
  const register = registerNamed(block, name);
  const values = page.access(
    selections.flatMap((selection) => [{ offset: selects, write: selection }, { offset: register.offset }]),
  );
  return values.map((value) => fieldsOf(register, BigInt(value)));
}
