import {
  Access,
  CompletionStatus,
  Opcode,
  completionStatusNames,
  type ProtectionDomain,
  type SharedReceiveQueue,
} from '../../lib/index.ts';
import { addressVectorTo, openQueuePair } from '../../lib/connect/index.ts';
import type { Random } from '../helpers/random.mjs';
import { Arena } from './arena.ts';
import { slotBytes } from './flow_memory.ts';
import { require, type Party } from './party.ts';

const queueKey = 0x2222_2222;
/** The number of receives posted at once; no receive is lost when a queue pair that has taken it ends. */
const slots = 64;

/** A shared receive queue of a board and its memory: every receive has its own slot. */
export class Pool {
  readonly queue: SharedReceiveQueue;
  private readonly random: Random;
  private readonly party: Party;
  private readonly protectionDomain: ProtectionDomain;
  private readonly arena: Arena;
  private readonly free = Array.from({ length: slots }, (_, slot) => slot);
  private readonly posted = new Set<number>();

  constructor(random: Random, party: Party) {
    this.random = random;
    this.party = party;
    this.protectionDomain = party.context.createProtectionDomain();
    this.arena = new Arena(this.protectionDomain, slots * slotBytes, Access.localWrite);
    this.queue = this.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 1 + random.below(16) });
  }

  /** Posts receives, arms the limit event, resizes the queue. */
  act(): void {
    const { random, queue } = this;
    const { outstanding } = queue.driver;
    if (random.once(20)) queue.modify({ maxWorkRequests: outstanding + 1 + random.below(slots) });
    if (random.once(20)) queue.modify({ limit: random.below(queue.capacity + 1) });
    const room = Math.min(queue.capacity - outstanding, this.free.length);
    for (let count = Math.min(random.below(6), room); count > 0; count--) {
      const slot = this.free.shift()!;
      this.posted.add(slot);
      this.bytes(slot).fill(0);
      const cut = random.below(slotBytes + 1);
      const at = slot * slotBytes;
      queue.postReceive({
        wrId: slot,
        scatter: [this.arena.region.slice(at, cut), this.arena.region.slice(at + cut, slotBytes - cut)],
      });
    }
  }

  /** The data of a receive. */
  bytes(slot: number): Uint8Array {
    return this.arena.bytes.subarray(slot * slotBytes, (slot + 1) * slotBytes);
  }

  /** Accounts for a completed receive. @throws Violation it was not posted, or completed twice */
  release(slot: number): void {
    require(this.posted.delete(slot), () => `${this.queue.label}: ${slot} completes, and is not posted`);
    this.free.push(slot);
  }

  /**
   * The queue ends: its posted, uncompleted receives go to a separate queue pair, message by message.
   * @throws Violation a receive is lost, or completes twice
   */
  drain(): void {
    const { party, queue, posted, protectionDomain } = this;
    require(posted.size === queue.driver.outstanding, () =>
      `${posted.size} receives of ${queue.label} are posted, the driver holds ${queue.driver.outstanding}`);
    const { completionQueue } = party;
    const queuePair = protectionDomain.createQueuePair({
      type: 'UD',
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
      sharedReceiveQueue: queue,
    });
    party.own(queuePair, {
      take: (_, { workQueue, wrId, status }) => {
        require(status === CompletionStatus.success, () =>
          `what is left of ${queue.label}: ${completionStatusNames[status]}`);
        if (workQueue !== 0) this.release(wrId);
      },
    });
    const address = party.addressOf(queuePair, this.random);
    openQueuePair(queuePair, address, queueKey);
    const addressHandle = protectionDomain.createAddressHandle(addressVectorTo(address));
    for (let left = posted.size; left > 0; left--) {
      queuePair.postSend({
        opcode: Opcode.send,
        addressHandle,
        destinationQueuePair: queuePair.number,
        queueKey,
      });
      party.board.runUntilIdle();
      party.poll();
    }
    addressHandle.close();
    party.disown(queuePair);
    queuePair.close();
    require(posted.size === 0, () => `${queue.label} has lost receives ${[...posted].join(', ')}`);
  }

  /** @throws Violation memory was written without the right */
  verify(): void {
    require(this.arena.isIntact, () => `memory beside that of ${this.queue.label} was written`);
  }

  close(): void {
    this.queue.close();
    this.arena.region.close();
    this.protectionDomain.close();
  }
}
