import type { DmaMemory } from '../board/addon.ts';
import { loadAcquire, storeRelease } from './memory_order.ts';

/** Entries of a ring: their size, and where their phase lies, which the device writes last. */
export interface RingEntry {
  readonly bytes: number;
  /** Byte of the DWORD whose lowest bit is the phase. */
  readonly phaseByte: number;
  /** The phase's place in that DWORD. */
  readonly phaseShift: 0;
}

const dword = 4;

/** Where entry `number` lies among `entries`, a power of two. */
export function placeOf(number: number, entries: number): number {
  return (number & (entries - 1)) >>> 0;
}

/** The phase that entry `number` is written with. */
export function phaseOf(number: number, entries: number): number {
  return (number & entries) === 0 ? 1 : 0;
}

/**
 * A ring in host memory that the device writes and the host reads (US6725296): completions, events, kick records. The host sees a new
 * entry by its phase, which changes from round to round, and tells the device by a record in memory how far it has read.
 */
export class DeviceRing {
  /** Entries that it holds. */
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
   * @param ring entries, a power of two of them; @param head where the device looks how many were read
   * @param read how many were read already, of a ring of another size
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

  /** Where the oldest entry that was not read begins, DWORDs. */
  get place(): number {
    return this.begin;
  }

  /** Entries that were read, modulo 2^32. */
  get read(): number {
    return this.count >>> 0;
  }

  /** Whether the device has written the oldest entry that was not read. */
  get isWritten(): boolean {
    return (loadAcquire(this.dwords, this.begin + this.phaseAt) & 1) === this.phase;
  }

  /** The oldest entry was read. */
  next(): void {
    this.count = (this.count + 1) | 0;
    this.begin += this.entryDwords;
    if (this.begin < this.dwords.length) return;
    this.begin = 0;
    this.phase ^= 1;
  }

  /** The device learns how many were read, and uses their places again. */
  tellRead(): void {
    storeRelease(this.head, 0, this.count);
  }

  /** Visits the place, in DWORDs, of each entry that is written and was not read, oldest first. */
  eachWritten(visit: (place: number) => void): void {
    let { begin, phase } = this;
    for (let left = this.dwords.length; left > 0; left -= this.entryDwords) {
      if ((loadAcquire(this.dwords, begin + this.phaseAt) & 1) !== phase) return;
      visit(begin);
      begin += this.entryDwords;
      if (begin < this.dwords.length) continue;
      begin = 0;
      phase ^= 1;
    }
  }
}
