import {
  BIND_ENTRY_ACCESS_FLAGS_BYTE,
  BIND_ENTRY_ADDRESS_HIGH_BYTE,
  BIND_ENTRY_ADDRESS_LOW_BYTE,
  BIND_ENTRY_BYTES,
  BIND_ENTRY_LENGTH_HIGH_BYTE,
  BIND_ENTRY_LENGTH_LOW_BYTE,
  BIND_ENTRY_REGION_KEY_BYTE,
  COMMAND_HEADER_ADDRESS_HANDLE_BYTE,
  COMMAND_HEADER_BYTES,
  COMMAND_HEADER_CHECKSUM_BYTE,
  COMMAND_HEADER_CHECKSUM_ENABLE_SHIFT,
  COMMAND_HEADER_COMPARE_ADD_HIGH_BYTE,
  COMMAND_HEADER_COMPARE_ADD_LOW_BYTE,
  COMMAND_HEADER_DESTINATION_QUEUE_PAIR_BYTE,
  COMMAND_HEADER_FENCE_SHIFT,
  COMMAND_HEADER_GATHER_COUNT_SHIFT,
  COMMAND_HEADER_IMMEDIATE_DATA_BYTE,
  COMMAND_HEADER_INLINE_DATA_SHIFT,
  COMMAND_HEADER_LENGTH_SHIFT,
  COMMAND_HEADER_OPCODE_BYTE,
  COMMAND_HEADER_QUALITY_OF_SERVICE_LEVEL_SHIFT,
  COMMAND_HEADER_QUEUE_KEY_BYTE,
  COMMAND_HEADER_QUEUE_PAIR_NUMBER_SHIFT,
  COMMAND_HEADER_REMOTE_ADDRESS_HIGH_BYTE,
  COMMAND_HEADER_REMOTE_ADDRESS_LOW_BYTE,
  COMMAND_HEADER_REMOTE_KEY_BYTE,
  COMMAND_HEADER_SEND_QUEUE_SEQUENCE_NUMBER_BYTE,
  COMMAND_HEADER_SIGNALED_BYTE,
  COMMAND_HEADER_SIGNALED_SHIFT,
  COMMAND_HEADER_SOLICITED_SHIFT,
  COMMAND_HEADER_SWAP_HIGH_BYTE,
  COMMAND_HEADER_SWAP_LOW_BYTE,
  COMMAND_HEADER_VERSION_SHIFT,
  COMMAND_VERSION,
  GATHER_ENTRY_BYTES,
  SEGMENT_BYTES,
  type Opcode,
} from '../spec/index.ts';
import { dword } from './dword.ts';
import { checkSlice, encodeGatherList } from './gather_list.ts';

/** A piece of a registered memory region. The address is in two halves, so that no operation has to compute them. */
export interface GatherEntry {
  /** Low 32 bits of the address. */
  readonly addressLow: number;
  /** High 32 bits of the address. */
  readonly addressHigh: number;
  /** Length in bytes; 0 is allowed. */
  readonly length: number;
  /** L_Key of the region. */
  readonly localKey: number;
}

/** A place in the peer's memory, with its key. */
export interface RemotePlace {
  /** Low 32 bits of the address. */
  readonly addressLow: number;
  /** High 32 bits of the address. */
  readonly addressHigh: number;
  /** R_Key. */
  readonly key: number;
}

/** The memory that a memory window is bound to. */
export interface WindowBinding {
  /** New R_Key of the window: its index, and a low byte that the caller chooses. */
  readonly key: number;
  /** Part of a memory region: `region.slice(offset, length)`; a length of 0 unbinds a window of type 1. */
  readonly memory: GatherEntry;
  /** Rights of the peer: the remote rights of Access, and zeroBased. */
  readonly access: number;
}

