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
  setCompletionQueueEntryPhase,
  setCompletionQueueEntryQueuePairNumber,
  setCompletionQueueEntrySequence,
  setCompletionQueueEntryStatus,
} from '../spec/index.ts';
import { checkRange, wrongType } from './arguments.ts';
import type { ClosedReceiver } from './closed_receiver.ts';
import type { Completion } from './completion.ts';
import type { DeviceFunction } from './device_function.ts';
import { DeviceRing, phaseOf, placeOf, type RingEntry } from './device_ring.ts';
import { VerbsError } from './errors.ts';
import type { HcaDriver } from './hca_driver.ts';
import { pageList } from './page_list.ts';
import type { QueuePair } from './queue_pair.ts';

/** Polls that find nothing between two looks of the driver at its queues: about a second of them. */
const pollsBetweenLooks = 2 ** 20;

/** Most completions, and microseconds, that an event waits for. */
const moderationMaximum = 2 ** 16 - 1;

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
  /** The host's head: for native code that takes completions itself. */
  readonly head: DmaMemory;
  private readonly driver: HcaDriver;
  private readonly device: DeviceFunction;
  private memory: DmaMemory;
  private view: DataView;
  private entries: DeviceRing;
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
    const entriesLog2 = Math.ceil(Math.log2(entries));
    const capacity = 1 << entriesLog2;
    this.memory = this.device.allocate(capacity * COMPLETION_QUEUE_ENTRY_BYTES);
    this.head = this.device.allocate(RING_HEAD_BYTES);
    this.view = new DataView(this.memory.buffer);
    this.entries = new DeviceRing(this.memory, this.head, capacity, completionEntry);
    try {
      this.number = driver.management.execute({
        verb: 'createCompletionQueue',
        opcode: ManagementOpcode.createCompletionQueue,
        inputFormat: 'create_completion_queue_input',
        input: [
          encode('create_completion_queue_input', {
            event_queue: eventQueue,
            entries_log2: entriesLog2,
            pages: this.memory.buffer.byteLength / PAGE_BYTES,
            head_address: this.head.address,
          }),
          pageList(this.memory),
        ],
      }).number;
    } catch (error) {
      this.free();
      throw error;
    }
    driver.completionQueues.set(this.number, this);
  }

  /** Completions that it holds. */
  get capacity(): number {
    return this.entries.capacity;
  }

  /** The entries, until it gets another size: for native code that takes completions itself. */
  get ring(): DmaMemory {
    return this.memory;
  }

  /**
   * Gives it room for at least `entries` completions, as many as a power of two; what lies here stays, and what comes meanwhile is
   * lost no more than otherwise.
   * @throws VerbsError EINVAL: more completions lie here than that, or the queue is in error; ENOMEM: no page table is left. Nothing
   * is changed then
   */
  resize(entries: number): void {
    const verb = 'resizeCompletionQueue';
    checkRange(verb, 'entries', entries, 1, QUEUE_ENTRIES_MAXIMUM);
    const entriesLog2 = Math.ceil(Math.log2(entries));
    const size = 1 << entriesLog2;
    if (size === this.capacity) return;
    this.checkHeld(entries, size);
    const ring = this.device.allocate(size * COMPLETION_QUEUE_ENTRY_BYTES);
    const view = new DataView(ring.buffer);
    const first = this.entries.read;
    // As if it had been written the round before.
    for (let number = first - size; number < first; number++) {
      const at = placeOf(number, size) * COMPLETION_QUEUE_ENTRY_BYTES;
      setCompletionQueueEntryPhase(view, at, phaseOf(number, size));
      setCompletionQueueEntrySequence(view, at, number);
    }
    let tail;
    try {
      tail = this.driver.management.execute({
        verb,
        opcode: ManagementOpcode.resizeCompletionQueue,
        object: this.number,
        inputFormat: 'resize_completion_queue_input',
        input: [
          encode('resize_completion_queue_input', {
            entries_log2: entriesLog2,
            pages: ring.buffer.byteLength / PAGE_BYTES,
          }),
          pageList(ring),
        ],
      }).number;
    } catch (error) {
      this.device.free(ring);
      this.checkHeld(entries, size); // more may have come
      throw error;
    }
    const [from, to] = [this.memory.buffer, ring.buffer].map((buffer) => new Uint8Array(buffer));
    for (let left = (tail - first) >>> 0, number = first; left > 0; left--, number++) {
      const old = placeOf(number, this.capacity) * COMPLETION_QUEUE_ENTRY_BYTES;
      const at = placeOf(number, size) * COMPLETION_QUEUE_ENTRY_BYTES;
      to!.set(from!.subarray(old, old + COMPLETION_QUEUE_ENTRY_BYTES), at);
      setCompletionQueueEntryPhase(view, at, phaseOf(number, size));
    }
    this.device.free(this.memory);
    this.memory = ring;
    this.view = view;
    this.entries = new DeviceRing(ring, this.head, size, completionEntry, first);
  }

  /**
   * From now on an event that is asked for comes with completion number `count` since, or `period` microseconds after the first,
   * whichever is earlier; with either of them 0 it comes with the first.
   * @throws VerbsError EINVAL: not of 16 bits
   */
  moderate(count: number, period: number): void {
    const verb = 'moderateCompletionQueue';
    checkRange(verb, 'count', count, 0, moderationMaximum);
    checkRange(verb, 'period', period, 0, moderationMaximum);
    this.driver.management.execute({
      verb,
      opcode: ManagementOpcode.moderateCompletionQueue,
      object: this.number,
      inputFormat: 'moderate_completion_queue_input',
      input: [encode('moderate_completion_queue_input', { count, period })],
    });
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
    return this.entries.isWritten;
  }

  /** How many lie here that were not taken. */
  get held(): number {
    let count = 0;
    this.entries.eachWritten(() => count++);
    return count;
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

  private checkHeld(entries: number, size: number): void {
    const { held } = this;
    if (held <= size) return;
    throw new VerbsError(`${held} completions lie in the queue, which are more than entries, ${entries}`, {
      code: 'EINVAL',
      verb: 'resizeCompletionQueue',
      attribute: 'entries',
      expected: `${held} or more, or completions polled first`,
    });
  }

  private free(): void {
    this.device.free(this.memory);
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
