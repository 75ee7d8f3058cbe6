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
  WORK_QUEUE_REFERENCE_BYTES,
  WORK_QUEUE_REFERENCE_LENGTH_SHIFT,
  WORK_QUEUE_REFERENCE_OFFSET_BYTE,
  WORK_QUEUE_REFERENCE_SEQUENCE_NUMBER_BYTE,
} from '../spec/index.ts';
import { checkKeys, checkRange, invalid } from './arguments.ts';
import type { GatherEntry } from './command.ts';
import type { DeviceFunction } from './device_function.ts';
import { dword } from './dword.ts';
import { VerbsError } from './errors.ts';
import { checkList, encodeGatherList } from './gather_list.ts';
import { placeEntries } from './work_queue.ts';
import { WorkRequestIds } from './work_request_ids.ts';
import { storeRelease } from './memory_order.ts';

/** Sizes of a receive queue. */
export interface ReceiveQueueSizes {
  /** Number of work requests, rounded up to a power of two, at most 32768. */
  readonly entries: number;
  /** Maximum entries of a scatter list, up to 16. */
  readonly scatterEntries: number;
}

/** A receive work request. */
export interface ReceiveRequest {
  /** Memory for the data, in this order; empty: for a message without data, or an RDMA WRITE with immediate. */
  readonly scatter?: readonly GatherEntry[] | undefined;
  /** Identifier that the completion returns. Default 0. */
  readonly wrId?: number | bigint | undefined;
}

/** A work request that was checked and encoded once. */
export interface PreparedEntry {
  /** Its encoded entry, with sequence number 0. */
  readonly dwords: Uint32Array;
  /** Length of the entry in bytes. */
  readonly bytes: number;
  readonly wrId: number | bigint;
}

/** Owner of the area, for error messages. */
interface AreaOwner {
  /** Verb that creates it. */
  readonly verb: string;
  /** Attributes: work requests, scatter entries. */
  readonly names: readonly [string, string];
}

const requestKeys: ReadonlySet<string> = new Set<keyof ReceiveRequest>(['scatter', 'wrId']);
// V8 folds a module's own constants where they are used, and loads an imported one at every use.
const store = storeRelease;
const encodeList = encodeGatherList;

/**
 * The memory of a receive queue: references in a circular buffer, the entries that they refer to (US6789143), and a tail record that the
 * driver stores last and the device reads when it needs it. A post only stores to memory.
 */
export class ReceiveArea {
  /** log2 of the entries. */
  readonly entriesLog2: number;
  /** Number of work requests, and of places for their entries. */
  readonly entries: number;
  readonly scatterEntries: number;
  /** Circular buffer of references. */
  readonly references: DmaMemory;
  /** Receive entries. */
  readonly entryArea: DmaMemory;
  /** The tail record. */
  readonly tail: DmaMemory;
  /** Indexed by place. */
  readonly wrIds: WorkRequestIds;
  private readonly device: DeviceFunction;
  private readonly referenceDwords: Uint32Array;
  private readonly dwords: Uint32Array;
  private readonly tailDwords: Int32Array;
  /** Offset of the entry of each place, bytes. */
  private readonly places: Uint32Array;
  /** The prepared work request that each place holds; undefined: none. */
  private prepared: (PreparedEntry | undefined)[] | undefined;

  /**
   * @param tail its tail record; default: a new one
   * @throws VerbsError EINVAL: a size beyond the device's limit
   */
  constructor(
    device: DeviceFunction,
    { entries, scatterEntries }: ReceiveQueueSizes,
    { verb, names }: AreaOwner,
    tail?: DmaMemory,
  ) {
    checkRange(verb, names[0], entries, 1, QUEUE_ENTRIES_MAXIMUM);
    checkRange(verb, names[1], scatterEntries, 0, GATHER_ENTRIES);
    this.device = device;
    this.entriesLog2 = Math.ceil(Math.log2(entries));
    this.entries = 1 << this.entriesLog2;
    this.scatterEntries = scatterEntries;
    const largest = RECEIVE_ENTRY_HEADER_BYTES + scatterEntries * GATHER_ENTRY_BYTES;
    const { places, areaBytes } = placeEntries(this.entries, largest);
    this.places = places;
    this.references = device.allocate(this.entries * WORK_QUEUE_REFERENCE_BYTES);
    this.entryArea = device.allocate(areaBytes);
    this.tail = tail ?? device.allocate(RECEIVE_QUEUE_TAIL_BYTES);
    this.referenceDwords = new Uint32Array(this.references.buffer);
    this.dwords = new Uint32Array(this.entryArea.buffer);
    this.tailDwords = new Int32Array(this.tail.buffer);
    this.wrIds = new WorkRequestIds(this.entries);
  }

  /**
   * Encodes a work request at a place of the entry area, and the reference to it.
   * @throws VerbsError EINVAL: too many entries for the queue; RangeError: wrId. Nothing that the device reads has changed then
   */
  put(request: ReceiveRequest, sequenceNumber: number, place: number): void {
    this.wrIds.set(place, request.wrId);
    const begin = this.places[place]!;
    // Before the place changes, because encoding a request that is then refused changes it too.
    if (this.prepared !== undefined) this.prepared[place] = undefined;
    const length = this.encode(request, this.dwords, begin / dword);
    this.dwords[(begin + RECEIVE_ENTRY_HEADER_SEQUENCE_NUMBER_BYTE) / dword] = sequenceNumber;
    this.refer(sequenceNumber, begin, length);
  }

