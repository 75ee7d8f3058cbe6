import type { PreparedEntry, ReceiveRequest } from '../driver/receive_area.ts';
import { SharedReceiveQueue as QueueInDevice } from '../driver/shared_receive_queue.ts';
import type { SharedReceiveQueueQuery } from '../driver/shared_receive_queue.ts';
import type { Context } from './context.ts';
import { PreparedReceive } from './prepared.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { VerbsObject } from './verbs_object.ts';

/** How a shared receive queue is made. */
export interface SharedReceiveQueueOptions {
  /** Work requests that it takes; a power of two up to 32768 is used, at least this many. Default 128. */
  readonly maxWorkRequests?: number;
  /** Most entries of a scatter list, up to 16. Default 4. */
  readonly maxScatterEntries?: number;
  /** As {@link SharedReceiveQueueAttributes.limit}. Default 0. */
  readonly limit?: number;
}

/** Attributes of a shared receive queue that can be changed; the others stay. */
export interface SharedReceiveQueueAttributes {
  /**
   * Asks for the event sharedReceiveQueueLimitReached, once: when fewer work requests than this are left that no queue pair has
   * taken, at once if there are fewer already. 0: none is asked for.
   */
  readonly limit?: number;
  /**
   * Work requests that it takes, as in {@link SharedReceiveQueueOptions}; no fewer than are posted and not completed. Posted
   * requests stay. A queue that becomes smaller keeps its memory until it is closed.
   */
  readonly maxWorkRequests?: number;
}

/**
 * A receive queue that several queue pairs take from. Its work requests name memory of its own protection domain; they complete into
 * the completion queue of the queue pair that took them, in any order. A queue pair in ERR leaves the queue to the others, and the
 * event queuePairLastWorkQueueEntryReached says that all that it had taken is completed. No work request is lost with a queue
 * pair that is reset or closed: what it had taken, and was not polled, is polled as flushed, with the number of that queue pair.
 */
export class SharedReceiveQueue extends VerbsObject {
  readonly label: string;
  /** The driver's object; for tools. */
  readonly driver: QueueInDevice;
  /** Where it was made. */
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

  /** 24 bits: what asynchronous events name. */
  get number(): number {
    return this.driver.number;
  }

  /** Work requests that it takes. */
  get capacity(): number {
    return this.driver.capacity;
  }

  /**
   * Changes all that is given, or nothing.
   * @throws VerbsError EINVAL: a limit beyond its capacity, a capacity below what is posted, or the device has found the queue in
   * error; ENOMEM: no page table is left for a larger queue
   */
  modify({ limit, maxWorkRequests }: SharedReceiveQueueAttributes): void {
    this.requireOpen('modifySharedReceiveQueue');
    this.driver.modify({ limit, entries: maxWorkRequests });
  }

  /** The limit, 0 since its event was reported; and whether the device has found the queue in error. */
  query(): SharedReceiveQueueQuery {
    this.requireOpen('querySharedReceiveQueue');
    return this.driver.query();
  }

  /**
   * Posts a receive work request, or several. The arguments are not kept; memory that they name is the device's until they
   * complete.
   * @throws VerbsError EINVAL: more entries than the queue was made for; ENOMEM: the queue is full; RangeError: wrId. Of a batch,
   * `posted` says how many were taken before the one that is wrong.
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

  /** For {@link PreparedReceive.post}. */
  postPreparedReceive(entry: PreparedEntry, wrId: number | bigint): void {
    this.requireOpen('postSharedReceive');
    this.driver.postPrepared(entry, wrId);
  }

  protected destroy(): void {
    this.driver.destroy();
  }
}
