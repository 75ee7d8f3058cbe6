import { Access, type ProtectionDomain, type SharedReceiveQueue } from '../../lib/index.ts';
import type { Random } from '../hca/random.ts';
import { Arena } from './arena.ts';
import { slotBytes } from './flow_memory.ts';
import { require, type Party } from './party.ts';

/** More than are ever posted at once, and than are lost with queue pairs that are reset in the middle of a message. */
const slots = 1024;
const mostPosted = 64;

/** A shared receive queue of a board, and the memory of what is received from it: every work request has a slot of its own. */
export class Pool {
  readonly queue: SharedReceiveQueue;
  private readonly random: Random;
  private readonly protectionDomain: ProtectionDomain;
  private readonly arena: Arena;
  private readonly free = Array.from({ length: slots }, (_, slot) => slot);

  constructor(random: Random, { context }: Party) {
    this.random = random;
    this.protectionDomain = context.createProtectionDomain();
    this.arena = new Arena(this.protectionDomain, slots * slotBytes, Access.localWrite);
    this.queue = this.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 1 + random.below(16) });
  }

  /** Posts receives, asks for the limit event, changes the size. */
  act(): void {
    const { random, queue } = this;
    const { outstanding } = queue.driver;
    // What is lost with queue pairs keeps its place in the queue.
    if (random.once(20)) queue.modify({ maxWorkRequests: outstanding + 1 + random.below(mostPosted) });
    if (random.once(20)) queue.modify({ limit: random.below(queue.capacity + 1) });
    const room = Math.min(queue.capacity - outstanding, mostPosted);
    for (let count = Math.min(random.below(6), room); count > 0; count--) {
      const slot = this.free.shift();
      require(slot !== undefined, () => `${queue.label} completes less than is posted to it`);
      this.bytes(slot).fill(0);
      const cut = random.below(slotBytes + 1);
      const at = slot * slotBytes;
      queue.postReceive({
        wrId: slot,
        scatter: [this.arena.region.slice(at, cut), this.arena.region.slice(at + cut, slotBytes - cut)],
      });
    }
  }

  /** What a receive has brought. */
  bytes(slot: number): Uint8Array {
    return this.arena.bytes.subarray(slot * slotBytes, (slot + 1) * slotBytes);
  }

  /** A receive is completed, and its bytes were looked at. */
  release(slot: number): void {
    this.free.push(slot);
  }

  /** @throws Violation memory was written that nobody had a right to */
  verify(): void {
    require(this.arena.isIntact, () => `memory beside that of ${this.queue.label} was written`);
  }

  close(): void {
    this.queue.close();
    this.arena.region.close();
    this.protectionDomain.close();
  }
}
