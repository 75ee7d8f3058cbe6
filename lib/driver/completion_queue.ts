import { inspect } from 'node:util';

import type { DmaMemory } from '../board/addon.ts';
import {
  COMPLETION_QUEUE_ENTRY_BYTES,
  COMPLETION_QUEUE_ENTRY_BYTE_LENGTH_BYTE,
  COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_BYTE,
  COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_MASK,
  COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_SHIFT,
  COMPLETION_QUEUE_ENTRY_IMMEDIATE_DATA_BYTE,
  COMPLETION_QUEUE_ENTRY_OPCODE_BYTE,
  COMPLETION_QUEUE_ENTRY_OPCODE_MASK,
  COMPLETION_QUEUE_ENTRY_OPCODE_SHIFT,
  COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_BYTE,
  COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_MASK,
  COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_SHIFT,
  COMPLETION_QUEUE_ENTRY_PHASE_BYTE,
  COMPLETION_QUEUE_ENTRY_PHASE_MASK,
  COMPLETION_QUEUE_ENTRY_PHASE_SHIFT,
  COMPLETION_QUEUE_ENTRY_PORT_BYTE,
  COMPLETION_QUEUE_ENTRY_PORT_MASK,
  COMPLETION_QUEUE_ENTRY_PORT_SHIFT,
  COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_BYTE,
  COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_MASK,
  COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT,
  COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_BYTE,
  COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_MASK,
  COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_SHIFT,
  COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_BYTE,
  COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_MASK,
  COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_SHIFT,
  COMPLETION_QUEUE_ENTRY_SOLICITED_BYTE,
  COMPLETION_QUEUE_ENTRY_SOLICITED_MASK,
  COMPLETION_QUEUE_ENTRY_SOLICITED_SHIFT,
  COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_BYTE,
  COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_MASK,
  COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_SHIFT,
  COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_BYTE,
  COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_MASK,
  COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_SHIFT,
  COMPLETION_QUEUE_ENTRY_SOURCE_MAC_LOW_BYTE,
  COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_BYTE,
  COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_MASK,
  COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_SHIFT,
  COMPLETION_QUEUE_ENTRY_STATUS_BYTE,
  COMPLETION_QUEUE_ENTRY_STATUS_MASK,
  COMPLETION_QUEUE_ENTRY_STATUS_SHIFT,
  COMPLETION_QUEUE_ENTRY_TIMESTAMP_HIGH_BYTE,
  COMPLETION_QUEUE_ENTRY_TIMESTAMP_LOW_BYTE,
  COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_BYTE,
  COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_MASK,
  COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_SHIFT,
  COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_BYTE,
  COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_MASK,
  COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_SHIFT,
  COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_BYTE,
  COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_MASK,
  COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_SHIFT,
  COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_BYTE,
  COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_MASK,
  COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_SHIFT,
  COMPLETION_QUEUE_ENTRY_WORK_QUEUE_BYTE,
  COMPLETION_QUEUE_ENTRY_WORK_QUEUE_MASK,
  COMPLETION_QUEUE_ENTRY_WORK_QUEUE_SHIFT,
  CompletionStatus,
  ManagementOpcode,
  PAGE_BYTES,
  QUEUE_ENTRIES_MAXIMUM,
  RING_HEAD_BYTES,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_MASK,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_SHIFT,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_OFFSET,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_SOLICITED_SHIFT,
  completionOpcodeNames,
  completionStatusNames,
  encode,
  getCompletionQueueEntryQueuePairNumber,
  getCompletionQueueEntrySequenceNumber,
  getCompletionQueueEntryWorkQueue,
  setCompletionQueueEntryQueuePairNumber,
  setCompletionQueueEntryStatus,
  type CompletionOpcode,
} from '../spec/index.ts';
import { checkRange } from './arguments.ts';
import type { ClosedReceiver } from './closed_receiver.ts';
import type { DeviceFunction } from './device_function.ts';
import { VerbsError } from './errors.ts';
import type { HcaDriver } from './hca_driver.ts';
import { namedValues } from './named_values.ts';
import { pageList } from './page_list.ts';
import { loadAcquire, storeRelease } from './memory_order.ts';

