import type { BoardFunction, DmaMemory, Interrupt } from '../board/addon.ts';
import type { ServedBoard } from '../board/serving.ts';
import {
  EventType,
  ManagementOpcode,
  QUALITY_OF_SERVICE_LEVELS,
  QUERY_FUNCTION_OUTPUT_BYTES,
  QUEUING_STRUCTURE_ENTRY_BYTES,
  Resource,
  UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_STRIDE,
  UNDERLYING_FUNCTION_QUEUING_STRUCTURE_SIZE_OFFSET,
  decode,
  eventTypeNames,
} from '../spec/index.ts';
import type { ClosedReceiver } from './closed_receiver.ts';
import type { CompletionQueue } from './completion_queue.ts';
import { DeviceFunction } from './device_function.ts';
import { DeviceWatch } from './device_watch.ts';
import { enable, resetDevice, resetFunction, setEnabled } from './enabling.ts';
import { VerbsError, deviceGone } from './errors.ts';
import { EventQueue, type DeviceEvent } from './event_queue.ts';
import { isEnabled } from './function_status.ts';
import { ManagementQueue } from './management_queue.ts';
import type { QueuePair } from './queue_pair.ts';
import { VirtualCollectBuffers } from './virtual_collect_buffers.ts';

const asynchronousEventsLog2 = 8;
const queuePairErrors: readonly EventType[] = [
  EventType.queuePairFatal,
  EventType.queuePairRequestError,
  EventType.queuePairAccessError,
];

/** Limits of a function, as query_function reports them. */
export interface FunctionLimits {
  /** Event queues of the function. */
  readonly eventQueues: number;
  /** Target ACK delay, the longest time from a request to its acknowledgment: 4.096 µs × 2^targetAckDelay. */
  readonly targetAckDelay: number;
  /** Queue pairs of all functions. */
  readonly queuePairs: number;
  /** Completion queues of all functions. */
  readonly completionQueues: number;
  /** Keys of memory regions and windows. */
  readonly memoryKeys: number;
  /** Entries of the largest queue. */
  readonly queueEntriesMaximum: number;
  /** Physical collect buffers guaranteed to the function. */
  readonly physicalCollectBuffers: number;
  /** Transmit virtual lanes of the function. */
  readonly transmitVirtualLanes: number;
}

/**
 * The driver of one underlying function: management queue, asynchronous events, and the device's host memory. Function 0 is the control
 * function: it gives the device its context memory, enables it, and disables it on close, unless another driver enabled it.
 */
export class HcaDriver {
  readonly device: DeviceFunction;
  readonly management: ManagementQueue;
  readonly limits: FunctionLimits;
  readonly virtualCollectBuffers: VirtualCollectBuffers;
  /** Asynchronous events: errors, refusals, states. */
  readonly events: EventQueue;
  /** The existing queue pairs, by number: completions name them. */
  readonly queuePairs = new Map<number, QueuePair>();
  /** Closed queue pairs whose receives, from a shared receive queue, are still in a completion queue. */
  readonly closedReceivers = new Map<number, ClosedReceiver>();
  /** The existing completion queues, by number: asynchronous events name them. */
  readonly completionQueues = new Map<number, CompletionQueue>();
  /** Referenced while callers wait. */
  readonly watch: DeviceWatch;
  /** Referenced, otherwise it would end. */
  private readonly removal: Interrupt | undefined;
  private readonly hasEnabled: boolean;
  private isClosed = false;
  private isDisabled = false;
  private sharing: ServedBoard | undefined;

