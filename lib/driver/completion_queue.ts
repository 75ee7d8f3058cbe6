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

/** Empty polls between two checks of the queues by the driver: about a second. */
const pollsBetweenLooks = 2 ** 20;

/** Maximum of both moderation limits: completions, and microseconds. */
const moderationMaximum = 2 ** 16 - 1;

const completionEntry: RingEntry = {
  bytes: COMPLETION_QUEUE_ENTRY_BYTES,
  phaseByte: COMPLETION_QUEUE_ENTRY_PHASE_BYTE,
  phaseShift: COMPLETION_QUEUE_ENTRY_PHASE_SHIFT,
};

/** Options for creating a completion queue. */
export interface CompletionQueueOptions {
  /** Number of completions that the queue holds, rounded up to a power of two, at most 32768. */
  readonly entries: number;
  /** Event queue of its function that it signals when armed. Default 0, the queue of asynchronous events. */
  readonly eventQueue?: number;
}

/**
 * A completion queue in host memory: the device writes entries, the host detects them by their phase and reports its position in a memory
 * record (US6725296). A queue that overflows enters the error state: its queue pairs fail, and an asynchronous event reports it.
 */
export class CompletionQueue {
  /** From 1 on. */
  readonly number: number;
  /** The host's head, for native code that takes completions itself. */
  readonly head: DmaMemory;
  private readonly driver: HcaDriver;
  private readonly device: DeviceFunction;
  private memory: DmaMemory;
  private view: DataView;
  private entries: DeviceRing;
  /** Number of the queue's events that were taken. */
  private eventsTaken = 0;
  private emptyPolls = 0;
  /** The queue pair of the completion that was taken last. */
  private latest: QueuePair | undefined;
  private reason: VerbsError | undefined;
  /** Called when no more completions can arrive. */
  afterFailure: (() => void) | undefined;

  /** @throws VerbsError EINVAL: an invalid size or event queue; ENOMEM: the device has none left */
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

  /** Capacity in completions. */
  get capacity(): number {
    return this.entries.capacity;
  }

  /** The entries, until the next resize, for native code that takes completions itself. */
  get ring(): DmaMemory {
    return this.memory;
  }

  /**
   * Changes the capacity to at least `entries` completions, rounded up to a power of two. Completions in the queue stay, and the device
   * goes on writing completions meanwhile.
   * @throws VerbsError EINVAL: the queue holds more completions than that, or is in error; ENOMEM: no page table is left. The queue is
   * then unchanged
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
    // Every slot looks like an entry of the previous round, so none looks written.
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
      this.checkHeld(entries, size); // completions may have arrived meanwhile
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
   * Moderates events: once armed, the device raises the event with completion number `count`, or `period` microseconds after the first
   * completion, whichever is earlier; if either is 0, with the first completion.
   * @throws VerbsError EINVAL: not 0 to 65535
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
   * Copies completions into the caller's objects, oldest first. Never waits; makes a native call, which may run the device, only if there
   * is no completion.
   * @returns the number of objects filled in
   * @throws VerbsError {@link failure}, after the last completion was taken
   */
  poll(completions: readonly Completion[]): number {
    const count = this.take(completions);
    return count > 0 ? count : this.takeLater(completions);
  }

  /**
   * The reason why no more completions can arrive: EOVERFLOW, the queue overran; ENODEV, the device is gone. Undefined: the queue works.
   */
  get failure(): VerbsError | undefined {
    return this.reason;
  }

  /** Stops the queue; remaining completions can still be taken. */
  fail(reason: VerbsError): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.afterFailure?.();
  }

  /** Handles an overrun: the device had more completions than the queue holds. */
  overrun(): void {
    this.fail(
      new VerbsError(
        `completion queue ${this.number} overran: it holds ${this.capacity} completions, and more arrived; it and its queue pairs are in error`,
        {
          code: 'EOVERFLOW',
          verb: 'pollCompletionQueue',
          attribute: 'entries',
          expected:
            'room for every work request that completes into it; create it again, and its queue pairs',
        },
      ),
    );
  }

  /** Whether the queue has a completion that was not taken. */
  get hasCompletion(): boolean {
    return this.entries.isWritten;
  }

  /** Number of completions in the queue that were not taken. */
  get held(): number {
    let count = 0;
    this.entries.eachWritten(() => count++);
    return count;
  }

  /**
   * Drops the entries of a queue pair that was reset, and restarts its sequence numbers, or that is closed.
   * @param keepsReceives keep its receives as flushed: they belong to a shared receive queue, and their memory must be returned
   * @returns the number of receives that stay
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
   * Requests one event: at the next completion, or at once if there is one that was not taken. A second request before that event was taken
   * has no effect.
   * @param solicitedOnly only for failures and for completions for which the peer requested an event
   */
  arm(solicitedOnly = false): void {
    const low =
      (this.number |
        ((solicitedOnly ? 1 : 0) << UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_SOLICITED_SHIFT) |
        (this.eventsTaken << UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_SHIFT)) >>>
      0;
    this.device.page.writeHalves(UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_OFFSET, low, this.entries.read);
  }

  /** The requested event was taken from the event queue; another one can be requested. */
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

  /** Drops the entries of a closed queue pair, and frees its receives. */
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
    throw new VerbsError(`the queue holds ${held} completions, more than entries, ${entries}`, {
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

  /** Runs the device if polling drives it, and then takes completions. @throws VerbsError the reason why none can arrive */
  private takeLater(completions: readonly Completion[]): number {
    const count = this.device.advance() ? this.take(completions) : 0;
    if (count === 0) this.foundNothing();
    return count;
  }

  /** If a program polls without returning to its event loop, the driver checks its queues here. */
  private foundNothing(): void {
    this.driver.events.collect();
    this.emptyPolls = (this.emptyPolls + 1) % pollsBetweenLooks;
    if (this.emptyPolls === 0) this.driver.look();
    if (this.reason !== undefined && !this.hasCompletion) throw this.reason;
  }

  /** Passes each completion to its queue pair before reading the next: both may go into the same object of the caller. */
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

  /** Fast path: most completions belong to the same queue pair as the previous one. */
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