const high = 2 ** 32;
/** Polls that find nothing between two looks of the driver at its queues: about a second of them. */
const pollsBetweenLooks = 2 ** 20;

/** A completion, filled in by {@link CompletionQueue.poll}. Where `status` is an error, only the first five fields are meant. */
export class Completion {
  /** 24 bits. */
  queuePairNumber = 0;
  /** 0: of the send queue; 1: of the receive queue. */
  workQueue = 0;
  /** Of the work request. In a send queue all before it are completed too, signaled or not. */
  sequenceNumber = 0;
  /** Success, or why the work request failed (InfiniBand volume 1, 11.6.2). */
  status = 0 as CompletionStatus;
  /** More on a failure, of the device itself; 0: nothing. */
  vendorError = 0;
  /** The operation that is complete. */
  opcode = 0 as CompletionOpcode;
  /** Bytes transferred. */
  byteLength = 0;
  /** Immediate data, opaque; or the key that was invalidated. */
  immediateData = 0;
  /** `immediateData` is immediate data of the peer. */
  withImmediate = false;
  /** `immediateData` is the key that the peer invalidated. */
  withInvalidate = false;
  /** A GRH lies before the data that was received (UD). */
  withGlobalRouteHeader = false;
  /** The peer asked for a solicited event. */
  solicited = false;
  /** Where it was received, from 1 (UD). */
  port = 0;
  /** Entry of the port's P_Key table (UD). */
  partitionKeyIndex = 0;
  /** Where it came from (UD). */
  sourceQueuePair = 0;
  /** LID of the sender, 16 bits (UD on InfiniBand). */
  sourceLocalIdentifier = 0;
  /** On Ethernet, where there is a GRH: bytes 0 to 3, and 4 and 5, of a MAC address. */
  sourceMacLow = 0;
  /** Bytes 4 and 5 of the MAC address. */
  sourceMacHigh = 0;
  /** 0 to 15 (UD). */
  serviceLevel = 0;
  /** Low bits of the LID that it was sent to (UD on InfiniBand). */
  destinationPathBits = 0;
  /** When the device wrote it: clock ticks, exact up to 2^53. */
  timestamp = 0;
  /** Identifier of the work request, in two halves. */
  wrIdLow = 0;
  /** High half of the identifier. */
  wrIdHigh = 0;

  /** Identifier of the work request. @throws RangeError above 2^53 − 1; `wrIdBig` is exact */
  get wrId(): number {
    const wrId = this.wrIdLow + this.wrIdHigh * high;
    if (Number.isSafeInteger(wrId)) return wrId;
    throw new RangeError(`wrId ${this.wrIdBig} is above 2^53 - 1: read wrIdBig`);
  }

  /** MAC address of the sender (UD on Ethernet), 6 bytes. */
  get sourceMac(): Uint8Array {
    const view = new DataView(new ArrayBuffer(6));
    view.setUint32(0, this.sourceMacLow, true);
    view.setUint16(4, this.sourceMacHigh, true);
    return new Uint8Array(view.buffer);
  }

  /** Its fields, with the names of status and opcode. */
  toJSON(): object {
    return namedValues<Completion>(this, { status: completionStatusNames, opcode: completionOpcodeNames });
  }

  [inspect.custom](): object {
    return this.toJSON();
  }

  /** Identifier of the work request, exact. */
  get wrIdBig(): bigint {
    return BigInt(this.wrIdLow) | (BigInt(this.wrIdHigh) << 32n);
  }
}

/** How a completion queue is made. */
export interface CompletionQueueOptions {
  /** Completions that it holds; a power of two up to 32768 is used, at least this many. */
  readonly entries: number;
  /** Event queue of its function that it signals when it is armed. Default 0, that of the asynchronous events. */
  readonly eventQueue?: number;
}

/**
 * A completion queue in host memory: the device writes entries, the host sees them by their phase and tells by a record in
 * memory how far it has read (US6725296). A queue that overflows is in error: its queue pairs fail, and an asynchronous event
 * says so.
 */
