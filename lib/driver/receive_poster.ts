import { inElement } from './arguments.ts';
import type { PreparedEntry, ReceiveArea, ReceiveRequest } from './receive_area.ts';

/** Posts receives to a queue in host memory: a queue pair's own or a shared one, which differ in the places that they give. */
export abstract class ReceivePoster {
  /** The memory that the device reads. */
  abstract get area(): ReceiveArea;
  /** Sequence number of the next work request, 16 bits. */
  protected next = 0;

  /** A free place in the area for the next work request. @throws VerbsError ENOMEM: the queue is full */
  protected abstract nextPlace(): number;
  /** The next work request lies at this place. */
  protected abstract taken(place: number): void;

  /**
   * Posts a work request, without crossing into native code.
   * @returns its sequence number
   * @throws VerbsError ENOMEM: the queue is full; EINVAL: more entries than the queue was made for; RangeError: wrId. Nothing is
   * posted then.
   */
  post(request: ReceiveRequest): number {
    const sequenceNumber = this.put(request);
    this.area.storeTail(this.next);
    return sequenceNumber;
  }

  /** Checks and encodes a work request once; see {@link postPrepared}. @throws VerbsError, TypeError, RangeError as post() */
  prepare(request: ReceiveRequest): PreparedEntry {
    return this.area.prepare(request);
  }

  /** Posts a prepared work request. @returns its sequence number @throws VerbsError ENOMEM: the queue is full; RangeError: wrId */
  postPrepared(request: PreparedEntry, wrId: number | bigint): number {
    const place = this.nextPlace();
    const sequenceNumber = this.next;
    this.area.putPrepared(request, wrId, sequenceNumber, place);
    this.taken(place);
    this.area.storeTail(this.next);
    return sequenceNumber;
  }

  /**
   * Posts work requests; the device learns of them all at once.
   * @returns how many were posted: all
   * @throws VerbsError as post(), with `posted`, the number of requests before the one that is wrong; these are posted
   */
  postBatch(requests: readonly ReceiveRequest[]): number {
    let posted = 0;
    try {
      for (; posted < requests.length; posted++) this.put(requests[posted]!);
    } catch (error) {
      inElement('requests', posted, error as Error);
      throw Object.assign(error as Error, { posted });
    } finally {
      this.area.storeTail(this.next);
    }
    return posted;
  }

  /** Encodes a work request and its reference. Gives its sequence number. */
  private put(request: ReceiveRequest): number {
    const place = this.nextPlace();
    const sequenceNumber = this.next;
    this.area.put(request, sequenceNumber, place);
    this.taken(place);
    return sequenceNumber;
  }
}
