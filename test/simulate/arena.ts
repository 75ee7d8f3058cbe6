import type { MemoryRegion, ProtectionDomain } from '../../lib/index.ts';

const guardBytes = 64;
const guardByte = 0xa5;

/** Zeroed registered memory between guard bytes. */
export class Arena {
  readonly region: MemoryRegion;
  readonly bytes: Uint8Array;
  private readonly guards: readonly Uint8Array[];

  constructor(protectionDomain: ProtectionDomain, bytes: number, access: number) {
    const memory = new ArrayBuffer(bytes + 2 * guardBytes);
    this.bytes = new Uint8Array(memory, guardBytes, bytes);
    this.guards = [0, guardBytes + bytes].map((at) => new Uint8Array(memory, at, guardBytes).fill(guardByte));
    this.region = protectionDomain.registerMemory(this.bytes, access);
  }

  /** Whether the guard bytes are unchanged. */
  get isIntact(): boolean {
    return this.guards.every((guard) => guard.every((byte) => byte === guardByte));
  }
}

/** A message repeats this row of bytes every 256 B, from a start that varies. No byte is 0, so unwritten memory is recognized. */
const period = 255;
const row = Uint8Array.from({ length: period + 256 }, (_, at) => 1 + ((at * 7) % period));
const zeros = new Uint8Array(4096);

/** Fills in the data of message `index` of sender `sender`, from its first byte on. */
export function fillPattern(bytes: Uint8Array, sender: number, index: number): void {
  for (let at = 0; at < bytes.length; at += 256)
    bytes.set(rowOf(sender, index, at, Math.min(256, bytes.length - at)), at);
}

function rowOf(sender: number, index: number, at: number, length: number): Uint8Array {
  // 73 is the inverse of 7 modulo 255.
  const begin = ((sender * 89 + index * 31 + at * 7 + (at >> 8) * 13) * 73) % period;
  return row.subarray(begin, begin + length);
}

/** Whether the bytes are those of a message. */
export function isPattern(bytes: Uint8Array, sender: number, index: number): boolean {
  for (let at = 0; at < bytes.length; at += 256) {
    const part = bytes.subarray(at, at + 256);
    if (Buffer.compare(part, rowOf(sender, index, at, part.length)) !== 0) return false;
  }
  return true;
}

/** Whether the bytes are those of a message, or unwritten. */
export function isPatternOrNothing(bytes: Uint8Array, sender: number, index: number): boolean {
  if (isPattern(bytes, sender, index)) return true;
  const pattern = new Uint8Array(bytes.length);
  fillPattern(pattern, sender, index);
  return bytes.every((byte, at) => byte === 0 || byte === pattern[at]);
}

/** Whether the bytes are unwritten. */
export function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const part = bytes.subarray(at, at + zeros.length);
    if (Buffer.compare(part, zeros.subarray(0, part.length)) !== 0) return false;
  }
  return true;
}
