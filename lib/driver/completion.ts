import { inspect } from 'node:util';

import {
  COMPLETION_QUEUE_ENTRY_BYTE_LENGTH_BYTE,
  COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_MASK,
  COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_SHIFT,
  COMPLETION_QUEUE_ENTRY_IMMEDIATE_DATA_BYTE,
  COMPLETION_QUEUE_ENTRY_OPCODE_BYTE,
  COMPLETION_QUEUE_ENTRY_OPCODE_MASK,
  COMPLETION_QUEUE_ENTRY_OPCODE_SHIFT,
  COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_MASK,
  COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_SHIFT,
  COMPLETION_QUEUE_ENTRY_PORT_MASK,
  COMPLETION_QUEUE_ENTRY_PORT_SHIFT,
  COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_BYTE,
  COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_MASK,
  COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT,
  COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_BYTE,
  COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_MASK,
  COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_SHIFT,
  COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_MASK,
  COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_SHIFT,
  COMPLETION_QUEUE_ENTRY_SOLICITED_MASK,
  COMPLETION_QUEUE_ENTRY_SOLICITED_SHIFT,
  COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_BYTE,
  COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_MASK,
  COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_SHIFT,
  COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_BYTE,
  COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_MASK,
  COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_SHIFT,
  COMPLETION_QUEUE_ENTRY_SOURCE_MAC_LOW_BYTE,
  COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_BYTE,
  COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_MASK,
  COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_SHIFT,
  COMPLETION_QUEUE_ENTRY_STATUS_MASK,
  COMPLETION_QUEUE_ENTRY_STATUS_SHIFT,
  COMPLETION_QUEUE_ENTRY_TIMESTAMP_HIGH_BYTE,
  COMPLETION_QUEUE_ENTRY_TIMESTAMP_LOW_BYTE,
  COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_MASK,
  COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_SHIFT,
  COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_MASK,
  COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_SHIFT,
  COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_MASK,
  COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_SHIFT,
  COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_MASK,
  COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_SHIFT,
  COMPLETION_QUEUE_ENTRY_WORK_QUEUE_BYTE,
  COMPLETION_QUEUE_ENTRY_WORK_QUEUE_MASK,
  COMPLETION_QUEUE_ENTRY_WORK_QUEUE_SHIFT,
  completionOpcodeNames,
  completionStatusNames,
  type CompletionOpcode,
  type CompletionStatus,
} from '../spec/index.ts';
import { namedValues } from './named_values.ts';

const dword = 4;
const high = 2 ** 32;
const enums = { status: completionStatusNames, opcode: completionOpcodeNames };

/**
 * A completion, filled in by {@link CompletionQueue.poll}. Where `status` is an error, only the first five fields are meant. It keeps
 * the DWORDs of the entry, and decodes a field when it is read: most users read four of them.
 */
export class Completion {
  // DWORDs of the entry, named by a field that they hold.
  private operation = 0;
  private queuePairAndPort = 0;
  private length = 0;
  private immediate = 0;
  private source = 0;
  private sequence = 0;
  private path = 0;
  private queue = 0;
  private timestampLow = 0;
  private timestampHigh = 0;
  private macLow = 0;
  private macHigh = 0;
  /** The identifier of the work request, in two halves, signed. For the driver. */
  identifierLow = 0;
  /** High half of the identifier, signed. For the driver. */
  identifierHigh = 0;

