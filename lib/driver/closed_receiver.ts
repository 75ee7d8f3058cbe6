import type { SharedReceiveQueue } from './shared_receive_queue.ts';
import type { WorkRequestIdHolder } from './work_request_ids.ts';

/**
 * A queue pair that is closed while receives that it has completed, of a shared receive queue, lie in a completion queue. They are
 * still polled, so that their user gets the memory back.
 */
export class ClosedReceiver {
  private readonly queue: SharedReceiveQueue;
  private left: number;
  private readonly atEnd: () => void;

  /**
   * @param left receives that lie in the completion queue
   * @param atEnd called when the last of them was taken
   */
  constructor(queue: SharedReceiveQueue, left: number, atEnd: () => void) {
    this.queue = queue;
    this.left = left;
    this.atEnd = atEnd;
  }

  /**
   * A receive was taken from the completion queue: its entry is free.
   * @param holder gets the wrId of the request, where it is wanted
   * @returns false: its queue is closed, and the receive has no owner
   */
  completed(sequenceNumber: number, holder?: WorkRequestIdHolder): boolean {
    if (--this.left === 0) this.atEnd();
    if (this.queue.closed) return false;
    this.queue.completed(sequenceNumber, holder);
    return true;
  }
}
