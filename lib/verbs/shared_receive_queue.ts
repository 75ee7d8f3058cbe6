import type { PreparedEntry, ReceiveRequest } from '../driver/receive_area.ts';
import { SharedReceiveQueue as QueueInDevice } from '../driver/shared_receive_queue.ts';
import type { SharedReceiveQueueQuery } from '../driver/shared_receive_queue.ts';
import type { Context } from './context.ts';
import { PreparedReceive } from './prepared.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { VerbsObject } from './verbs_object.ts';

/** Options for creating a shared receive queue. */
export interface SharedReceiveQueueOptions {
  /** Number of work requests that the queue holds, rounded up to a power of two, at most 32768. Default 128. */
  readonly maxWorkRequests?: number;
  /** Maximum entries of a scatter list, up to 16. Default 4. */
  readonly maxScatterEntries?: number;
  /** As {@link SharedReceiveQueueAttributes.limit}. Default 0. */
  readonly limit?: number;
}

/** Attributes of a shared receive queue that can be changed; omitted ones keep their value. */
export interface SharedReceiveQueueAttributes {
  /**
   * Requests the event sharedReceiveQueueLimitReached, once, for when fewer work requests than this are left that no queue pair has taken;
   * at once if there are already fewer. 0: no event.
   */
  readonly limit?: number;
  /**
   * Number of work requests that the queue holds, as in {@link SharedReceiveQueueOptions}; at least the number of posted work requests that
   * have not completed. Posted work requests stay. A queue that shrinks keeps its memory until it is closed.
   */
  readonly maxWorkRequests?: number;
}

/**
 * A receive queue that several queue pairs share. Its work requests name memory of its own protection domain. They complete into the
 * completion queue of the queue pair that took them, in any order. A queue pair in ERR takes no more work requests, and the event
 * queuePairLastWorkQueueEntryReached reports that all those it had taken are completed. Reset or close of a queue pair loses no work
 * request: poll returns those it had taken and not yet reported, as flushed and with the number of that queue pair.
 */
export class SharedReceiveQueue extends VerbsObject {
  readonly label: string;
  /** The driver's object, for tools. */
  readonly driver: QueueInDevice;
  /** Its context. */
  readonly context: Context;

  /** {@link ProtectionDomain.createSharedReceiveQueue} makes shared receive queues. */
  constructor(
    context: Context,
    protectionDomain: ProtectionDomain,
    { maxWorkRequests = 128, maxScatterEntries = 4, limit = 0 }: SharedReceiveQueueOptions,
  ) {
    super([protectionDomain]);
    this.context = context;
    this.driver = new QueueInDevice(context.driver, {
      protectionDomain: protectionDomain.driver,
      entries: maxWorkRequests,
      scatterEntries: maxScatterEntries,
      limit,
    });
    this.label = `shared receive queue ${this.driver.number}`;
  }

  /** Number of the queue, 24 bits, as asynchronous events name it. */
  get number(): number {
    return this.driver.number;
  }

  /** Number of work requests that the queue holds. */
  get capacity(): number {
    return this.driver.capacity;
  }

  /**
   * Applies all given attributes, or none.
   * @throws VerbsError EINVAL: the limit exceeds the capacity, the capacity is below the number of posted work requests, or the device has
   * put the queue into the error state; ENOMEM: no page table is left for a larger queue
   */
  modify({ limit, maxWorkRequests }: SharedReceiveQueueAttributes): void {
    this.requireOpen('modifySharedReceiveQueue');
    this.driver.modify({ limit, entries: maxWorkRequests });
  }

  /** Returns the limit, which is 0 after its event was reported, and whether the device has put the queue into the error state. */
  query(): SharedReceiveQueueQuery {
    this.requireOpen('querySharedReceiveQueue');
    return this.driver.query();
  }

  /**
   * Posts one receive work request, or several. The driver keeps no reference to the arguments. The memory that they name belongs to the
   * device until they complete.
   * @throws VerbsError EINVAL: too many scatter entries for the queue; ENOMEM: the queue is full; RangeError: wrId. For a batch, `posted`
   * gives the number of work requests posted before the faulty one.
   */
  postReceive(requests: ReceiveRequest | readonly ReceiveRequest[]): void {
    this.requireOpen('postSharedReceive');
    if (Array.isArray(requests)) this.driver.postBatch(requests as readonly ReceiveRequest[]);
    else this.driver.post(requests as ReceiveRequest);
  }

  /**
   * Checks and encodes a receive work request once, for a loop that repeats it.
   * @throws VerbsError, TypeError, RangeError: as {@link postReceive}
   */
  prepareReceive(request: ReceiveRequest): PreparedReceive {
    this.requireOpen('prepareReceive');
    return new PreparedReceive(this, this.driver.prepare(request));
  }

  /** Posts for {@link PreparedReceive.post}. */
  postPreparedReceive(entry: PreparedEntry, wrId: number | bigint): void {
    this.requireOpen('postSharedReceive');
    this.driver.postPrepared(entry, wrId);
  }

  protected destroy(): void {
    this.driver.destroy();
  }
}