/** A send work request. Numbers are integers of 32 bits unless stated otherwise. */
export interface SendRequest {
  /** The operation, one that the queue pair's service has. */
  readonly opcode: Opcode;
  /** Identifier that the completion returns. Default 0. */
  readonly wrId?: number | bigint | undefined;
  /** Inline data, 0 to 256 B; instead of `gather`. */
  readonly inlineData?: Uint8Array | undefined;
  /** Memory that holds the data, or receives it for a READ or atomic; up to 16 entries. */
  readonly gather?: readonly GatherEntry[] | undefined;
  /** Requests a completion. */
  readonly signaled?: boolean | undefined;
  /** Fence: waits for all earlier READs and atomics. */
  readonly fence?: boolean | undefined;
  /** Requests a solicited event at the peer. */
  readonly solicited?: boolean | undefined;
  /**
   * Doorbell checksum: the device executes the command only if the sum over the collected data and the queue pair's `checksumSecret` is
   * right; otherwise it fetches the command from the send queue.
   */
  readonly checksum?: boolean | undefined;
  /** Immediate data, 32 bits, passed to the peer unchanged; for operations with immediate data. */
  readonly immediateData?: number | undefined;
  /** Send with invalidate, local invalidate: R_Key of the window to invalidate, at the peer or locally. */
  readonly invalidateKey?: number | undefined;
  /** Bind: the window and the memory for it. */
  readonly bind?: WindowBinding | undefined;
  /** RDMA and atomics: memory of the peer. */
  readonly remote?: RemotePlace | undefined;
  /** Atomics: the value to compare with or to add; the low 64 bits count. */
  readonly compareAdd?: bigint | undefined;
  /** Compare and swap: the new value. */
  readonly swap?: bigint | undefined;
  /** Unreliable datagram: the destination. */
  readonly addressHandle?: { readonly number: number } | undefined;
  /** Unreliable datagram: queue pair of the peer, 24 bits. */
  readonly destinationQueuePair?: number | undefined;
  /** Unreliable datagram: Q_Key of the peer, 32 bits; with the high bit set, the queue pair's own Q_Key is used. */
  readonly queueKey?: number | undefined;
}

/** Fields that all commands of a queue pair share. */
export interface CommandOrigin {
  readonly queuePairNumber: number;
  readonly level: number;
  /** Secret that goes into the doorbell checksum. */
  readonly checksumSecret: number;
}

// V8 folds a module's own constants where they are used, and loads an imported one at every use.
const encodeList = encodeGatherList;

/** Operands of atomics are split into halves through this array, without bigint arithmetic. */
const operands = new BigUint64Array(2);
const operandHalves = new Uint32Array(operands.buffer);

const bytesOf = ({ inlineData, gather, bind }: SendRequest): number => {
  if (bind !== undefined) return BIND_ENTRY_BYTES;
  if (inlineData !== undefined) return inlineData.length;
  return gather === undefined ? 0 : gather.length * GATHER_ENTRY_BYTES;
};
/** Returns the length of a command's payload in bytes. */
export const payloadBytes = bytesOf;

/**
 * Encodes a command in place (US8589610, command header and payload). Writes every DWORD up to its end, rounded up to 8 B.
 * @param dwords the memory of send queue entries
 * @param bytes the same memory
 * @param at offset of the entry in it, bytes, a multiple of 8
 * @param sequenceNumber 16 bits
 * @returns bytes of the command, rounded up to 8
 * @throws TypeError, RangeError: an entry of its gather list, or of its bind, is not a slice of a memory region
 */
