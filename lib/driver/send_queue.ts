import type { CommandWriter, DmaMemory } from '../board/addon.ts';
import {
  BIND_ENTRY_BYTES,
  COMMAND_BYTES,
  COMMAND_HEADER_BYTES,
  COMMAND_HEADER_SEND_QUEUE_SEQUENCE_NUMBER_BYTE,
  COMMAND_HEADER_SIGNALED_BYTE,
  COMMAND_HEADER_SIGNALED_SHIFT,
  COMMAND_PAYLOAD_BYTES,
  GATHER_ENTRIES,
  GATHER_ENTRY_BYTES,
  QUEUE_ENTRIES_MAXIMUM,
  WORK_QUEUE_REFERENCE_BYTES,
  WORK_QUEUE_REFERENCE_LENGTH_SHIFT,
  WORK_QUEUE_REFERENCE_OFFSET_BYTE,
  WORK_QUEUE_REFERENCE_SEQUENCE_NUMBER_BYTE,
} from '../spec/index.ts';
import { checkRange, inElement, invalid, wrongType } from './arguments.ts';
import {
  encodeChecksum,
  encodeCommand,
  payloadBytes,
  type CommandOrigin,
  type SendRequest,
} from './command.ts';
import type { DeviceFunction } from './device_function.ts';
import { dword } from './dword.ts';
import { VerbsError } from './errors.ts';
import { checkList } from './gather_list.ts';
import type { VirtualCollectBuffer } from './virtual_collect_buffers.ts';
import { placeEntries } from './work_queue.ts';
import { WorkRequestIds, type WorkRequestIdHolder } from './work_request_ids.ts';

/** Sizes of a send queue. */
export interface SendQueueSizes {
  /** Number of work requests, rounded up to a power of two, at most 32768. */
  readonly entries: number;
  /** Maximum entries of a gather list, up to 16. */
  readonly gatherEntries: number;
  /** Maximum inline data, up to 256 B. */
  readonly inlineBytes: number;
  /** The device signals every work request. */
  readonly signalAll?: boolean;
}

// V8 folds a module's own constants where they are used, and loads an imported one at every use.
const encode = encodeCommand;
const bytesOf = payloadBytes;
const sequenceNumberDword = COMMAND_HEADER_SEND_QUEUE_SEQUENCE_NUMBER_BYTE / dword;

/** A work request that was checked and encoded once. */
export interface PreparedCommand {
  /** The command, with sequence number 0. */
  readonly dwords: Uint32Array;
  /** Bytes of the command, rounded up to 8. */
  readonly bytes: number;
  /** Bytes of header and payload. */
  readonly length: number;
  /** Whether it has a doorbell checksum, which covers the sequence number. */
  readonly isSummed: boolean;
  readonly wrId: number | bigint;
}

/**
 * The send queue of a queue pair in host memory: references in a circular buffer, and the work queue entries that they refer to
 * (US6789143). A command is encoded once, in its entry. The driver copies the entry to a virtual collect buffer; the device fetches it if
 * it found no physical collect buffer. Sequence numbers are 16 bits, free-running.
 */
export class SendQueue {
  /** log2 of the entries. */
  readonly entriesLog2: number;
  /** Circular buffer of references. */
  readonly references: DmaMemory;
  /** Work queue entries. */
  readonly entryArea: DmaMemory;
  readonly inlineBytes: number;
  readonly gatherEntries: number;
  private readonly device: DeviceFunction;
  private readonly entries: number;
  private readonly signalAll: boolean;
  private readonly referenceDwords: Uint32Array;
  private readonly dwords: Uint32Array;
  private readonly bytes: Uint8Array;
  /** Offset of the entry of each slot. */
  private readonly places: Uint32Array;
  private readonly wrIds: WorkRequestIds;
  private readonly writer: CommandWriter;
  /** The prepared command that each slot holds; undefined: none. */
  private prepared: (PreparedCommand | undefined)[] | undefined;
  private next = 0;
  private completed = -1;
  /** Length of the last encoded command, rounded up to 8. */
  private lastBytes = 0;

