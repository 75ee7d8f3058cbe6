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

/** Empty polls between two checks of the queues by the driver: about a second. */
const pollsBetweenLooks = 2 ** 20;

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
  /** Number of completions that it holds. */
  readonly capacity: number;
  /** log2 of them. */
  readonly entriesLog2: number;
  /** The entries, and the host's head, for native code that takes completions itself. */
  readonly ring: DmaMemory;
  readonly head: DmaMemory;
  private readonly driver: HcaDriver;
  private readonly device: DeviceFunction;
  private readonly view: DataView;
  private readonly entries: DeviceRing;
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
          expected: 'room for every work request that completes into it; make it anew, and its queue pairs',
        },
      ),
    );
  }

  /** Whether the queue has a completion that was not taken. */
  get hasCompletion(): boolean {
    return this.entries.isWritten;
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

  private free(): void {
    this.device.free(this.ring);
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
