import {
  COMMAND_HEADER_BYTES,
  setCommandHeaderChecksum,
  setCommandHeaderChecksumEnable,
  setCommandHeaderInlineData,
  setCommandHeaderLength,
  setCommandHeaderOpcode,
  setCommandHeaderQualityOfServiceLevel,
  setCommandHeaderQueuePairNumber,
  setCommandHeaderSendQueueSequenceNumber,
  setCommandHeaderVersion,
} from '../../lib/spec/commands.ts';
import { Opcode, type QualityOfServiceLevel } from '../../lib/spec/enums.ts';
import type { CollectBufferPort } from './collect_buffer_port.ts';

/** Fields of a command that a test chooses. The other bytes of header and payload depend on their position. */
export interface CommandOptions {
  length: number;
  queuePairNumber: number;
  sequenceNumber?: number;
  level?: QualityOfServiceLevel;
  version?: number;
  /** Sets the reserved bit of segment 0. */
  reserved?: boolean;
  /** Secret of the queue pair: sets checksum and checksum_enable. */
  checksumSecret?: number;
}

/** Ones' complement sum over the DWORDs of `bytes`, beginning with `sum`. */
export function onesComplementSum(bytes: Uint8Array, sum = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += 4) {
    sum += view.getUint32(at, true);
    if (sum > 0xffffffff) sum -= 0xffffffff;
  }
  return sum;
}

/** A command: header and payload, rounded up to whole segments of 8 B. */
export function makeCommand(options: CommandOptions): Uint8Array {
  const bytes = new Uint8Array(COMMAND_HEADER_BYTES + Math.ceil(options.length / 8) * 8);
  for (let at = 16; at < bytes.length; at++) bytes[at] = (at * 37 + 11) & 0xff;
  const view = new DataView(bytes.buffer);
  setCommandHeaderOpcode(view, 0, Opcode.send);
  setCommandHeaderQueuePairNumber(view, 0, options.queuePairNumber);
  setCommandHeaderSendQueueSequenceNumber(view, 0, options.sequenceNumber ?? 0);
  setCommandHeaderLength(view, 0, options.length);
  setCommandHeaderQualityOfServiceLevel(view, 0, options.level ?? 0);
  setCommandHeaderVersion(view, 0, options.version ?? 1);
  setCommandHeaderInlineData(view, 0, 1);
  if (options.reserved === true) bytes[7]! |= 0x80;
  if (options.checksumSecret !== undefined) {
    setCommandHeaderChecksumEnable(view, 0, 1);
    setCommandHeaderChecksum(view, 0, ~onesComplementSum(bytes, options.checksumSecret) >>> 0);
  }
  return bytes;
}

/** A write transaction: some DWORDs of one 64 B line of a command. */
export interface LineWrite {
  offset: number;
  bytes: Uint8Array;
  byteEnables: bigint;
}

/** The write of the DWORDs `dwords` (numbers in the command, all of one line) of `command`. */
export function lineWrite(command: Uint8Array, dwords: readonly number[]): LineWrite {
  const first = Math.min(...dwords);
  const last = Math.max(...dwords);
  let byteEnables = 0n;
  for (const dword of dwords) byteEnables |= 0xfn << BigInt((dword - first) * 4);
  return { offset: first * 4, bytes: command.slice(first * 4, last * 4 + 4), byteEnables };
}

/** The DWORDs of a command, cut into lines of 64 B. */
export function wholeLines(command: Uint8Array): LineWrite[] {
  const writes: LineWrite[] = [];
  for (let at = 0; at < command.length; at += 64) {
    const bytes = command.slice(at, at + 64);
    writes.push({ offset: at, bytes, byteEnables: (1n << BigInt(bytes.length)) - 1n });
  }
  return writes;
}

/** Executes the write in the page of a VCB. */
export function post(port: CollectBufferPort, buffer: number, write: LineWrite): void {
  port.write(buffer, write.offset, write.bytes, write.byteEnables);
}
