import {
  Completion,
  CompletionStatus,
  completionStatusNames,
  type CompletionQueue,
  type Context,
  type QueuePair,
} from '../../lib/index.ts';
import { addressOf, type QueuePairAddress } from '../../lib/connect/index.ts';
import type { EmulatedBoard } from '../../lib/board/index.ts';
import type { Random } from '../helpers/random.mjs';

/** A promise that was not kept. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** @throws Violation unless it holds */
export function require(holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Violation(what());
}

/** An owner is told of the completions of a queue pair. */
export interface Owner {
  take(queuePair: QueuePair, completion: Completion): void;
}

/** A board, its driver, and who has queue pairs on it, which complete into one completion queue. */
export class Party {
  readonly board: EmulatedBoard;
  readonly context: Context;
  readonly completionQueue: CompletionQueue;
  private readonly owners = new Map<number, { queuePair: QueuePair; owner: Owner }>();
  /** Of queue pairs that are closed: where receives that they have left are given back. */
  private readonly givenBack = new Map<number, (wrId: number) => void>();
  private readonly completions = Array.from({ length: 64 }, () => new Completion());

  constructor(board: EmulatedBoard, context: Context) {
    this.board = board;
    this.context = context;
    this.completionQueue = context.createCompletionQueue({ entries: 32_768 });
  }

  own(queuePair: QueuePair, owner: Owner): void {
    this.givenBack.delete(queuePair.number);
    this.owners.set(queuePair.number, { queuePair, owner });
  }

  /** @param giveBack of a shared receive queue: what it has taken and not completed comes here; default: nothing comes */
  disown(queuePair: QueuePair, giveBack?: (wrId: number) => void): void {
    this.owners.delete(queuePair.number);
    if (giveBack !== undefined) this.givenBack.set(queuePair.number, giveBack);
  }

  /** Hands all completions that there are to their owners. */
  poll(): void {
    for (;;) {
      const taken = this.completionQueue.poll(this.completions);
      if (taken === 0) return;
      for (const completion of this.completions.slice(0, taken)) {
        const found = this.owners.get(completion.queuePairNumber);
        if (found !== undefined) found.owner.take(found.queuePair, completion);
        else this.giveBack(completion);
      }
    }
  }

  private giveBack({ queuePairNumber, status, workQueue, wrId }: Completion): void {
    const giveBack = this.givenBack.get(queuePairNumber);
    const isFlushed = workQueue !== 0 && status === CompletionStatus.workRequestFlushedError;
    require(giveBack !== undefined && isFlushed, () =>
      `queue pair ${queuePairNumber}, which is closed: ${completionStatusNames[status]}`);
    giveBack(wrId);
  }

  /** The address of a queue pair, with a PSN that follows from the seed. */
  addressOf(queuePair: QueuePair, random: Random): QueuePairAddress {
    return { ...addressOf(this.context, queuePair), packetSequenceNumber: random.below(2 ** 24) };
  }
}
