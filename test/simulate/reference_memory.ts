import { Access, type MemoryRegion, type ProtectionDomain } from '../../lib/index.ts';
import type { Random } from '../helpers/random.mjs';
import { Arena } from './arena.ts';
import { require } from './party.ts';

const { localWrite, remoteWrite, remoteRead, remoteAtomic } = Access;
export const targetBytes = 4096;

/** Memory that a peer may reach, and what has to be in it. */
export class ReferenceMemory {
  /** The content that the memory has to have; the reference writes here what a peer has a right to write. */
  readonly expected: Uint8Array;
  readonly access: number;
  private readonly arena: Arena;
  private readonly protectionDomain: ProtectionDomain;
  private readonly allowed: [number, number][] = [];
  private registered: MemoryRegion;

  constructor(random: Random, protectionDomain: ProtectionDomain, access: number, bytes = targetBytes) {
    this.access = access;
    this.protectionDomain = protectionDomain;
    this.arena = new Arena(protectionDomain, bytes, access | localWrite);
    this.registered = this.arena.region;
    for (let at = 0; at < bytes; at++) this.arena.bytes[at] = random.below(256);
    this.expected = this.arena.bytes.slice();
  }

  get region(): MemoryRegion {
    return this.registered;
  }

  /** Deregisters it, and registers it anew. @returns the key that is no more */
  renew(): number {
    const former = this.registered.remoteKey;
    this.registered.close();
    this.registered = this.protectionDomain.registerMemory(this.arena.bytes, this.access | localWrite);
    return former;
  }

  /** A place of it may hold whatever is there when it is looked at next: it is not promised. */
  allow(at: number, bytes: number): void {
    this.allowed.push([at, bytes]);
  }

  /** @throws Violation it holds what it must not */
  verify(name: string): void {
    require(this.arena.isIntact, () => `${name}: bytes beside a memory region were written`);
    for (const [at, bytes] of this.allowed.splice(0))
      this.expected.set(this.arena.bytes.subarray(at, at + bytes), at);
    if (Buffer.compare(this.arena.bytes, this.expected) === 0) return;
    const at = this.arena.bytes.findIndex((byte, index) => byte !== this.expected[index]);
    require(false, () =>
      `${name}: byte ${at} of memory is ${this.arena.bytes[at]}, and has to be ${this.expected[at]}`);
  }

  close(): void {
    this.registered.close();
  }
}

export const everyAccess = localWrite | remoteWrite | remoteRead | remoteAtomic;
/** Rights that regions give a peer. */
export const accesses = [everyAccess, remoteRead, localWrite | remoteWrite, localWrite] as const;
