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
import { dword } from './dword.ts';
import { namedValues } from './named_values.ts';

const high = 2 ** 32;
const enums = { status: completionStatusNames, opcode: completionOpcodeNames };

/**
 * A completion, filled in by {@link CompletionQueue.poll}. If `status` is an error, only the first five fields are valid. It stores the
 * DWORDs of the entry and decodes a field when it is read, because most programs read only four of them.
 */
export class Completion {
  // DWORDs of the entry, each named by a field that it holds.
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
  /** Identifier of the work request, in two signed halves. For the driver. */
  identifierLow = 0;
  /** High half of the identifier, signed. For the driver. */
  identifierHigh = 0;

  /**
   * Copies the completion queue entry that begins at DWORD `at`. For the driver.
   * @param dwords the completion queue's ring; signed, so that V8 stores any value without an allocation. `| 0` avoids an overflow check of
   * the sum.
   */
  read(dwords: Int32Array, at: number): void {
    this.operation = dwords[(at + COMPLETION_QUEUE_ENTRY_OPCODE_BYTE / dword) | 0]!;
    this.queuePairAndPort = dwords[(at + COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_BYTE / dword) | 0]!;
    this.length = dwords[(at + COMPLETION_QUEUE_ENTRY_BYTE_LENGTH_BYTE / dword) | 0]!;
    this.sequence = dwords[(at + COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_BYTE / dword) | 0]!;
    this.queue = dwords[(at + COMPLETION_QUEUE_ENTRY_WORK_QUEUE_BYTE / dword) | 0]!;
    this.timestampLow = dwords[(at + COMPLETION_QUEUE_ENTRY_TIMESTAMP_LOW_BYTE / dword) | 0]!;
    this.timestampHigh = dwords[(at + COMPLETION_QUEUE_ENTRY_TIMESTAMP_HIGH_BYTE / dword) | 0]!;
    if (this.workQueue === 0) {
      this.immediate = 0;
      this.source = 0;
      this.path = 0;
      this.macLow = 0;
      this.macHigh = 0;
      return;
    }
    this.immediate = dwords[(at + COMPLETION_QUEUE_ENTRY_IMMEDIATE_DATA_BYTE / dword) | 0]!;
    this.source = dwords[(at + COMPLETION_QUEUE_ENTRY_SOURCE_QUEUE_PAIR_BYTE / dword) | 0]!;
    this.path = dwords[(at + COMPLETION_QUEUE_ENTRY_SOURCE_LOCAL_IDENTIFIER_BYTE / dword) | 0]!;
    this.macLow = dwords[(at + COMPLETION_QUEUE_ENTRY_SOURCE_MAC_LOW_BYTE / dword) | 0]!;
    this.macHigh = dwords[(at + COMPLETION_QUEUE_ENTRY_SOURCE_MAC_HIGH_BYTE / dword) | 0]!;
  }

  /** Replaces the queue pair number by the one that peers and programs know. */
  rename(queuePairNumber: number): void {
    this.queuePairAndPort =
      (this.queuePairAndPort &
        ~(COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_MASK << COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT)) |
      (queuePairNumber << COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT);
  }

  /** Queue pair number, 24 bits, as in {@link QueuePair.number}. */
  get queuePairNumber(): number {
    return (
      (this.queuePairAndPort >>> COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_SHIFT) &
      COMPLETION_QUEUE_ENTRY_QUEUE_PAIR_NUMBER_MASK
    );
  }

  /** 0: the send queue; 1: the receive queue. */
  get workQueue(): number {
    return (this.queue >>> COMPLETION_QUEUE_ENTRY_WORK_QUEUE_SHIFT) & COMPLETION_QUEUE_ENTRY_WORK_QUEUE_MASK;
  }

  /** Sequence number of the work request. In a send queue it also completes all earlier work requests, signaled or not. */
  get sequenceNumber(): number {
    return (
      (this.sequence >>> COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_SHIFT) &
      COMPLETION_QUEUE_ENTRY_SEQUENCE_NUMBER_MASK
    );
  }

  /** Success, or the reason of the failure (InfiniBand volume 1, 11.6.2). */
  get status(): CompletionStatus {
    return ((this.operation >>> COMPLETION_QUEUE_ENTRY_STATUS_SHIFT) &
      COMPLETION_QUEUE_ENTRY_STATUS_MASK) as CompletionStatus;
  }

  /** Detail of a failure from the device; 0: none. */
  get vendorError(): number {
    return (
      (this.operation >>> COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_SHIFT) &
      COMPLETION_QUEUE_ENTRY_VENDOR_ERROR_MASK
    );
  }

  /** The completed operation. */
  get opcode(): CompletionOpcode {
    return ((this.operation >>> COMPLETION_QUEUE_ENTRY_OPCODE_SHIFT) &
      COMPLETION_QUEUE_ENTRY_OPCODE_MASK) as CompletionOpcode;
  }

  /** Number of bytes transferred. */
  get byteLength(): number {
    return this.length >>> 0;
  }

  /** Immediate data, opaque; or the key that was invalidated. */
  get immediateData(): number {
    return this.immediate >>> 0;
  }

  /** `immediateData` holds immediate data of the peer. */
  get withImmediate(): boolean {
    return (
      ((this.operation >>> COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_SHIFT) &
        COMPLETION_QUEUE_ENTRY_WITH_IMMEDIATE_MASK) !==
      0
    );
  }

  /** `immediateData` holds the key that the peer invalidated. */
  get withInvalidate(): boolean {
    return (
      ((this.operation >>> COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_SHIFT) &
        COMPLETION_QUEUE_ENTRY_WITH_INVALIDATE_MASK) !==
      0
    );
  }

  /** A GRH precedes the received data (UD). */
  get withGlobalRouteHeader(): boolean {
    return (
      ((this.operation >>> COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_SHIFT) &
        COMPLETION_QUEUE_ENTRY_WITH_GLOBAL_ROUTE_HEADER_MASK) !==
      0
    );
  }

  /** The peer requested a solicited event. */
  get solicited(): boolean {
    return (
      ((this.operation >>> COMPLETION_QUEUE_ENTRY_SOLICITED_SHIFT) &
        COMPLETION_QUEUE_ENTRY_SOLICITED_MASK) !==
      0
    );
  }

  /** Port that received the datagram, from 1 (UD). */
  get port(): number {
    return (this.queuePairAndPort >>> COMPLETION_QUEUE_ENTRY_PORT_SHIFT) & COMPLETION_QUEUE_ENTRY_PORT_MASK;
  }

  /** Index in the port's P_Key table (UD). */
  get partitionKeyIndex(): number {
    return (
      (this.sequence >>> COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_SHIFT) &
      COMPLETION_QUEUE_ENTRY_PARTITION_KEY_INDEX_MASK
    );
  }

  /** Queue pair number of the sender (UD). */
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

  /** On Ethernet, if there is a GRH: bytes 0 to 3 of the sender's MAC address. */
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

  /** Service level, 0 to 15 (UD). */
  get serviceLevel(): number {
    return (
      (this.source >>> COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_SHIFT) & COMPLETION_QUEUE_ENTRY_SERVICE_LEVEL_MASK
    );
  }

  /** Low bits of the destination LID (UD on InfiniBand). */
  get destinationPathBits(): number {
    return (
      (this.path >>> COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_SHIFT) &
      COMPLETION_QUEUE_ENTRY_DESTINATION_PATH_BITS_MASK
    );
  }

  /** Time at which the device wrote the completion: clock ticks, exact up to 2^53. */
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

  /** Returns its fields, with the names of status and opcode. */
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