  /** @throws VerbsError EINVAL: a size beyond what the device has */
  constructor(
    device: DeviceFunction,
    { entries, gatherEntries, inlineBytes, signalAll = false }: SendQueueSizes,
  ) {
    checkRange('createQueuePair', 'maxSendWorkRequests', entries, 1, QUEUE_ENTRIES_MAXIMUM);
    checkRange('createQueuePair', 'maxGatherEntries', gatherEntries, 0, GATHER_ENTRIES);
    checkRange('createQueuePair', 'maxInlineData', inlineBytes, 0, COMMAND_PAYLOAD_BYTES);
    this.device = device;
    this.signalAll = signalAll;
    this.entriesLog2 = Math.ceil(Math.log2(entries));
    this.entries = 1 << this.entriesLog2;
    this.gatherEntries = gatherEntries;
    this.inlineBytes = inlineBytes;
    const largest =
      COMMAND_HEADER_BYTES + Math.max(inlineBytes, gatherEntries * GATHER_ENTRY_BYTES, BIND_ENTRY_BYTES);
    this.wrIds = new WorkRequestIds(this.entries);
    const { places, areaBytes } = placeEntries(this.entries, largest);
    this.places = places;
    this.references = device.allocate(this.entries * WORK_QUEUE_REFERENCE_BYTES);
    this.entryArea = device.allocate(areaBytes);
    this.referenceDwords = new Uint32Array(this.references.buffer);
    this.dwords = new Uint32Array(this.entryArea.buffer);
    this.bytes = new Uint8Array(this.entryArea.buffer);
    this.writer = device.board.commandWriter(this.entryArea, device.virtualCollectBufferRegion.bar);
  }

  /** Number of work requests that it holds. */
  get capacity(): number {
    return this.entries;
  }

  /** Number of posted work requests that have not completed. */
  get outstanding(): number {
    return (this.next - this.completed - 1) & 0xffff;
  }

  /** Changes whenever a work request is posted or completed. */
  get mark(): number {
    return this.next * 0x1_0000 + (this.completed & 0xffff);
  }

  /** Sequence number of the next work request. */
  get nextSequenceNumber(): number {
    return this.next;
  }

  /**
   * Posts a work request: encodes it in its entry and copies it to a virtual collect buffer. One native call.
   * @returns its sequence number
   * @throws VerbsError ENOMEM: the queue is full; EINVAL: too much data or too many entries for the queue; TypeError, RangeError: wrId,
   * data. Nothing is posted then.
   */
  post(origin: CommandOrigin, buffer: VirtualCollectBuffer, request: SendRequest): number {
    const sequenceNumber = this.next;
    const slot = this.put(origin, request);
    this.write(buffer, this.places[slot]!, this.lastBytes);
    return sequenceNumber;
  }

  /**
   * Checks and encodes a work request once; see {@link postPrepared}. Inline data is copied now.
   * @throws VerbsError, TypeError, RangeError as {@link post}
   */
  prepare(origin: CommandOrigin, request: SendRequest): PreparedCommand {
    this.checkData(request);
    this.wrIds.check(request.wrId);
    const dwords = new Uint32Array(COMMAND_BYTES / dword);
    const bytes = encodeCommand(dwords, new Uint8Array(dwords.buffer), 0, origin, 0, request);
    this.prepared ??= [];
    return {
      dwords: dwords.subarray(0, bytes / dword),
      bytes,
      length: COMMAND_HEADER_BYTES + payloadBytes(request),
      isSummed: request.checksum === true,
      wrId: request.wrId ?? 0,
    };
  }

  /**
   * Posts a prepared work request. Does not rewrite a slot that still holds it.
   * @returns its sequence number
   * @throws VerbsError ENOMEM: the queue is full; RangeError: wrId. Nothing is posted then.
   */
  postPrepared(
    origin: CommandOrigin,
    buffer: VirtualCollectBuffer,
    command: PreparedCommand,
    wrId: number | bigint,
  ): number {
    if (this.outstanding >= this.entries) throw this.full();
    const sequenceNumber = this.next;
    const slot = sequenceNumber & (this.entries - 1);
    const place = this.places[slot]!;
    this.wrIds.set(slot, wrId);
    if (this.prepared![slot] !== command) {
      this.dwords.set(command.dwords, place / dword);
      this.prepared![slot] = command;
    }
    const at = (place + COMMAND_HEADER_SEND_QUEUE_SEQUENCE_NUMBER_BYTE) / dword;
    this.dwords[at] = command.dwords[sequenceNumberDword]! | sequenceNumber;
    if (command.isSummed) encodeChecksum(this.dwords, place, command.bytes, origin.checksumSecret);
    this.refer(slot, place, sequenceNumber, command.length);
    this.next = (sequenceNumber + 1) & 0xffff;
    this.write(buffer, place, command.bytes);
    return sequenceNumber;
  }

  /**
   * Posts work requests with one doorbell: the device fetches them from the queue.
   * @returns the number posted: all
   * @throws VerbsError as post(), with `posted`, the number of requests before the faulty one; those are posted
   */
  postBatch(origin: CommandOrigin, buffer: VirtualCollectBuffer, requests: readonly SendRequest[]): number {
    let posted = 0;
    try {
      for (; posted < requests.length; posted++) this.put(origin, requests[posted]!);
    } catch (error) {
      inElement('requests', posted, error as Error);
      throw Object.assign(error as Error, { posted });
    } finally {
      if (posted > 0) buffer.start(origin.queuePairNumber, (this.next - 1) & 0xffff);
    }
    return posted;
  }