  /** Checks and encodes a work request once, to be posted many times. @throws as {@link put} */
  prepare(request: ReceiveRequest): PreparedEntry {
    this.wrIds.check(request.wrId);
    const dwords = new Uint32Array(
      (RECEIVE_ENTRY_HEADER_BYTES + GATHER_ENTRIES * GATHER_ENTRY_BYTES) / dword,
    );
    const bytes = this.encode(request, dwords, 0);
    this.prepared ??= [];
    return { dwords: dwords.subarray(0, bytes / dword), bytes, wrId: request.wrId ?? 0 };
  }

  /** As {@link put}; does not rewrite a place that still holds the prepared work request. @throws RangeError: wrId */
  putPrepared(request: PreparedEntry, wrId: number | bigint, sequenceNumber: number, place: number): void {
    this.wrIds.set(place, wrId);
    const begin = this.places[place]!;
    if (this.prepared![place] !== request) {
      this.dwords.set(request.dwords, begin / dword);
      this.prepared![place] = request;
    }
    this.dwords[(begin + RECEIVE_ENTRY_HEADER_SEQUENCE_NUMBER_BYTE) / dword] = sequenceNumber;
    this.refer(sequenceNumber, begin, request.bytes);
  }

  /** Encodes the entry of a work request at DWORD `at`, without its sequence number. Returns its length in bytes. */
  private encode(request: ReceiveRequest, dwords: Uint32Array, at: number): number {
    const { scatter, wrId } = request;
    let keys = (scatter === undefined ? 0 : 1) + (wrId === undefined ? 0 : 1);
    for (const _ in request) keys--;
    if (keys !== 0) checkKeys(requestKeys, request);
    let count = 0;
    if (scatter !== undefined) {
      if (!Array.isArray(scatter)) checkList('scatter', scatter);
      count = scatter.length;
      if (count > this.scatterEntries) throw this.tooLong(count);
      encodeList(dwords, at + RECEIVE_ENTRY_HEADER_BYTES / dword, 'scatter', scatter);
    }
    dwords[at + RECEIVE_ENTRY_HEADER_SCATTER_COUNT_BYTE / dword] = count;
    return RECEIVE_ENTRY_HEADER_BYTES + count * GATHER_ENTRY_BYTES;
  }

  /** Stores the reference to an entry. */
  private refer(sequenceNumber: number, begin: number, bytes: number): void {
    const reference = this.referenceAt(sequenceNumber);
    this.referenceDwords[reference + WORK_QUEUE_REFERENCE_OFFSET_BYTE / dword] = begin;
    this.referenceDwords[reference + WORK_QUEUE_REFERENCE_SEQUENCE_NUMBER_BYTE / dword] =
      sequenceNumber | (bytes << WORK_QUEUE_REFERENCE_LENGTH_SHIFT);
  }

  /**
   * Creates a larger area with the same tail record. Entries keep their places and references.
   * @param next sequence number of the next work request to post
   * @throws VerbsError EINVAL: a size beyond the device's limit
   */
  grown(entries: number, next: number, owner: AreaOwner): ReceiveArea {
    const sizes = { entries, scatterEntries: this.scatterEntries };
    const made = new ReceiveArea(this.device, sizes, owner, this.tail);
    made.dwords.set(this.dwords);
    made.wrIds.copy(this.wrIds);
    if (this.prepared !== undefined) made.prepared = [...this.prepared];
    for (let back = 1; back <= this.entries; back++) {
      const from = this.referenceAt(next - back);
      const reference = this.referenceDwords.subarray(from, from + WORK_QUEUE_REFERENCE_BYTES / dword);
      made.referenceDwords.set(reference, made.referenceAt(next - back));
    }
    return made;
  }

  /**
   * Stores the tail after the entries, so that the device sees it after them. @param next sequence number of the next work request to post
   */
  storeTail(next: number): void {
    store(this.tailDwords, RECEIVE_QUEUE_TAIL_TAIL_BYTE / dword, next);
  }

  /** Frees the area: the device no longer accesses it. */
  free(): void {
    this.freeEntries();
    this.device.free(this.tail);
  }

  /** As free(), if another area uses its tail record. */
  freeEntries(): void {
    this.device.free(this.references);
    this.device.free(this.entryArea);
  }

  /** The error for a queue that accepts at most `size`. */
  full(size = this.entries): VerbsError {
    return new VerbsError(`the receive queue is full: ${size} work requests are not completed`, {
      code: 'ENOMEM',
      verb: 'postReceive',
      expected: 'completions polled, or a larger queue',
    });
  }

  /** Position of the reference to a work request, in DWORDs. */
  private referenceAt(sequenceNumber: number): number {
    return ((sequenceNumber & (this.entries - 1)) * WORK_QUEUE_REFERENCE_BYTES) / dword;
  }

  private tooLong(count: number): VerbsError {
    const most = `at most ${this.scatterEntries} (maxScatterEntries)`;
    return invalid('postReceive', 'scatter.length', most, count);
  }
}