export class CompletionQueue {
  /** From 1 on. */
  readonly number: number;
  /** Completions that it holds. */
  readonly capacity: number;
  /** log2 of them. */
  readonly entriesLog2: number;
  /** The entries, and the host's head: for native code that takes completions itself. */
  readonly ring: DmaMemory;
  readonly head: DmaMemory;
  private readonly driver: HcaDriver;
  private readonly device: DeviceFunction;
  private readonly view: DataView;
  private readonly dwords: Int32Array;
  private readonly unsignedDwords: Uint32Array;
  private readonly headDwords: Int32Array;
  private taken = 0;
  /** Events of the queue that were taken. */
  private eventsTaken = 0;
  private emptyPolls = 0;
  private reason: VerbsError | undefined;
  /** Called when nothing comes any more. */
  afterFailure: (() => void) | undefined;

  /** @throws VerbsError EINVAL: a size or event queue that there is not; ENOMEM: no completion queue is left */
  constructor(driver: HcaDriver, { entries, eventQueue = 0 }: CompletionQueueOptions) {
    checkRange('createCompletionQueue', 'entries', entries, 1, QUEUE_ENTRIES_MAXIMUM);
    this.driver = driver;
    this.device = driver.device;
    this.entriesLog2 = Math.ceil(Math.log2(entries));
    this.capacity = 1 << this.entriesLog2;
    this.ring = this.device.allocate(this.capacity * COMPLETION_QUEUE_ENTRY_BYTES);
    this.head = this.device.allocate(RING_HEAD_BYTES);
    this.view = new DataView(this.ring.buffer);
    this.dwords = new Int32Array(this.ring.buffer);
    this.unsignedDwords = new Uint32Array(this.ring.buffer);
    this.headDwords = new Int32Array(this.head.buffer);
    try {
      this.number = driver.management.execute({
        verb: 'createCompletionQueue',
        opcode: ManagementOpcode.createCompletionQueue,
        inputFormat: 'create_completion_queue_input',
        input: [
          encode('create_completion_queue_input', {
            event_queue: eventQueue,
            entries_log2: this.entriesLog2,
            pages: this.ring.buffer.byteLength / PAGE_BYTES,
            head_address: this.head.address,
          }),
          pageList(this.ring),
        ],
      }).number;
    } catch (error) {
      this.free();
      throw error;
    }
    driver.completionQueues.set(this.number, this);
  }

  /**
   * Takes completions into the caller's objects, oldest first. Never waits; crosses into native code, where the device may
   * advance, only when none is there.
   * @returns how many were filled in
   * @throws VerbsError why nothing comes any more, when all that came was taken: {@link failure}
   */
  poll(completions: readonly Completion[]): number {
    let count = this.take(completions);
    if (count > 0) return count;
    if (this.device.advance()) count = this.take(completions);
    if (count === 0) this.foundNothing();
    if (count === 0 && this.reason !== undefined && !this.hasCompletion) throw this.reason;
    return count;
  }

  /** Why nothing comes any more: EOVERFLOW, the queue was overrun; ENODEV, the device is gone. Undefined: it works. */
  get failure(): VerbsError | undefined {
    return this.reason;
  }

