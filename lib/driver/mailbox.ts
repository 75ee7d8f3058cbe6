import type { DmaMemory } from '../board/addon.ts';
import { MAILBOX_HEADER_BYTES, PAGE_BYTES, decode, encode } from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';

/** Bytes of content that a page of a mailbox holds. */
const content = PAGE_BYTES - MAILBOX_HEADER_BYTES;

/** A mailbox of a management command: a chain of pages in memory that the device reaches. It grows, and is used again. */
export class Mailbox {
  private readonly device: DeviceFunction;
  private memory: DmaMemory;
  private bytes: Uint8Array;

  constructor(device: DeviceFunction) {
    this.device = device;
    this.memory = device.allocate(PAGE_BYTES);
    this.bytes = new Uint8Array(this.memory.buffer);
  }

  /** DMA address of the first page. */
  get address(): bigint {
    return this.memory.address;
  }

  /** Puts content into the mailbox, the parts one behind the other. Gives its length. */
  write(parts: readonly Uint8Array[]): number {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.reserve(length);
    let written = 0;
    for (const part of parts) {
      for (let at = 0; at < part.length;) {
        const room = content - (written % content);
        const portion = part.subarray(at, at + room);
        this.bytes.set(portion, this.placeOf(written));
        at += portion.length;
        written += portion.length;
      }
    }
    return length;
  }

  /** Makes room for content and links its pages. */
  reserve(length: number): void {
    const pages = Math.max(1, Math.ceil(length / content));
    if (pages * PAGE_BYTES > this.bytes.length) {
      const larger = this.device.allocate(pages * PAGE_BYTES);
      this.device.free(this.memory);
      this.memory = larger;
      this.bytes = new Uint8Array(larger.buffer);
    }
    for (let page = 0; page < pages; page++) {
      const next = page + 1 < pages ? this.address + BigInt((page + 1) * PAGE_BYTES) : 0n;
      const held = Math.min(content, length - page * content);
      this.bytes.set(encode('mailbox_header', { next, length: held }), page * PAGE_BYTES);
    }
  }

  /** Bytes of content in the first page, as its last writer says. */
  get written(): number {
    const { length } = decode('mailbox_header', this.bytes.slice(0, MAILBOX_HEADER_BYTES));
    return Number(length);
  }

  /** A copy of the first `length` bytes of content. */
  read(length: number): Uint8Array {
    const copy = new Uint8Array(length);
    for (let at = 0; at < length; at += content) {
      const place = this.placeOf(at);
      copy.set(this.bytes.subarray(place, place + Math.min(content, length - at)), at);
    }
    return copy;
  }

  free(): void {
    this.device.free(this.memory);
  }

  private placeOf(at: number): number {
    const page = Math.floor(at / content);
    return page * PAGE_BYTES + MAILBOX_HEADER_BYTES + (at % content);
  }
}
