import { describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import {
  Completion,
  CompletionStatus,
  Opcode,
  QueuePairState,
  type MemoryRegion,
  type SendRequest,
} from '../../lib/index.ts';
import { Random } from '../helpers/random.mjs';
import { connect, everyRight, makeEnd, type ConnectOptions, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';
import { RandomConnection } from '../helpers/random_connection.ts';

const bytes = 20_000;
const options: ConnectOptions = { timeout: 1, retryCount: 2, minReceiverNotReadyTimer: 1 };

const boards: Readonly<Record<string, BoardOptions>> = {
  'as it comes': {},
  'with one lane, one credit of each kind, one PCB': {
    physicalCollectBuffers: 1,
    transmitVirtualLanes: 1,
    executionCreditsPerLane: 1,
    completionCreditsPerLane: 1,
    sharedExecutionCredits: 0,
    sharedCompletionCredits: 0,
    sharedExecutionCreditsCap: 0,
    sharedCompletionCreditsCap: 0,
    schedulerBatch: 1,
  },
  'with two contexts cached': { queuePairContextsCached: 2 },
  'that coalesces acknowledgements': { acknowledgeCoalescing: true },
};

/** Two connected queue pairs that are disturbed in the middle of their work. */
class Victim {
  private readonly random: Random;
  private readonly verbs: Verbs;
  private ends: readonly [End, End];
  private region: MemoryRegion;

  constructor(random: Random, verbs: Verbs) {
    this.random = random;
    this.verbs = verbs;
    this.ends = this.makeEnds();
    this.region = this.makeRegion();
  }

  /** Posts all kinds of work, until the queue is full or the queue pair has failed. */
  load(): void {
    const remote = this.region.remote();
    const gather = [this.region.slice()];
    const word = { remote: remote.slice(0, 8), gather: [this.region.slice(0, 8)], compareAdd: 1n };
    const kinds: readonly SendRequest[] = [
      { opcode: Opcode.send, gather },
      { opcode: Opcode.rdmaWrite, gather, remote },
      { opcode: Opcode.rdmaWriteWithImmediate, gather, remote, immediateData: 1 },
      { opcode: Opcode.rdmaRead, gather, remote },
      { opcode: Opcode.atomicFetchAndAdd, ...word },
    ];
    const [from, to] = this.ends;
    for (let count = this.random.below(8); count > 0; count--) {
      try {
        if (this.random.once(2))
          from.queuePair.postSend({ ...this.random.pick(kinds), signaled: this.random.once(2) });
        if (this.random.once(3)) to.queuePair.postReceive({ scatter: gather });
      } catch (error) {
        expect(error).toMatchObject({ code: expect.toBeOneOf(['ENOMEM', 'EINVAL']) as string });
      }
    }
  }

  /** Performs one operation that an application may perform at any time. */
  disturb(): void {
    const end = this.random.pick(this.ends);
    switch (this.random.below(4)) {
      case 0:
        end.queuePair.modify({ state: QueuePairState.error });
        return;
      case 1:
        end.queuePair.modify({ state: QueuePairState.reset });
        return;
      case 2:
        for (const { queuePair } of this.ends) queuePair.close();
        this.ends = this.makeEnds();
        return;
      default:
        this.region.close();
        this.region = this.makeRegion();
    }
  }

  /** Resets and reconnects the two, and checks that they work. */
  revive(): void {
    for (const { queuePair } of this.ends) queuePair.modify({ state: QueuePairState.reset });
    this.connectBoth();
    const [from, to] = this.ends;
    to.queuePair.postReceive({ wrId: 901 });
    from.queuePair.postSend({ opcode: Opcode.send, wrId: 902, signaled: true });
  }

  owns({ queuePairNumber }: Completion): boolean {
    return this.ends.some(({ queuePair }) => queuePair.number === queuePairNumber);
  }

  private makeEnds(): readonly [End, End] {
    this.ends = [makeEnd(this.verbs), makeEnd(this.verbs)];
    this.connectBoth();
    return this.ends;
  }

  private connectBoth(): void {
    const [from, to] = this.ends;
    connect(from, to, options);
    connect(to, from, options);
  }

  private makeRegion(): MemoryRegion {
    return this.verbs.protectionDomain.allocate(bytes, everyRight);
  }
}

function run(boardOptions: BoardOptions, seed: number): void {
  const random = new Random(seed);
  const made = makeVerbs(stepped, { ...boardOptions, seed });
  // Room for all flushed work requests.
  const completionQueue = made.context.createCompletionQueue({ entries: 2048 });
  const verbs = { ...made, completionQueue };
  const { board } = verbs;
  const others = [0, 1].map(() => new RandomConnection(random, 60, verbs, verbs));
  const victims = [0, 1].map(() => new Victim(random, verbs));
  const completions = Array.from({ length: 64 }, () => new Completion());
  const take = (): Completion[] => {
    const taken = completions.slice(0, completionQueue.poll(completions));
    for (const completion of taken)
      others
        .find(({ client, server }) =>
          [client, server].some(({ queuePair }) => queuePair.number === completion.queuePairNumber),
        )
        ?.take(completion);
    return taken;
  };
  for (let round = 0; !others.every(({ isDone }) => isDone); round++) {
    if (round === 20_000) throw new Error(`stuck: ${others.map(({ progress }) => progress).join('; ')}`);
    for (const connection of others) if (random.once(3)) connection.act();
    for (const victim of victims) if (random.once(3)) victim.load();
    if (random.once(8)) random.pick(victims).disturb();
    if (board.step(random.below(100)) === 0) board.advanceTime(20_000);
    take();
  }
  board.runUntilIdle();
  take();
  for (const victim of victims) {
    victim.revive();
    // Another queue pair may wait for its peer with the only completion credit, until its retries are used
    // up.
    for (let round = 0; round < 50; round++) {
      board.runUntilIdle();
      board.advanceTime(20_000);
    }
    const shown = take().filter((completion) => victim.owns(completion));
    expect(shown.map(({ wrId, status }) => [wrId, status])).toEqual([
      [901, CompletionStatus.success],
      [902, CompletionStatus.success],
    ]);
  }
}

describe('queue pairs that fail, end, lose their memory in the middle of their work', () => {
  it.each(Object.entries(boards))('on a board %s cost the others nothing', (_, boardOptions) => {
    for (let seed = 1; seed <= 6; seed++)
      try {
        run(boardOptions, seed);
      } catch (cause) {
        expect.fail(`seed ${seed}: ${String(cause)}`);
      }
  });
});