  /** Nothing comes any more; what lies here can still be taken. */
  fail(reason: VerbsError): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.afterFailure?.();
  }

  /** The device had more completions than the queue has room for. */
  overrun(): void {
    this.fail(
      new VerbsError(
        `completion queue ${this.number} was overrun: it holds ${this.capacity} completions, and more came; it and its queue pairs are in error`,
        {
          code: 'EOVERFLOW',
          verb: 'pollCompletionQueue',
          attribute: 'entries',
          expected: 'room for every work request that completes into it; make it anew, and its queue pairs',
        },
      ),
    );
  }

  /** Whether a completion lies here that was not taken. */
  get hasCompletion(): boolean {
    return this.isWritten(this.taken);
  }

  /**
   * Drops the entries that lie here of a queue pair: it was reset, and counts its work requests anew, or is closed.
   * @param keepsReceives its receives are of a shared receive queue, and stay here as flushed: their memory is to be given back
   * @returns the receives that stay
   */
  forget(queuePairNumber: number, keepsReceives = false): number {
    let kept = 0;
    this.eachLeft((place) => {
      if (getCompletionQueueEntryQueuePairNumber(this.view, place) !== queuePairNumber) return;
      if (keepsReceives && getCompletionQueueEntryWorkQueue(this.view, place) !== 0) {
        setCompletionQueueEntryStatus(this.view, place, CompletionStatus.workRequestFlushedError);
        kept++;
      } else setCompletionQueueEntryQueuePairNumber(this.view, place, 0);
    });
    return kept;
  }

  /**
   * Asks for one event in the event queue: at the next completion, or at once if one lies here that was not taken. Asked again
   * before that event was taken, it changes nothing.
   * @param solicitedOnly only completions that the peer asked an event for, and failures
   */
  arm(solicitedOnly = false): void {
    const low =
      (this.number |
        ((solicitedOnly ? 1 : 0) << UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_SOLICITED_SHIFT) |
        (this.eventsTaken << UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_SHIFT)) >>>
      0;
    this.device.page.writeHalves(UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_OFFSET, low, this.taken);
  }

  /** The event that was asked for was taken from the event queue; from now on another can be asked for. */
  eventTaken(): void {
    this.eventsTaken = (this.eventsTaken + 1) & UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_MASK;
  }

  /** Destroys the queue and frees its memory. @throws VerbsError EBUSY: a queue pair completes into it */
  destroy(): void {
    this.driver.management.execute({
      verb: 'destroyCompletionQueue',
      opcode: ManagementOpcode.destroyCompletionQueue,
      object: this.number,
    });
    this.driver.completionQueues.delete(this.number);
    for (const [number, receiver] of this.driver.closedReceivers) this.giveUp(number, receiver);
    this.free();
  }

  /** Drops the entries that lie here of a queue pair that is closed, and frees its receives. */
  giveUp(queuePairNumber: number, receiver: ClosedReceiver): void {
    this.eachLeft((place) => {
      if (getCompletionQueueEntryQueuePairNumber(this.view, place) !== queuePairNumber) return;
      receiver.completed(getCompletionQueueEntrySequenceNumber(this.view, place));
      setCompletionQueueEntryQueuePairNumber(this.view, place, 0);
    });
  }

  /** Visits the place of each entry that lies here and was not taken, oldest first. */
  private eachLeft(visit: (place: number) => void): void {
    for (let index = this.taken; this.isWritten(index); index = (index + 1) >>> 0) {
      visit(this.placeOf(index));
      if ((index - this.taken) >>> 0 === this.capacity - 1) return;
    }
  }

  private free(): void {
    this.device.free(this.ring);
    this.device.free(this.head);
  }

  /** A program that polls and gives the event loop no turn has the driver look at its queues here. */
  private foundNothing(): void {
    this.driver.events.collect();
    this.emptyPolls = (this.emptyPolls + 1) % pollsBetweenLooks;
    if (this.emptyPolls === 0) this.driver.look();
  }

  private take(completions: readonly Completion[]): number {
    let count = 0;
    const before = this.taken;
    const { queuePairs } = this.driver;
    while (count < completions.length && this.next(completions[count]!)) {
      const completion = completions[count]!;
      const queuePair = queuePairs.get(completion.queuePairNumber);
      if (queuePair !== undefined) queuePair.complete(completion);
      else if (!this.takeOfClosed(completion)) continue;
      count++;
    }
    if (this.taken !== before) storeRelease(this.headDwords, 0, this.taken | 0);
    return count;
  }

  /** Whether it is a receive of a shared receive queue. All other completions of a destroyed queue pair are dropped. */
  private takeOfClosed(completion: Completion): boolean {
    const receiver = this.driver.closedReceivers.get(completion.queuePairNumber);
    return receiver !== undefined && receiver.completed(completion.sequenceNumber, completion);
  }

  private next(completion: Completion): boolean {
    if (!this.isWritten(this.taken)) return false;
    fill(completion, this.unsignedDwords, this.placeOf(this.taken) / 4);
    this.taken = (this.taken + 1) >>> 0;
    return true;
  }

  /** Whether the device has written entry `index`, counted from the queue's first; it lies within one round of those taken. */
  private isWritten(index: number): boolean {
    const last = loadAcquire(this.dwords, (this.placeOf(index) + COMPLETION_QUEUE_ENTRY_PHASE_BYTE) / 4);
    const phase = ((index >>> this.entriesLog2) & 1) ^ 1;
    return ((last >>> COMPLETION_QUEUE_ENTRY_PHASE_SHIFT) & COMPLETION_QUEUE_ENTRY_PHASE_MASK) === phase;
  }

  private placeOf(index: number): number {
    return (index & (this.capacity - 1)) * COMPLETION_QUEUE_ENTRY_BYTES;
  }
}