  /**
   * Takes the entry of a completion queue that begins at DWORD `at`. For the driver.
   * @param dwords the completion queue's ring; signed, as V8 keeps any of them without an allocation then. `| 0` spares a check of the
   * sum for each.
   */
  read(dwords: Int32Array, at: number): void {
    this.operation = dwords[(at + COMPLETION_QUEUE_ENTRY_OPCODE_BYTE / dword) | 0]!;
    this.queuePairAndPort = dwords[(at + COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_BYTE / dword) | 0]!;
    this.length = dwords[(at + COMPLETION_QUEUE_ENTRY_BYTE_LENGTH_BYTE / dword) | 0]!;
    this.sequence = dwords[(at + COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_BYTE / dword) | 0]!;
    this.queue = dwords[(at + COMPLETION_QUEUE_ENTRY_WORK_QUEUE_BYTE / dword) | 0]!;
    this.timestampLow = dwords[(at + COMPLETION_QUEUE_ENTRY_TIMESTAMP_LOW_BYTE / dword) | 0]!;
    this.timestampHigh = dwords[(at + COMPLETION_QUEUE_ENTRY_TIMESTAMP_HIGH_BYTE / dword) | 0]!;
    const ofReceive = this.workQueue !== 0;
    this.immediate = ofReceive ? dwords[(at + COMPLETION_QUEUE_ENTRY_IMMEDIATE_DATA_BYTE / dword) | 0]! : 0;
    this.source = ofReceive ? dwords[(at + COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_BYTE / dword) | 0]! : 0;
    this.path = ofReceive
      ? dwords[(at + COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_BYTE / dword) | 0]!
      : 0;
    this.macLow = ofReceive ? dwords[(at + COMPLETION_QUEUE_ENTRY_SOURCE_MAC_LOW_BYTE / dword) | 0]! : 0;
    this.macHigh = ofReceive ? dwords[(at + COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_BYTE / dword) | 0]! : 0;
  }

  /** The queue pair has another number that peers and programs know. */
  rename(queuePairNumber: number): void {
    this.queuePairAndPort =
      (this.queuePairAndPort &
        ~(COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_MASK << COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT)) |
      (queuePairNumber << COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT);
  }

  /** The number of the queue pair, as {@link QueuePair.number} gives it; 24 bits. */
  get queuePairNumber(): number {
    return (
      (this.queuePairAndPort >>> COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT) &
      COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_MASK
    );
  }

  /** 0: of the send queue; 1: of the receive queue. */
  get workQueue(): number {
    return (this.queue >>> COMPLETION_QUEUE_ENTRY_WORK_QUEUE_SHIFT) & COMPLETION_QUEUE_ENTRY_WORK_QUEUE_MASK;
  }

  /** Of the work request. In a send queue all before it are completed too, signaled or not. */
  get sequenceNumber(): number {
    return (
      (this.sequence >>> COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_SHIFT) &
      COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_MASK
    );
  }

  /** Success, or why the work request failed (InfiniBand volume 1, 11.6.2). */
  get status(): CompletionStatus {
    return ((this.operation >>> COMPLETION_QUEUE_ENTRY_STATUS_SHIFT) &
      COMPLETION_QUEUE_ENTRY_STATUS_MASK) as CompletionStatus;
  }

  /** More on a failure, of the device itself; 0: nothing. */
  get vendorError(): number {
    return (
      (this.operation >>> COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_SHIFT) &
      COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_MASK
    );
  }

  /** The operation that is complete. */
  get opcode(): CompletionOpcode {
    return ((this.operation >>> COMPLETION_QUEUE_ENTRY_OPCODE_SHIFT) &
      COMPLETION_QUEUE_ENTRY_OPCODE_MASK) as CompletionOpcode;
  }

  /** Bytes transferred. */
  get byteLength(): number {
    return this.length >>> 0;
  }

  /** Immediate data, opaque; or the key that was invalidated. */
  get immediateData(): number {
    return this.immediate >>> 0;
  }

  /** `immediateData` is immediate data of the peer. */
  get withImmediate(): boolean {
    return (
      ((this.operation >>> COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_SHIFT) &
        COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_MASK) !==
      0
    );
  }

  /** `immediateData` is the key that the peer invalidated. */
  get withInvalidate(): boolean {
    return (
      ((this.operation >>> COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_SHIFT) &
        COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_MASK) !==
      0
    );
  }

  /** A GRH lies before the data that was received (UD). */
  get withGlobalRouteHeader(): boolean {
    return (
      ((this.operation >>> COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_SHIFT) &
        COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_MASK) !==
      0
    );
  }

