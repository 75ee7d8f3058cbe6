import {
  Access,
  type MemoryRegion,
  type MemorySlice,
  type ProtectionDomain,
  type RemoteMemory,
} from '../../lib/index.ts';
import type { Random } from '../helpers/random.mjs';
import { Arena, fillPattern, isPattern, isPatternOrNothing, isZero } from './arena.ts';
import { FlowWindow } from './flow_window.ts';

export const slotBytes = 1200;
const wordBytes = 8;
/** Receives whose memory is not reused before they complete. */
export const receiveSlots = 32;
/** Index of the message that a READ returns; no queue pair sends it. */
const libraryIndex = 1_000_003;

/** The two memories of a flow: every work request has its own slot, which nothing else writes. */
export class FlowMemory {
  private readonly sender: number;
  private readonly operations: number;
  private readonly here: Arena;
  private readonly there: Arena;
  private readonly random: Random;
  readonly window: FlowWindow;

  constructor(
    random: Random,
    sender: number,
    operations: number,
    from: ProtectionDomain,
    to: ProtectionDomain,
  ) {
    this.random = random;
    this.sender = sender;
    this.operations = operations;
    this.here = new Arena(from, 2 * operations * slotBytes, Access.localWrite);
    this.there = new Arena(
      to,
      (operations + receiveSlots + 1) * slotBytes + wordBytes,
      Access.localWrite |
        Access.remoteWrite |
        Access.remoteRead |
        Access.remoteAtomic |
        Access.memoryWindowBind,
    );
    this.window = new FlowWindow(random, to, this.there.region);
    for (let index = 0; index < operations; index++) fillPattern(this.source(index), sender, index);
    fillPattern(this.library(), sender, libraryIndex);
  }

  /** The data to send, in pieces. */
  sourcePieces(random: Random, index: number, length: number): MemorySlice[] {
    return pieces(random, this.here.region, index * slotBytes, length);
  }

  inlineData(index: number, length: number): Uint8Array {
    return this.source(index).slice(0, length);
  }

  /** The destination of a READ or atomic. */
  broughtPieces(random: Random, index: number, length: number): MemorySlice[] {
    return pieces(random, this.here.region, (this.operations + index) * slotBytes, length);
  }

  /** For an atomic: one piece. */
  broughtWord(index: number): MemorySlice {
    return this.here.region.slice((this.operations + index) * slotBytes, wordBytes);
  }

  receivePieces(random: Random, receive: number): MemorySlice[] {
    this.received(receive).fill(0);
    return pieces(
      random,
      this.there.region,
      (this.operations + (receive % receiveSlots)) * slotBytes,
      slotBytes,
    );
  }

  target(index: number): RemoteMemory {
    return this.remote().slice(index * slotBytes, slotBytes);
  }

  remoteLibrary(): RemoteMemory {
    return this.remote().slice(this.libraryAt, slotBytes);
  }

  remoteWord(): RemoteMemory {
    return this.remote().slice(this.libraryAt + slotBytes, wordBytes);
  }

  /** A target through a window that is no longer bound; undefined: there is none. */
  formerTarget(index: number): RemoteMemory | undefined {
    return this.window.formerRemote?.slice(index * slotBytes, slotBytes);
  }

  /** Whether the received bytes are a message, with nothing written after it. */
  isMessage(bytes: Uint8Array, index: number, length: number, alone: boolean): boolean {
    if (alone && !isZero(bytes.subarray(length))) return false;
    return isPattern(bytes.subarray(0, length), this.sender, index);
  }

  hasWritten(index: number, length: number): boolean {
    return isPattern(this.written(index).subarray(0, length), this.sender, index);
  }

  hasRead(index: number, length: number): boolean {
    return isPattern(this.brought(index).subarray(0, length), this.sender, libraryIndex);
  }

  formerValue(index: number): number {
    const { buffer, byteOffset } = this.brought(index);
    return Number(new DataView(buffer, byteOffset).getBigUint64(0, true));
  }

  /** Whether the guard bytes are unchanged. */
  get isIntact(): boolean {
    return this.here.isIntact && this.there.isIntact;
  }

  /** A wrongly written place; undefined: none. */
  findDamage(lengthWritten: (index: number) => number): string | undefined {
    const { sender, operations } = this;
    if (!isPattern(this.library(), sender, libraryIndex)) return 'memory that is only read was written';
    for (let index = 0; index < operations; index++) {
      if (!isPattern(this.source(index), sender, index)) return `what message ${index} sends was written`;
      const bytes = this.written(index);
      const length = lengthWritten(index);
      if (!isPatternOrNothing(bytes.subarray(0, length), sender, index))
        return `the target of ${index} holds data of no write`;
      if (!isZero(bytes.subarray(length))) return `more than ${index} was written to its target`;
    }
    return undefined;
  }

  close(): void {
    this.window.restart();
    this.here.region.close();
    this.there.region.close();
  }

  /** Through the window if it is bound, otherwise through the region. */
  private remote(): RemoteMemory {
    const { remote } = this.window;
    return remote !== undefined && this.random.once(2) ? remote : this.there.region.remote();
  }

  private get libraryAt(): number {
    return (this.operations + receiveSlots) * slotBytes;
  }

  private source(index: number): Uint8Array {
    return slot(this.here, index);
  }

  private brought(index: number): Uint8Array {
    return slot(this.here, this.operations + index);
  }

  private written(index: number): Uint8Array {
    return slot(this.there, index);
  }

  /** The data of a receive. */
  received(receive: number): Uint8Array {
    return slot(this.there, this.operations + (receive % receiveSlots));
  }

  private library(): Uint8Array {
    return slot(this.there, this.operations + receiveSlots);
  }
}

function slot({ bytes }: Arena, index: number): Uint8Array {
  return bytes.subarray(index * slotBytes, (index + 1) * slotBytes);
}

function pieces(random: Random, region: MemoryRegion, at: number, length: number): MemorySlice[] {
  const cut = random.below(length + 1);
  return [region.slice(at, cut), region.slice(at + cut, length - cut)];
}