/** Decodes the entry that begins at DWORD `at`. Accessors of a DataView would take five times the instructions. */
function fill(completion: Completion, dwords: Uint32Array, at: number): void {
  completion.queuePairNumber = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_BYTE,
    COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT,
    COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_MASK,
  );
  completion.workQueue = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_WORK_QUEUE_BYTE,
    COMPLETION_QUEUE_ENTRY_WORK_QUEUE_SHIFT,
    COMPLETION_QUEUE_ENTRY_WORK_QUEUE_MASK,
  );
  completion.sequenceNumber = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_BYTE,
    COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_SHIFT,
    COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_MASK,
  );
  completion.status = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_STATUS_BYTE,
    COMPLETION_QUEUE_ENTRY_STATUS_SHIFT,
    COMPLETION_QUEUE_ENTRY_STATUS_MASK,
  ) as CompletionStatus;
  completion.vendorError = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_BYTE,
    COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_SHIFT,
    COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_MASK,
  );
  completion.opcode = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_OPCODE_BYTE,
    COMPLETION_QUEUE_ENTRY_OPCODE_SHIFT,
    COMPLETION_QUEUE_ENTRY_OPCODE_MASK,
  ) as CompletionOpcode;
  completion.byteLength = dwords[at + COMPLETION_QUEUE_ENTRY_BYTE_LENGTH_BYTE / 4]!;
  completion.immediateData = dwords[at + COMPLETION_QUEUE_ENTRY_IMMEDIATE_DATA_BYTE / 4]!;
  completion.withImmediate =
    field(
      dwords,
      at,
      COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_BYTE,
      COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_SHIFT,
      COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_MASK,
    ) === 1;
  completion.withInvalidate =
    field(
      dwords,
      at,
      COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_BYTE,
      COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_SHIFT,
      COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_MASK,
    ) === 1;
  completion.withGlobalRouteHeader =
    field(
      dwords,
      at,
      COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_BYTE,
      COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_SHIFT,
      COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_MASK,
    ) === 1;
  completion.solicited =
    field(
      dwords,
      at,
      COMPLETION_QUEUE_ENTRY_SOLICITED_BYTE,
      COMPLETION_QUEUE_ENTRY_SOLICITED_SHIFT,
      COMPLETION_QUEUE_ENTRY_SOLICITED_MASK,
    ) === 1;
  completion.port = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_PORT_BYTE,
    COMPLETION_QUEUE_ENTRY_PORT_SHIFT,
    COMPLETION_QUEUE_ENTRY_PORT_MASK,
  );
  completion.partitionKeyIndex = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_BYTE,
    COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_SHIFT,
    COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_MASK,
  );
  completion.sourceQueuePair = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_BYTE,
    COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_SHIFT,
    COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_MASK,
  );
  completion.sourceLocalIdentifier = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_BYTE,
    COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_SHIFT,
    COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_MASK,
  );
  completion.sourceMacLow = dwords[at + COMPLETION_QUEUE_ENTRY_SOURCE_MAC_LOW_BYTE / 4]!;
  completion.sourceMacHigh = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_BYTE,
    COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_SHIFT,
    COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_MASK,
  );
  completion.serviceLevel = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_BYTE,
    COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_SHIFT,
    COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_MASK,
  );
  completion.destinationPathBits = field(
    dwords,
    at,
    COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_BYTE,
    COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_SHIFT,
    COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_MASK,
  );
  completion.timestamp =
    dwords[at + COMPLETION_QUEUE_ENTRY_TIMESTAMP_LOW_BYTE / 4]! +
    dwords[at + COMPLETION_QUEUE_ENTRY_TIMESTAMP_HIGH_BYTE / 4]! * high;
}

function field(dwords: Uint32Array, at: number, byte: number, shift: number, mask: number): number {
  return (dwords[at + byte / 4]! >>> shift) & mask;
}
