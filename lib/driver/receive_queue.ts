import type { DmaMemory } from '../board/addon.ts';
import { UNDERLYING_FUNCTION_RECEIVE_DOORBELL_OFFSET } from '../spec/index.ts';
import { inElement } from './arguments.ts';
import type { DeviceFunction } from './device_function.ts';
import {
  ReceiveArea,
  type PreparedEntry,
  type ReceiveQueueSizes,
  type ReceiveRequest,
} from './receive_area.ts';
import type { WorkRequestIdHolder } from './work_request_ids.ts';

/** The receive queue of a queue pair in host memory. Sequence numbers are 16 bits, free-running. */
export class ReceiveQueue {
  private readonly device: DeviceFunction;
  private readonly area: ReceiveArea;
  private next = 0;
  private completed = -1;

  /** @throws VerbsError EINVAL: a size beyond what the device has */
  constructor(device: DeviceFunction, sizes: ReceiveQueueSizes) {
    this.device = device;
    const names = ['maxReceiveWorkRequests', 'maxScatterEntries'] as const;
    this.area = new ReceiveArea(device, sizes, { verb: 'createQueuePair', names });
  }

  /** log2 of the entries. */
  get entriesLog2(): number {
    return this.area.entriesLog2;
  }

  /** Circular buffer of references. */
  get references(): DmaMemory {
    return this.area.references;
  }

  /** Receive entries. */
  get entryArea(): DmaMemory {
    return this.area.entryArea;
  }

  /** The tail record. */
  get tail(): DmaMemory {
    return this.area.tail;
  }

  /** Most entries of a scatter list. */
  get scatterEntries(): number {
    return this.area.scatterEntries;
  }

  /** Work requests that it takes. */
  get capacity(): number {
    return this.area.entries;
  }

  /** Work requests that are posted and not completed. */
  get outstanding(): number {
    return (this.next - this.completed - 1) & 0xffff;
  }

  /** Sequence number of the next work request. */
  get nextSequenceNumber(): number {
    return this.next;
  }

  /**
   * Posts a work request, without crossing into native code.
   * @returns its sequence number
   * @throws VerbsError ENOMEM: the queue is full; EINVAL: more entries than the queue was made for; RangeError: wrId. Nothing
   * is posted then.
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
    if (this.outstanding >= this.area.entries) throw this.area.full();
    const sequenceNumber = this.next;
    this.area.putPrepared(request, wrId, sequenceNumber, sequenceNumber & (this.area.entries - 1));
    this.next = (sequenceNumber + 1) & 0xffff;
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

  /**
   * A completion named this sequence number: it and all before it are completed, and their slots free.
   * @param holder gets the wrId of the request, where it is wanted
   */
  completedThrough(sequenceNumber: number, holder?: WorkRequestIdHolder): void {
    if (holder !== undefined) this.area.wrIds.get(sequenceNumber & (this.area.entries - 1), holder);
    this.completed = sequenceNumber;
  }

  /** Tells the device of what is posted: needed only where it does not look for itself, in the error state. One crossing. */
  doorbell(queuePairNumber: number): void {
    this.device.page.writeHalves(UNDERLYING_FUNCTION_RECEIVE_DOORBELL_OFFSET, queuePairNumber, this.next);
  }

  /** The queue is empty and begins with sequence number 0 again: its queue pair was reset. */
  reset(): void {
    this.next = 0;
    this.completed = -1;
    this.area.storeTail(0);
  }

  /** The device does not reach it any more. */
  free(): void {
    this.area.free();
  }

  /** Encodes a work request and its reference. Gives its sequence number. */
  private put(request: ReceiveRequest): number {
    if (this.outstanding >= this.area.entries) throw this.area.full();
    const sequenceNumber = this.next;
    this.area.put(request, sequenceNumber, sequenceNumber & (this.area.entries - 1));
    this.next = (sequenceNumber + 1) & 0xffff;
    return sequenceNumber;
  }
}
