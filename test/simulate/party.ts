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

/** A violated guarantee. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** @throws Violation the condition does not hold */
export function require(holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Violation(what());
}

/** The owner of a queue pair, which gets its completions. */
export interface Owner {
  take(queuePair: QueuePair, completion: Completion): void;
}

/** A board, its driver, and the owners of its queue pairs, which share one completion queue. */
export class Party {
  readonly board: EmulatedBoard;
  readonly context: Context;
  readonly completionQueue: CompletionQueue;
  private readonly owners = new Map<number, { queuePair: QueuePair; owner: Owner }>();
  /** For closed queue pairs: the callbacks that take back their leftover receives. */
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

  /** @param giveBack gets the receives of a shared receive queue that were taken but not completed; default: none */
  disown(queuePair: QueuePair, giveBack?: (wrId: number) => void): void {
    this.owners.delete(queuePair.number);
    if (giveBack !== undefined) this.givenBack.set(queuePair.number, giveBack);
  }

  /** Polls all completions, and hands them to their owners. */
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

  /** The address of a queue pair, with a PSN from the seed. */
  addressOf(queuePair: QueuePair, random: Random): QueuePairAddress {
    return { ...addressOf(this.context, queuePair), packetSequenceNumber: random.below(2 ** 24) };
  }
}
