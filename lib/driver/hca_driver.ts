import type { BoardFunction, DmaMemory, Interrupt } from '../board/addon.ts';
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
  /** Queue pairs of all functions. */
  readonly queuePairs: number;
  /** Completion queues of all functions. */
  readonly completionQueues: number;
  /** Keys of memory regions and windows. */
  readonly memoryKeys: number;
  /** Entries of the largest queue. */
  readonly queueEntriesMaximum: number;
  /** Physical collect buffers that are guaranteed to the function. */
  readonly physicalCollectBuffers: number;
  /** Transmit virtual lanes of the function. */
  readonly transmitVirtualLanes: number;
}

/**
 * The driver of one underlying function: management queue, asynchronous events, and what the device needs of host memory.
 * Function 0 is the control function: it gives the device its context memory and enables it, and disables it when it closes, unless
 * another driver has enabled it.
 */
export class HcaDriver {
  readonly device: DeviceFunction;
  readonly management: ManagementQueue;
  readonly limits: FunctionLimits;
  readonly virtualCollectBuffers: VirtualCollectBuffers;
  /** Asynchronous events: errors, refusals, states. */
  readonly events: EventQueue;
  /** The queue pairs that exist, by number: completions name them. */
  readonly queuePairs = new Map<number, QueuePair>();
  /** Queue pairs that are closed while receives of theirs, of a shared receive queue, lie in a completion queue. */
  readonly closedReceivers = new Map<number, ClosedReceiver>();
  /** The completion queues that exist, by number: asynchronous events name them. */
  readonly completionQueues = new Map<number, CompletionQueue>();
  /** Held by those who wait. */
  readonly watch: DeviceWatch;
  /** Held, or it would end. */
  private readonly removal: Interrupt | undefined;
  private readonly hasEnabled: boolean;
  private isClosed = false;
  private isDisabled = false;

  /**
   * Takes over an open function of a board, on any backend.
   * @throws VerbsError ENODEV: nothing is there, or the device is not enabled; ENOTSUP: not a board that this driver drives;
   * EBUSY: another driver has the function. The function is closed then.
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

  /** The control function has disabled the device: what is posted would be dropped. As far as events tell. */
  get disabled(): boolean {
    return this.isDisabled;
  }

  /**
   * Enables the device, or disables it: see {@link Context.disableDevice}.
   * @throws VerbsError EPERM: this is not the control function; EIO: the device does not take its memory
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
      throw new VerbsError('the device does not go on with the context memory that it has', {
        code: 'EIO',
        verb,
        expected: 'a device that was not reset meanwhile; open it again',
      });
    }
    this.followEnabling();
  }

  /**
   * Resets the function, after which the device reaches none of its memory, and frees all. The driver that enabled the device resets all of it.
   * Twice is once; a device that is gone is no error.
   */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
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

  /** Finds what tells nothing of itself: events that no caller takes, and queues that stand still. */
  look(): void {
    this.events.collect();
    for (const queuePair of this.queuePairs.values()) queuePair.look();
  }

  /** An asynchronous event was found: who is in error knows it from now on. */
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
   * A port went down or came up, maybe because the device was disabled or enabled, and maybe both by now. A device that is disabled puts
   * queue pairs in error without a word of each, and drops what is written: one that is enabled again is told of all that is posted.
   */
  private followEnabling(): void {
    const enabled = isEnabled(this.device);
    this.isDisabled = !enabled;
    for (const queuePair of this.queuePairs.values()) {
      queuePair.failed();
      if (enabled) queuePair.startAll();
    }
  }

  /** Pages that are another function's by now drop what is written to them. */
  private followDivision(): void {
    this.virtualCollectBuffers.refresh();
    for (const queuePair of this.queuePairs.values()) queuePair.moveToOwnBuffer();
  }

  /**
   * A write to this virtual collect buffer was lost or damaged: gives up what is left of the command there, and has the device fetch
   * what its queue pairs have posted from their send queues, where all of it lies.
   */
  private recover(buffer: number): void {
    const writers = [...this.queuePairs.values()].filter(
      ({ virtualCollectBuffer }) => virtualCollectBuffer.number === buffer,
    );
    writers[0]?.virtualCollectBuffer.cancel();
    for (const queuePair of writers) queuePair.startAll();
  }

  /** The contents of lost events are unknown: all that they may have reported is checked. */
  private recoverAll(): void {
    this.followEnabling();
    this.followDivision();
    for (const { number } of this.virtualCollectBuffers.all) this.recover(number);
  }

  /** Reported as an event too, as by a device that still can. */
  private lose(reason: VerbsError): void {
    const type = EventType.deviceFatal;
    const nothing = { reason: 0, offset: 0, object: 0, detail: 0n, timestamp: 0n, lost: 0 };
    this.events.report({ type, name: eventTypeNames[type]!, ...nothing });
    for (const queue of this.completionQueues.values()) queue.fail(reason);
  }
}

/** The management queues of a function serve one driver. @throws VerbsError EBUSY: it has one */
export function refuseTwoDrivers({ page, underlyingFunction }: DeviceFunction): void {
  if (page.read64(UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET) === 0n) return;
  throw new VerbsError(`underlying function ${underlyingFunction} has a driver already`, {
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
    queuePairs: Number(fields['queue_pairs']),
    completionQueues: Number(fields['completion_queues']),
    memoryKeys: Number(fields['memory_keys']),
    queueEntriesMaximum: Number(fields['queue_entries_maximum']),
    physicalCollectBuffers: Number(fields['physical_collect_buffers']),
    transmitVirtualLanes: Number(fields['transmit_virtual_lanes']),
  };
}

/** A queue pair is in the queuing structure of its level once at most, so that one with an entry each cannot overflow. */
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
