import type { Completion } from './completion.ts';
import type { SharedReceiveQueue } from './shared_receive_queue.ts';

/**
 * A closed queue pair whose completed receives, from a shared receive queue, are still in a completion queue. Poll returns them, so that
 * their user gets the memory back.
 */
export class ClosedReceiver {
  private readonly queue: SharedReceiveQueue;
  private left: number;
  private readonly number: number;
  private readonly atEnd: () => void;

  /**
   * @param left number of receives in the completion queue
   * @param number number that peers knew
   * @param atEnd called when the last of them was taken
   */
  constructor(queue: SharedReceiveQueue, left: number, number: number, atEnd: () => void) {
    this.queue = queue;
    this.left = left;
    this.number = number;
    this.atEnd = atEnd;
  }

  /**
   * Handles a receive taken from the completion queue: frees its entry.
   * @param completion gets the wrId of the request, and the number, if needed
   * @returns false: its queue is closed, and the receive has no owner
   */
  completed(sequenceNumber: number, completion?: Completion): boolean {
    if (--this.left === 0) this.atEnd();
    if (this.queue.closed) return false;
    completion?.rename(this.number);
    this.queue.completed(sequenceNumber, completion);
    return true;
  }
}