export function encodeCommand(
  dwords: Uint32Array,
  bytes: Uint8Array,
  at: number,
  origin: CommandOrigin,
  sequenceNumber: number,
  request: SendRequest,
): number {
  const { inlineData, gather, bind } = request;
  const length = bytesOf(request);
  const base = at / dword;
  dwords[(base + COMMAND_HEADER_OPCODE_BYTE / dword) | 0] =
    request.opcode | (origin.queuePairNumber << COMMAND_HEADER_QUEUE_PAIR_NUMBER_SHIFT);
  dwords[(base + COMMAND_HEADER_SEND_QUEUE_SEQUENCE_NUMBER_BYTE / dword) | 0] =
    sequenceNumber |
    (length << COMMAND_HEADER_LENGTH_SHIFT) |
    (origin.level << COMMAND_HEADER_QUALITY_OF_SERVICE_LEVEL_SHIFT) |
    (COMMAND_VERSION << COMMAND_HEADER_VERSION_SHIFT);
  dwords[(base + COMMAND_HEADER_SIGNALED_BYTE / dword) | 0] =
    (request.signaled === true ? 1 << COMMAND_HEADER_SIGNALED_SHIFT : 0) |
    (request.fence === true ? 1 << COMMAND_HEADER_FENCE_SHIFT : 0) |
    (request.solicited === true ? 1 << COMMAND_HEADER_SOLICITED_SHIFT : 0) |
    (inlineData !== undefined ? 1 << COMMAND_HEADER_INLINE_DATA_SHIFT : 0) |
    (request.checksum === true ? 1 << COMMAND_HEADER_CHECKSUM_ENABLE_SHIFT : 0) |
    ((gather === undefined || inlineData !== undefined ? 0 : gather.length) <<
      COMMAND_HEADER_GATHER_COUNT_SHIFT);
  dwords[(base + COMMAND_HEADER_CHECKSUM_BYTE / dword) | 0] = 0;
  dwords[(base + COMMAND_HEADER_IMMEDIATE_DATA_BYTE / dword) | 0] =
    request.invalidateKey ?? request.immediateData ?? 0;
  const { remote } = request;
  dwords[(base + COMMAND_HEADER_REMOTE_KEY_BYTE / dword) | 0] = bind?.key ?? remote?.key ?? 0;
  dwords[(base + COMMAND_HEADER_REMOTE_ADDRESS_LOW_BYTE / dword) | 0] =
    remote === undefined ? 0 : remote.addressLow;
  dwords[(base + COMMAND_HEADER_REMOTE_ADDRESS_HIGH_BYTE / dword) | 0] =
    remote === undefined ? 0 : remote.addressHigh;
  const { compareAdd, swap } = request;
  const hasOperands = compareAdd !== undefined || swap !== undefined;
  if (hasOperands) {
    operands[0] = compareAdd ?? 0n;
    operands[1] = swap ?? 0n;
  }
  dwords[(base + COMMAND_HEADER_COMPARE_ADD_LOW_BYTE / dword) | 0] = hasOperands ? operandHalves[0]! : 0;
  dwords[(base + COMMAND_HEADER_COMPARE_ADD_HIGH_BYTE / dword) | 0] = hasOperands ? operandHalves[1]! : 0;
  dwords[(base + COMMAND_HEADER_SWAP_LOW_BYTE / dword) | 0] = hasOperands ? operandHalves[2]! : 0;
  dwords[(base + COMMAND_HEADER_SWAP_HIGH_BYTE / dword) | 0] = hasOperands ? operandHalves[3]! : 0;
  dwords[(base + COMMAND_HEADER_ADDRESS_HANDLE_BYTE / dword) | 0] = request.addressHandle?.number ?? 0;
  dwords[(base + COMMAND_HEADER_DESTINATION_QUEUE_PAIR_BYTE / dword) | 0] = request.destinationQueuePair ?? 0;
  dwords[(base + COMMAND_HEADER_QUEUE_KEY_BYTE / dword) | 0] = request.queueKey ?? 0;
  dwords[(base + COMMAND_HEADER_BYTES / dword - 1) | 0] = 0;
  const payload = at + COMMAND_HEADER_BYTES;
  if (bind !== undefined) encodeBinding(dwords, payload / dword, bind);
  else if (inlineData !== undefined) encodeInlineData(dwords, bytes, payload, inlineData);
  else if (gather !== undefined) encodeList(dwords, payload / dword, 'gather', gather);
  const whole = (COMMAND_HEADER_BYTES + length + SEGMENT_BYTES - 1) & -SEGMENT_BYTES;
  if (request.checksum === true) encodeChecksum(dwords, at, whole, origin.checksumSecret);
  return whole;
}

function encodeBinding(dwords: Uint32Array, first: number, { memory, access }: WindowBinding): void {
  checkSlice('bind.memory', undefined, memory);
  dwords.fill(0, first, first + BIND_ENTRY_BYTES / dword);
  dwords[first + BIND_ENTRY_ADDRESS_LOW_BYTE / dword] = memory.addressLow;
  dwords[first + BIND_ENTRY_ADDRESS_HIGH_BYTE / dword] = memory.addressHigh;
  dwords[first + BIND_ENTRY_LENGTH_LOW_BYTE / dword] = memory.length;
  dwords[first + BIND_ENTRY_LENGTH_HIGH_BYTE / dword] = memory.length / 2 ** 32;
  dwords[first + BIND_ENTRY_REGION_KEY_BYTE / dword] = memory.localKey;
  dwords[first + BIND_ENTRY_ACCESS_FLAGS_BYTE / dword] = access;
}

/** The end of the last segment is zero, because the doorbell checksum covers it. */
function encodeInlineData(dwords: Uint32Array, bytes: Uint8Array, at: number, data: Uint8Array): void {
  if (data.length % SEGMENT_BYTES !== 0) {
    const last = (at + data.length - (data.length % SEGMENT_BYTES)) / dword;
    dwords[last] = 0;
    dwords[last + 1] = 0;
  }
  bytes.set(data, at);
}

/**
 * Computes the doorbell checksum of a command in place: with it, the 32-bit ones' complement sum of all DWORDs and the secret is all ones.
 * @param at offset of the entry, bytes
 * @param bytes of the command, rounded up to 8
 */
export function encodeChecksum(dwords: Uint32Array, at: number, bytes: number, secret: number): void {
  const base = at / dword;
  dwords[base + COMMAND_HEADER_CHECKSUM_BYTE / dword] = 0;
  // At most 81 numbers of 32 bits: exact.
  let sum = secret;
  for (let index = 0; index < bytes / dword; index++) sum += dwords[base + index]!;
  const wrap = 2 ** 32;
  const folded = (sum % wrap) + Math.floor(sum / wrap);
  const carried = (folded % wrap) + Math.floor(folded / wrap);
  dwords[base + COMMAND_HEADER_CHECKSUM_BYTE / dword] = ~carried >>> 0;
}