  /** Rings the doorbell for all outstanding work requests. */
  startAll(queuePairNumber: number, buffer: VirtualCollectBuffer): void {
    if (this.outstanding > 0) buffer.start(queuePairNumber, (this.next - 1) & 0xffff);
  }

  /**
   * Handles a completion with this sequence number: it completes this and all earlier work requests and frees their slots.
   * @param holder gets the wrId of the request, if needed
   */
  completedThrough(sequenceNumber: number, holder?: WorkRequestIdHolder): void {
    if (holder !== undefined) this.wrIds.get(sequenceNumber & (this.entries - 1), holder);
    this.completed = sequenceNumber;
  }

  /** Empties the queue and restarts at sequence number 0, after a reset of its queue pair. */
  reset(): void {
    this.next = 0;
    this.completed = -1;
  }

  /** Frees the queue: the device no longer accesses it. */
  free(): void {
    this.device.free(this.references);
    this.device.free(this.entryArea);
  }

  /** Encodes a work request and its reference. Returns its slot. */
  private put(origin: CommandOrigin, request: SendRequest): number {
    if (this.outstanding >= this.entries) throw this.full();
    this.checkData(request);
    const sequenceNumber = this.next;
    const slot = sequenceNumber & (this.entries - 1);
    const place = this.places[slot]!;
    this.wrIds.set(slot, request.wrId);
    // Before the slot changes, because encoding a request that is then refused changes it too.
    if (this.prepared !== undefined) this.prepared[slot] = undefined;
    this.lastBytes = encode(this.dwords, this.bytes, place, origin, sequenceNumber, request);
    this.refer(slot, place, sequenceNumber, COMMAND_HEADER_BYTES + bytesOf(request));
    this.next = (sequenceNumber + 1) & 0xffff;
    return slot;
  }

  /** Stores the reference to an entry. */
  private refer(slot: number, place: number, sequenceNumber: number, length: number): void {
    const reference = (slot * WORK_QUEUE_REFERENCE_BYTES) / dword;
    this.referenceDwords[reference + WORK_QUEUE_REFERENCE_OFFSET_BYTE / dword] = place;
    this.referenceDwords[reference + WORK_QUEUE_REFERENCE_SEQUENCE_NUMBER_BYTE / dword] =
      sequenceNumber | (length << WORK_QUEUE_REFERENCE_LENGTH_SHIFT);
  }

  /** Copies a command to a virtual collect buffer. One native call. */
  private write(buffer: VirtualCollectBuffer, place: number, bytes: number): void {
    const { words, writeCommand } = this.writer.calls;
    words[0] = this.writer.number;
    words[1] = buffer.offset;
    words[2] = place;
    words[3] = bytes;
    writeCommand();
  }

  private checkData({ inlineData, gather }: SendRequest): void {
    if (inlineData !== undefined) {
      if (inlineData.BYTES_PER_ELEMENT !== 1) throw wrongType('inlineData', 'a Uint8Array', inlineData);
      if (inlineData.length > this.inlineBytes) {
        throw tooLong('inlineData', `${this.inlineBytes} B (maxInlineData)`, inlineData.length);
      }
    }
    if (gather === undefined) return;
    if (!Array.isArray(gather)) checkList('gather', gather);
    if (gather.length > this.gatherEntries) {
      throw tooLong('gather', `${this.gatherEntries} (maxGatherEntries)`, gather.length);
    }
  }

  private full(): VerbsError {
    const problem = `the send queue is full: ${this.entries} work requests are not completed`;
    const [detail, expected] = this.noneIsSignaled()
      ? [
          ', and none of them is signaled, so that no completion will free them',
          'at least one of them signaled, signalAll, or a queue pair that is reset',
        ]
      : ['', 'completions polled, or a larger queue'];
    return new VerbsError(`${problem}${detail}; expected: ${expected}`, {
      code: 'ENOMEM',
      verb: 'postSend',
      expected,
    });
  }

  private noneIsSignaled(): boolean {
    const isSignaled = (place: number): boolean =>
      (this.dwords[(place + COMMAND_HEADER_SIGNALED_BYTE) / dword]! &
        (1 << COMMAND_HEADER_SIGNALED_SHIFT)) !==
      0;
    return !this.signalAll && !this.places.some(isSignaled);
  }
}

function tooLong(list: string, most: string, length: number): VerbsError {
  return invalid('postSend', `${list}.length`, `at most ${most}`, length);
}