  /** The peer asked for a solicited event. */
  get solicited(): boolean {
    return (
      ((this.operation >>> COMPLETION_QUEUE_ENTRY_SOLICITED_SHIFT) &
        COMPLETION_QUEUE_ENTRY_SOLICITED_MASK) !==
      0
    );
  }

  /** Where it was received, from 1 (UD). */
  get port(): number {
    return (this.queuePairAndPort >>> COMPLETION_QUEUE_ENTRY_PORT_SHIFT) & COMPLETION_QUEUE_ENTRY_PORT_MASK;
  }

  /** Entry of the port's P_Key table (UD). */
  get partitionKeyIndex(): number {
    return (
      (this.sequence >>> COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_SHIFT) &
      COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_MASK
    );
  }

  /** Where it came from (UD). */
  get sourceQueuePair(): number {
    return (
      (this.source >>> COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_SHIFT) &
      COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_MASK
    );
  }

  /** LID of the sender, 16 bits (UD on InfiniBand). */
  get sourceLocalIdentifier(): number {
    return (
      (this.path >>> COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_SHIFT) &
      COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_MASK
    );
  }

  /** On Ethernet, where there is a GRH: bytes 0 to 3 of the sender's MAC address. */
  get sourceMacLow(): number {
    return this.macLow >>> 0;
  }

  /** Bytes 4 and 5 of the MAC address. */
  get sourceMacHigh(): number {
    return (
      (this.macHigh >>> COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_SHIFT) &
      COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_MASK
    );
  }

  /** 0 to 15 (UD). */
  get serviceLevel(): number {
    return (
      (this.source >>> COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_SHIFT) & COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_MASK
    );
  }

  /** Low bits of the LID that it was sent to (UD on InfiniBand). */
  get destinationPathBits(): number {
    return (
      (this.path >>> COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_SHIFT) &
      COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_MASK
    );
  }

  /** When the device wrote it: clock ticks, exact up to 2^53. */
  get timestamp(): number {
    return (this.timestampLow >>> 0) + (this.timestampHigh >>> 0) * high;
  }

  /** Identifier of the work request, low 32 bits. */
  get wrIdLow(): number {
    return this.identifierLow >>> 0;
  }

  /** High 32 bits of the identifier. */
  get wrIdHigh(): number {
    return this.identifierHigh >>> 0;
  }

  /** Identifier of the work request. @throws RangeError above 2^53 − 1; `wrIdBig` is exact */
  get wrId(): number {
    if (this.identifierHigh === 0) return this.identifierLow >>> 0;
    const wrId = this.wrIdLow + this.wrIdHigh * high;
    if (Number.isSafeInteger(wrId)) return wrId;
    throw new RangeError(`wrId ${this.wrIdBig} is above 2^53 - 1: read wrIdBig`);
  }

  /** Identifier of the work request, exact. */
  get wrIdBig(): bigint {
    return BigInt(this.wrIdLow) | (BigInt(this.wrIdHigh) << 32n);
  }

  /** MAC address of the sender (UD on Ethernet), 6 bytes. */
  get sourceMac(): Uint8Array {
    const view = new DataView(new ArrayBuffer(6));
    view.setUint32(0, this.sourceMacLow, true);
    view.setUint16(4, this.sourceMacHigh, true);
    return new Uint8Array(view.buffer);
  }

  /** Its fields, with the names of status and opcode. */
  toJSON(): object {
    return namedValues<object>(Object.fromEntries(fields.map((field) => [field, this[field]])), enums);
  }

  [inspect.custom](): object {
    return this.toJSON();
  }
}

const fields = [
  'queuePairNumber',
  'workQueue',
  'sequenceNumber',
  'status',
  'vendorError',
  'opcode',
  'byteLength',
  'immediateData',
  'withImmediate',
  'withInvalidate',
  'withGlobalRouteHeader',
  'solicited',
  'port',
  'partitionKeyIndex',
  'sourceQueuePair',
  'sourceLocalIdentifier',
  'sourceMacLow',
  'sourceMacHigh',
  'serviceLevel',
  'destinationPathBits',
  'timestamp',
  'wrIdLow',
  'wrIdHigh',
] as const satisfies readonly (keyof Completion)[];
