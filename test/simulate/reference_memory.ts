import { Access, type MemoryRegion, type ProtectionDomain } from '../../lib/index.ts';
import type { Random } from '../helpers/random.mjs';
import { Arena } from './arena.ts';
import { require } from './party.ts';

const { localWrite, remoteWrite, remoteRead, remoteAtomic } = Access;
export const targetBytes = 4096;

/** Memory registered for a peer, and its expected content. */
export class ReferenceMemory {
  /** The expected content: the reference updates it for each permitted write of a peer. */
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

  /** Deregisters the memory and registers it again. @returns the former key */
  renew(): number {
    const former = this.registered.remoteKey;
    this.registered.close();
    this.registered = this.protectionDomain.registerMemory(this.arena.bytes, this.access | localWrite);
    return former;
  }

  /** Excludes bytes from the next check, because the specification leaves their content open. */
  allow(at: number, bytes: number): void {
    this.allowed.push([at, bytes]);
  }

  /** @throws Violation the content differs from the expected one */
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
/** The access rights of the regions. */
export const accesses = [everyAccess, remoteRead, localWrite | remoteWrite, localWrite] as const;