  /**
   * Takes ownership of an open function of a board, on any backend.
   * @throws VerbsError ENODEV: no device answers, or the device is not enabled; ENOTSUP: not a board that this driver supports; EBUSY:
   * another driver has the function. The function is closed in these cases.
   */
  constructor(board: BoardFunction) {
    this.device = new DeviceFunction(board);
    this.watch = new DeviceWatch(this.device);
    try {
      refuseTwoDrivers(this.device);
      this.hasEnabled = enable(this.device);
      this.management = new ManagementQueue(this.device);
      this.limits = queryFunction(this.management);
      this.virtualCollectBuffers = new VirtualCollectBuffers(this.device);
      giveQueuingStructures(this.device, this.limits.queuePairs);
      this.events = new EventQueue(this.device, this.management, 0, asynchronousEventsLog2);
      this.management.afterAnswer = () => this.events.collect();
      this.watch.afterLook = () => this.look();
      this.watch.isBusy = () =>
        [...this.queuePairs.values()].some(({ sendQueue }) => sendQueue.outstanding > 0);
      this.events.onEvent = (event) => this.onEvent(event);
      const { loss } = this.device;
      loss.listen((reason) => this.lose(reason));
      this.removal = this.device.board.removal((reason) => loss.report(deviceGone('waitForEvent', reason)));
    } catch (error) {
      this.device.close();
      throw error;
    }
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /** Whether the control function has disabled the device, as far as events say; the device then drops posted commands. */
  get disabled(): boolean {
    return this.isDisabled;
  }

  /**
   * Enables or disables the device: see {@link Context.disableDevice}.
   * @throws VerbsError EPERM: this is not the control function; EIO: the device does not accept its memory
   */
  setDeviceEnabled(enabled: boolean): void {
    const verb = enabled ? 'enableDevice' : 'disableDevice';
    if (this.device.controlPage === undefined) {
      throw new VerbsError(
        `underlying function ${this.device.underlyingFunction} does not control the device`,
        {
          code: 'EPERM',
          verb,
          expected: 'underlying function 0, the control function',
        },
      );
    }
    if (setEnabled(this.device, enabled) !== enabled) {
      throw new VerbsError('the device does not continue with its context memory', {
        code: 'EIO',
        verb,
        expected: 'a device that was not reset meanwhile; open it again',
      });
    }
    this.followEnabling();
  }

  /**
   * Resets the function, after which the device no longer accesses its memory, and frees all memory. The driver that enabled the device
   * resets the whole device. A second call has no effect; a missing device is no error.
   */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.sharing?.close();
    this.removal?.close();
    this.watch.stop();
    try {
      if (this.hasEnabled) resetDevice(this.device);
      else resetFunction(this.device);
    } catch (error) {
      if (!(error instanceof VerbsError && error.code === 'ENODEV')) throw error;
    } finally {
      this.device.close();
    }
  }

  /**
   * Lets other processes observe this function: see {@link Context.shareObservation}.
   * @param throughDevice also on an emulated board by what a device on PCIe has
   */
  shareObservation(path: string, throughDevice = false): ServedBoard {
    const { device, management } = this;
    const busy = (what: string, expected: string): VerbsError =>
      new VerbsError(what, { code: 'EBUSY', verb: 'shareObservation', expected });
    if (this.sharing !== undefined)
      throw busy('the observation of this function is shared already', 'the first sharing closed');
    const { backend } = device.board.facts();
    const takesKicks = throughDevice || (backend !== 'emu' && backend !== 'rtl');
    if (takesKicks && device.kickRecordsOf === 'reader')
      throw busy('this process reads the kick records of the function itself', 'that reader closed');
    const served = shareAt(device, path, throughDevice);
    if (served.throughDevice) {
      device.kickRecordsOf = 'observers';
      management.shareWith((command) => device.board.executeManagement(command));
    }
    this.sharing = served;
    return {
      takeNotices: () => served.takeNotices(),
      work: () => served.work(),
      close: () => {
        if (this.sharing !== served) return;
        this.sharing = undefined;
        served.close();
        if (served.throughDevice) device.kickRecordsOf = undefined;
      },
    };
  }

  /** Detects conditions that raise no interrupt: events that no caller takes, and stalled queues. */
  look(): void {
    this.events.collect();
    for (const queuePair of this.queuePairs.values()) queuePair.look();
  }

  /** Handles an asynchronous event: updates the state of the objects in error. */
  private onEvent({ type, object, lost }: DeviceEvent): void {
    if (lost !== 0) this.recoverAll();
    if (type === EventType.completionQueueError) this.completionQueues.get(object)?.overrun();
    if (queuePairErrors.includes(type)) this.queuePairs.get(object)?.failed();
    if (type === EventType.portError || type === EventType.portActive) this.followEnabling();
    if (type === EventType.resourcesChanged && object === Resource.virtualCollectBuffers)
      this.followDivision();
    if (type === EventType.virtualCollectBufferError || type === EventType.halfWrittenCommand)
      this.recover(object);
  }

