import type { InterruptMessage } from './remapping_unit.ts';

const entryBytes = 16;
/** Of an entry: 64 bits of address, then data and control, whose lowest bit masks the vector. */
const dataAt = 8;
const controlAt = 12;

/** Where the pending bits lie in their BAR, behind the table. */
export const pendingOffset = 0x800;
/** Size of the BAR that holds both. */
export const interruptBarBytes = 0x1000;

/** Table and pending bits of a function's MSI-X vectors (PCI Local Bus Specification 3.0, 6.8.2). */
export class MessageSignaledInterrupts {
  private readonly bytes = Buffer.alloc(interruptBarBytes);
  private readonly vectors: number;
  private readonly deliver: (message: InterruptMessage) => void;
  private isOpen = false;

  /** @param deliver takes the message of a vector that is signalled and not masked */
  constructor(vectors: number, deliver: (message: InterruptMessage) => void) {
    this.vectors = vectors;
    this.deliver = deliver;
    this.clear();
  }

  /** @param bytes up to 8, within the BAR */
  read(offset: number, bytes: number): bigint {
    return this.bytes
      .subarray(offset, offset + bytes)
      .reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  }

  /** @param bytes up to 8, within the BAR */
  write(offset: number, value: bigint, bytes: number): void {
    if (offset + bytes > this.vectors * entryBytes) return;
    for (let index = 0; index < bytes; index++)
      this.bytes[offset + index] = Number((value >> BigInt(8 * index)) & 0xffn);
    this.deliverPending();
  }

  /** The state of its capability: enabled, and not masked as a whole. */
  open(isOpen: boolean): void {
    this.isOpen = isOpen;
    this.deliverPending();
  }

  /** The function signals a vector: its message goes out, now or when nothing masks it any more. */
  signal(vector: number): void {
    this.bytes[pendingOffset + (vector >> 3)]! |= 1 << (vector & 7);
    this.deliverPending();
  }

  /** The state after a reset: every vector masked, none pending. */
  clear(): void {
    this.bytes.fill(0);
    for (let vector = 0; vector < this.vectors; vector++) this.bytes[vector * entryBytes + controlAt] = 1;
    this.isOpen = false;
  }

  private deliverPending(): void {
    if (!this.isOpen) return;
    for (let vector = 0; vector < this.vectors; vector++) {
      const entry = vector * entryBytes;
      const [pending, bit] = [pendingOffset + (vector >> 3), 1 << (vector & 7)];
      if ((this.bytes[pending]! & bit) === 0 || (this.bytes[entry + controlAt]! & 1) !== 0) continue;
      this.bytes[pending]! &= ~bit;
      this.deliver({
        address: this.bytes.readBigUInt64LE(entry),
        data: this.bytes.readUInt32LE(entry + dataAt),
      });
    }
  }
}
