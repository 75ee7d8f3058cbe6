import type { Completion } from './completion.ts';
import type { SharedReceiveQueue } from './shared_receive_queue.ts';

/**
 * A queue pair that is closed while receives that it has completed, of a shared receive queue, lie in a completion queue. They are
 * still polled, so that their user gets the memory back.
 */
export class ClosedReceiver {
  private readonly queue: SharedReceiveQueue;
  private left: number;
  private readonly number: number;
  private readonly atEnd: () => void;

  /**
   * @param left receives that lie in the completion queue
   * @param number that peers knew
   * @param atEnd called when the last of them was taken
   */
  constructor(queue: SharedReceiveQueue, left: number, number: number, atEnd: () => void) {
    this.queue = queue;
    this.left = left;
    this.number = number;
    this.atEnd = atEnd;
  }

  /**
   * A receive was taken from the completion queue: its entry is free.
   * @param completion gets the wrId of the request, and the number, where it is wanted
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
