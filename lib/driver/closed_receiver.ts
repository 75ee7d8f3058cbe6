import type { SharedReceiveQueue } from './shared_receive_queue.ts';
import type { WorkRequestIdHolder } from './work_request_ids.ts';

/**
 * A closed queue pair whose completed receives, from a shared receive queue, are still in a completion queue. Poll returns them, so that
 * their user gets the memory back.
 */
export class ClosedReceiver {
  private readonly queue: SharedReceiveQueue;
  private left: number;
  private readonly atEnd: () => void;

  /**
   * @param left number of receives in the completion queue
   * @param atEnd called when the last of them was taken
   */
  constructor(queue: SharedReceiveQueue, left: number, atEnd: () => void) {
    this.queue = queue;
    this.left = left;
    this.atEnd = atEnd;
  }

  /**
   * Handles a receive taken from the completion queue: frees its entry.
   * @param holder gets the wrId of the request, if needed
   * @returns false: its queue is closed, and the receive has no owner
   */
  completed(sequenceNumber: number, holder?: WorkRequestIdHolder): boolean {
    if (--this.left === 0) this.atEnd();
    if (this.queue.closed) return false;
    this.queue.completed(sequenceNumber, holder);
    return true;
  }
}
