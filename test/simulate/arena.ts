import type { MemoryRegion, ProtectionDomain } from '../../lib/index.ts';

const guardBytes = 64;
const guardByte = 0xa5;

/** Zeroed memory that is registered, between bytes that are not. */
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

  /** Whether nobody has written beside it. */
  get isIntact(): boolean {
    return this.guards.every((guard) => guard.every((byte) => byte === guardByte));
  }
}

/** What is sent as message `index` of sender `sender`, from its first byte on. */
export function fillPattern(bytes: Uint8Array, sender: number, index: number): void {
  for (let at = 0; at < bytes.length; at++) bytes[at] = patternByte(sender, index, at);
}

/** Never 0: what was not written is told from it. */
function patternByte(sender: number, index: number, at: number): number {
  return 1 + ((sender * 89 + index * 31 + at * 7 + (at >> 8) * 13) % 255);
}

/** Whether bytes are those of a message. */
export function isPattern(bytes: Uint8Array, sender: number, index: number): boolean {
  return bytes.every((byte, at) => byte === patternByte(sender, index, at));
}

/** Whether bytes are those of a message, or were not written. */
export function isPatternOrNothing(bytes: Uint8Array, sender: number, index: number): boolean {
  return bytes.every((byte, at) => byte === 0 || byte === patternByte(sender, index, at));
}
