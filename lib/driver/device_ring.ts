import type { DmaMemory } from '../board/addon.ts';
import { dword } from './dword.ts';
import { loadAcquire, storeRelease } from './memory_order.ts';

/** Entries of a ring: their size, and the position of their phase, which the device writes last. */
export interface RingEntry {
  readonly bytes: number;
  /** Byte of the DWORD whose lowest bit is the phase. */
  readonly phaseByte: number;
  /** The phase's place in that DWORD. */
  readonly phaseShift: 0;
}

// V8 folds a module's own constants where they are used, and loads an imported one at every use.
const load = loadAcquire;
const store = storeRelease;

/** Index of entry `number` in a ring of `entries`, a power of two. */
export function placeOf(number: number, entries: number): number {
  return (number & (entries - 1)) >>> 0;
}

/** The phase of entry `number` in a ring of `entries`. */
export function phaseOf(number: number, entries: number): number {
  return (number & entries) === 0 ? 1 : 0;
}

/**
 * A ring in host memory that the device writes and the host reads (US6725296): completions, events, kick records. The host detects a new
 * entry by its phase, which alternates from pass to pass, and reports its position in a memory record.
 */
export class DeviceRing {
  /** Capacity in entries. */
  readonly capacity: number;
  /** The ring as DWORDs. */
  readonly dwords: Int32Array;
  private readonly head: Int32Array;
  private readonly entryDwords: number;
  private readonly phaseAt: number;
  private begin = 0;
  private phase = 1;
  private count = 0;

  /**
   * @param ring entries, a power of two of them; @param head memory record with the number of entries read
   * @param read number of entries already read, from a ring of another size
   */
  constructor(ring: DmaMemory, head: DmaMemory, entries: number, { bytes, phaseByte }: RingEntry, read = 0) {
    this.capacity = entries;
    this.entryDwords = bytes / dword;
    this.dwords = new Int32Array(ring.buffer, 0, entries * this.entryDwords);
    this.head = new Int32Array(head.buffer);
    this.phaseAt = phaseByte / dword;
    this.count = read | 0;
    this.begin = placeOf(read, entries) * this.entryDwords;
    this.phase = phaseOf(read, entries);
  }

  /** Offset of the oldest unread entry, DWORDs. */
  get place(): number {
    return this.begin;
  }

  /** Number of entries read, modulo 2^32. */
  get read(): number {
    return this.count >>> 0;
  }

  /** Whether the device has written the oldest unread entry. */
  get isWritten(): boolean {
    return (load(this.dwords, this.begin + this.phaseAt) & 1) === this.phase;
  }

  /** Marks the oldest entry as read. */
  next(): void {
    this.count = (this.count + 1) | 0;
    this.begin += this.entryDwords;
    if (this.begin < this.dwords.length) return;
    this.begin = 0;
    this.phase ^= 1;
  }

  /** Reports the number of entries read, so that the device can reuse their places. */
  tellRead(): void {
    store(this.head, 0, this.count);
  }

  /** Calls back with the offset, in DWORDs, of each written, unread entry, oldest first. */
  eachWritten(visit: (place: number) => void): void {
    let { begin, phase } = this;
    for (let left = this.dwords.length; left > 0; left -= this.entryDwords) {
      if ((load(this.dwords, begin + this.phaseAt) & 1) !== phase) return;
      visit(begin);
      begin += this.entryDwords;
      if (begin < this.dwords.length) continue;
      begin = 0;
      phase ^= 1;
    }
  }
}