  /**
   * Handles a port that went down or came up, perhaps because the device was disabled or enabled, and perhaps both by now. A device that is
   * disabled puts queue pairs into the error state without an event for each, and drops writes. After it is enabled again, the driver
   * announces all posted work requests.
   */
  private followEnabling(): void {
    const enabled = isEnabled(this.device);
    this.isDisabled = !enabled;
    for (const queuePair of this.queuePairs.values()) {
      queuePair.failed();
      if (enabled) queuePair.startAll();
    }
  }

  /** Pages that now belong to another function drop writes. */
  private followDivision(): void {
    this.virtualCollectBuffers.refresh();
    for (const queuePair of this.queuePairs.values()) queuePair.moveToOwnBuffer();
  }

  /**
   * Recovers from a lost or damaged write to this virtual collect buffer: cancels the rest of the command, and makes the device fetch the
   * posted commands of its queue pairs from their send queues, which hold all of them.
   */
  private recover(buffer: number): void {
    const writers = [...this.queuePairs.values()].filter(
      ({ virtualCollectBuffer }) => virtualCollectBuffer.number === buffer,
    );
    writers[0]?.virtualCollectBuffer.cancel();
    for (const queuePair of writers) queuePair.startAll();
  }

  /** The contents of lost events are unknown, so the driver checks every state that they may have reported. */
  private recoverAll(): void {
    this.followEnabling();
    this.followDivision();
    for (const { number } of this.virtualCollectBuffers.all) this.recover(number);
  }

  /** Also reported as an event, as a device that still works would report it. */
  private lose(reason: VerbsError): void {
    const type = EventType.deviceFatal;
    const nothing = { reason: 0, offset: 0, object: 0, detail: 0n, timestamp: 0n, lost: 0 };
    this.events.report({ type, name: eventTypeNames[type]!, ...nothing });
    for (const queue of this.completionQueues.values()) queue.fail(reason);
  }
}

function shareAt(
  { board, underlyingFunction }: DeviceFunction,
  path: string,
  throughDevice: boolean,
): ReturnType<BoardFunction['shareObservation']> {
  try {
    return board.shareObservation({ path, underlyingFunction, throughDevice });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTSUP' && code !== 'ENOMEM' && code !== 'EINVAL') throw error;
    const [what, expected = 'another name'] = message.split('; expected: ');
    throw new VerbsError(what!, { code, verb: 'shareObservation', attribute: 'name', expected });
  }
}

/** The management queues of a function serve one driver. @throws VerbsError EBUSY: another driver uses them */
export function refuseTwoDrivers({ page, underlyingFunction }: DeviceFunction): void {
  if (page.read64(UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET) === 0n) return;
  throw new VerbsError(`underlying function ${underlyingFunction} already has a driver`, {
    code: 'EBUSY',
    verb: 'openDevice',
    expected: 'another underlying function, or the first driver closed',
  });
}

function queryFunction(management: ManagementQueue): FunctionLimits {
  const { output } = management.execute({
    verb: 'queryDevice',
    opcode: ManagementOpcode.queryFunction,
    outputBytes: QUERY_FUNCTION_OUTPUT_BYTES,
  });
  const fields = decode('query_function_output', output);
  return {
    eventQueues: Number(fields['event_queues']),
    targetAckDelay: Number(fields['target_ack_delay']),
    queuePairs: Number(fields['queue_pairs']),
    completionQueues: Number(fields['completion_queues']),
    memoryKeys: Number(fields['memory_keys']),
    queueEntriesMaximum: Number(fields['queue_entries_maximum']),
    physicalCollectBuffers: Number(fields['physical_collect_buffers']),
    transmitVirtualLanes: Number(fields['transmit_virtual_lanes']),
  };
}

/** A queue pair is in the queuing structure of its level at most once, so a structure with an entry for each queue pair cannot overflow. */
function giveQueuingStructures(device: DeviceFunction, queuePairs: number): void {
  const entriesLog2 = Math.ceil(Math.log2(queuePairs));
  for (let level = 0; level < QUALITY_OF_SERVICE_LEVELS; level++) {
    const structure: DmaMemory = device.allocate(QUEUING_STRUCTURE_ENTRY_BYTES << entriesLog2);
    device.page.write64(
      UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_OFFSET +
        level * UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_STRIDE,
      structure.address,
    );
  }
  device.page.write32(UNDERLYING_FUNCTION_QUEUING_STRUCTURE_SIZE_OFFSET, entriesLog2);
}
