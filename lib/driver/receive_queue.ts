import type { DmaMemory } from '../board/addon.ts';
import {
  GATHER_ENTRIES,
  GATHER_ENTRY_BYTES,
  QUEUE_ENTRIES_MAXIMUM,
  RECEIVE_ENTRY_HEADER_BYTES,
  RECEIVE_ENTRY_HEADER_SCATTER_COUNT_BYTE,
  RECEIVE_ENTRY_HEADER_SEQUENCE_NUMBER_BYTE,
  RECEIVE_QUEUE_TAIL_BYTES,
  RECEIVE_QUEUE_TAIL_TAIL_BYTE,
  UNDERLYING_FUNCTION_RECEIVE_DOORBELL_OFFSET,
  WORK_QUEUE_REFERENCE_BYTES,
  WORK_QUEUE_REFERENCE_LENGTH_SHIFT,
  WORK_QUEUE_REFERENCE_OFFSET_BYTE,
  WORK_QUEUE_REFERENCE_SEQUENCE_NUMBER_BYTE,
} from '../spec/index.ts';
import { encodeGatherList, type GatherEntry } from './command.ts';
import type { DeviceFunction } from './device_function.ts';
import { VerbsError } from './errors.ts';
import { checkGatherList } from './gather_list.ts';
import { checkSize, placeEntries } from './work_queue.ts';
import { WorkRequestIds, type WorkRequestIdHolder } from './work_request_ids.ts';

/** Sizes of a receive queue. */
export interface ReceiveQueueSizes {
  /** Work requests that it takes; a power of two up to 32768 is used, at least this many. */
  readonly entries: number;
  /** Most entries of a scatter list, up to 16. */
  readonly scatterEntries: number;
}

/** A receive work request. */
export interface ReceiveRequest {
  /** Where the data goes, in this order; none: a message without data fits, or an RDMA WRITE with immediate. */
  readonly scatter?: readonly GatherEntry[] | undefined;
  /** Comes back in the completion. Default 0. */
  readonly wrId?: number | bigint | undefined;
}

const dword = 4;

/**
 * The receive queue of a queue pair in host memory: references in a circular buffer, the entries that they refer to (US6789143),
 * and a tail record that is stored last and read by the device when it needs it. Posting stores to memory alone. Sequence
 * numbers are 16 bits, free-running.
 */
export class ReceiveQueue {
  /** log2 of the entries. */
  readonly entriesLog2: number;
  /** Circular buffer of references. */
  readonly references: DmaMemory;
  /** Receive entries. */
  readonly entryArea: DmaMemory;
  /** The tail record. */
  readonly tail: DmaMemory;
  readonly scatterEntries: number;
  private readonly device: DeviceFunction;
  private readonly entries: number;
  private readonly referenceDwords: Uint32Array;
  private readonly dwords: Uint32Array;
  private readonly tailDwords: Int32Array;
  /** Where the entry of each slot begins. */
  private readonly places: Uint32Array;
  private readonly wrIds: WorkRequestIds;
  private next = 0;
  private completed = -1;

  /** @throws VerbsError EINVAL: a size beyond what the device has */
  constructor(device: DeviceFunction, { entries, scatterEntries }: ReceiveQueueSizes) {
    checkSize('max_recv_wr', entries, 1, QUEUE_ENTRIES_MAXIMUM);
    checkSize('max_recv_sge', scatterEntries, 0, GATHER_ENTRIES);
    this.device = device;
    this.entriesLog2 = Math.ceil(Math.log2(entries));
    this.entries = 1 << this.entriesLog2;
    this.scatterEntries = scatterEntries;
    const largest = RECEIVE_ENTRY_HEADER_BYTES + scatterEntries * GATHER_ENTRY_BYTES;
    const { places, areaBytes } = placeEntries(this.entries, largest);
    this.places = places;
    this.references = device.allocate(this.entries * WORK_QUEUE_REFERENCE_BYTES);
    this.entryArea = device.allocate(areaBytes);
    this.tail = device.allocate(RECEIVE_QUEUE_TAIL_BYTES);
    this.referenceDwords = new Uint32Array(this.references.buffer);
    this.dwords = new Uint32Array(this.entryArea.buffer);
    this.tailDwords = new Int32Array(this.tail.buffer);
    this.wrIds = new WorkRequestIds(this.entries);
  }

  /** Work requests that it takes. */
  get capacity(): number {
    return this.entries;
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
    this.storeTail();
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
      throw Object.assign(error as Error, { posted });
    } finally {
      this.storeTail();
    }
    return posted;
  }

  /**
   * A completion named this sequence number: it and all before it are completed, and their slots free.
   * @param holder gets the wrId of the request, where it is wanted
   */
  completedThrough(sequenceNumber: number, holder?: WorkRequestIdHolder): void {
    if (holder !== undefined) this.wrIds.get(sequenceNumber & (this.entries - 1), holder);
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
    this.storeTail();
  }

  /** The device does not reach it any more. */
  free(): void {
    this.device.free(this.references);
    this.device.free(this.entryArea);
    this.device.free(this.tail);
  }

  /** Encodes a work request and its reference. Gives its sequence number. */
  private put({ scatter, wrId }: ReceiveRequest): number {
    if (this.outstanding >= this.entries) throw this.full();
    if (scatter !== undefined) checkGatherList('scatter', scatter);
    const count = scatter?.length ?? 0;
    if (count > this.scatterEntries) throw this.tooLong(count);
    const sequenceNumber = this.next;
    const slot = sequenceNumber & (this.entries - 1);
    this.wrIds.set(slot, wrId);
    const place = this.places[slot]!;
    const entry = place / dword;
    this.dwords[entry + RECEIVE_ENTRY_HEADER_SCATTER_COUNT_BYTE / dword] = count;
    this.dwords[entry + RECEIVE_ENTRY_HEADER_SEQUENCE_NUMBER_BYTE / dword] = sequenceNumber;
    if (scatter !== undefined) {
      encodeGatherList(this.dwords, entry + RECEIVE_ENTRY_HEADER_BYTES / dword, scatter);
    }
    const length = RECEIVE_ENTRY_HEADER_BYTES + count * GATHER_ENTRY_BYTES;
    const reference = (slot * WORK_QUEUE_REFERENCE_BYTES) / dword;
    this.referenceDwords[reference + WORK_QUEUE_REFERENCE_OFFSET_BYTE / dword] = place;
    this.referenceDwords[reference + WORK_QUEUE_REFERENCE_SEQUENCE_NUMBER_BYTE / dword] =
      sequenceNumber | (length << WORK_QUEUE_REFERENCE_LENGTH_SHIFT);
    this.next = (sequenceNumber + 1) & 0xffff;
    return sequenceNumber;
  }

  /** After the entries, and seen by the device after them. */
  private storeTail(): void {
    Atomics.store(this.tailDwords, RECEIVE_QUEUE_TAIL_TAIL_BYTE / dword, this.next);
  }

  private full(): VerbsError {
    return new VerbsError(`the receive queue is full: ${this.entries} work requests are not completed`, {
      code: 'ENOMEM',
      verb: 'postReceive',
      expected: 'completions polled, or a queue made larger',
    });
  }

  private tooLong(count: number): VerbsError {
    const expected = `at most ${this.scatterEntries} entries`;
    return new VerbsError(`scatter has ${count} entries; the queue pair was made for ${expected}`, {
      code: 'EINVAL',
      verb: 'postReceive',
      attribute: 'scatter',
      expected,
    });
  }
}
