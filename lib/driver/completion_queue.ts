import type { DmaMemory } from '../board/addon.ts';
import {
  COMPLETION_QUEUE_ENTRY_BYTES,
  COMPLETION_QUEUE_ENTRY_PHASE_BYTE,
  COMPLETION_QUEUE_ENTRY_PHASE_SHIFT,
  CompletionStatus,
  ManagementOpcode,
  PAGE_BYTES,
  QUEUE_ENTRIES_MAXIMUM,
  RING_HEAD_BYTES,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_MASK,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_SHIFT,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_OFFSET,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_SOLICITED_SHIFT,
  encode,
  getCompletionQueueEntryQueuePairNumber,
  getCompletionQueueEntrySequenceNumber,
  getCompletionQueueEntryWorkQueue,
  setCompletionQueueEntryQueuePairNumber,
  setCompletionQueueEntryStatus,
} from '../spec/index.ts';
import { checkRange, wrongType } from './arguments.ts';
import type { ClosedReceiver } from './closed_receiver.ts';
import type { Completion } from './completion.ts';
import type { DeviceFunction } from './device_function.ts';
import { DeviceRing, type RingEntry } from './device_ring.ts';
import { VerbsError } from './errors.ts';
import type { HcaDriver } from './hca_driver.ts';
import { pageList } from './page_list.ts';
import type { QueuePair } from './queue_pair.ts';

/** Polls that find nothing between two looks of the driver at its queues: about a second of them. */
const pollsBetweenLooks = 2 ** 20;

const completionEntry: RingEntry = {
  bytes: COMPLETION_QUEUE_ENTRY_BYTES,
  phaseByte: COMPLETION_QUEUE_ENTRY_PHASE_BYTE,
  phaseShift: COMPLETION_QUEUE_ENTRY_PHASE_SHIFT,
};

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
  private readonly entries: DeviceRing;
  /** Events of the queue that were taken. */
  private eventsTaken = 0;
  private emptyPolls = 0;
  /** The queue pair of the completion that was taken last. */
  private latest: QueuePair | undefined;
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
    this.entries = new DeviceRing(this.ring, this.head, this.capacity, completionEntry);
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
    const count = this.take(completions);
    return count > 0 ? count : this.takeLater(completions);
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
        `completion queue ${this.number} overran: it holds ${this.capacity} completions, and more arrived; it and its queue pairs are in error`,
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
    return this.entries.isWritten;
  }

  /**
   * Drops the entries that lie here of a queue pair: it was reset, and counts its work requests anew, or is closed.
   * @param keepsReceives its receives are of a shared receive queue, and stay here as flushed: their memory is to be given back
   * @returns the receives that stay
   */
  forget(queuePairNumber: number, keepsReceives = false): number {
    let kept = 0;
    this.entries.eachWritten((first) => {
      const place = first * 4;
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
    this.device.page.writeHalves(UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_OFFSET, low, this.entries.read);
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
    this.entries.eachWritten((first) => {
      const place = first * 4;
      if (getCompletionQueueEntryQueuePairNumber(this.view, place) !== queuePairNumber) return;
      receiver.completed(getCompletionQueueEntrySequenceNumber(this.view, place));
      setCompletionQueueEntryQueuePairNumber(this.view, place, 0);
    });
  }

  private free(): void {
    this.device.free(this.ring);
    this.device.free(this.head);
  }

  /** Lets the device work where polling drives it, and then takes. @throws VerbsError why nothing comes any more */
  private takeLater(completions: readonly Completion[]): number {
    const count = this.device.advance() ? this.take(completions) : 0;
    if (count === 0) this.foundNothing();
    return count;
  }

  /** A program that polls and gives the event loop no turn has the driver look at its queues here. */
  private foundNothing(): void {
    this.driver.events.collect();
    this.emptyPolls = (this.emptyPolls + 1) % pollsBetweenLooks;
    if (this.emptyPolls === 0) this.driver.look();
    if (this.reason !== undefined && !this.hasCompletion) throw this.reason;
  }

  /** Each completion is told to its queue pair before the next is read: both may go into the same object of the caller. */
  private take(completions: readonly Completion[]): number {
    const { entries } = this;
    let count = 0;
    while (count < completions.length && entries.isWritten) {
      const completion = completions[count];
      if (completion === undefined) {
        if (count > 0) break; // none that was taken is lost
        throw wrongType('completions[0]', 'a Completion', completion);
      }
      completion.read(entries.dwords, entries.place);
      entries.next();
      const queuePair = this.queuePairOf(completion.queuePairNumber);
      if (queuePair !== undefined) queuePair.complete(completion);
      else if (!this.takeOfClosed(completion)) continue;
      count++;
    }
    entries.tellRead();
    return count;
  }

  /** Most completions are of the same queue pair as the one before. */
  private queuePairOf(number: number): QueuePair | undefined {
    const { latest } = this;
    if (latest !== undefined && latest.number === number && !latest.destroyed) return latest;
    return (this.latest = this.driver.queuePairs.get(number));
  }

  /** Whether it is a receive of a shared receive queue. All other completions of a destroyed queue pair are dropped. */
  private takeOfClosed(completion: Completion): boolean {
    const receiver = this.driver.closedReceivers.get(completion.queuePairNumber);
    return receiver !== undefined && receiver.completed(completion.sequenceNumber, completion);
  }
}
