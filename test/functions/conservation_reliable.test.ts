// Long random stepped runs of reliable connections over a link that loses packets, checked after every step:
// acknowledgements, timeouts, retries and resets lose no credit, entry or buffer, and return none twice.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { Completion, Opcode, PathMtu, QueuePairState, Resource, type SendRequest } from '../../lib/index.ts';
import { Random } from '../helpers/random.mjs';
import { connect, makeMemory, makePair, type ConnectOptions, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

const actions = 120;
const bytes = 600;
const attributes: ConnectOptions = { pathMtu: PathMtu.mtu256, timeout: 3, retryCount: 3 };
/** Local ACK timeout 3: 4.096 µs × 2^3. */
const timeout = 4096 * 2 ** 3;

class Run {
  private readonly random: Random;
  private readonly boards: readonly [Verbs, Verbs];
  private readonly pairs: readonly (readonly [End, End])[];
  private readonly requests: readonly SendRequest[];

  constructor(seed: number) {
    const random = new Random(seed);
    this.random = random;
    const options = {
      fabric: randomUUID(),
      seed,
      linkLoss: 0.05,
      underlyingFunctions: 1,
      physicalCollectBuffers: 2 + random.below(8),
      dedicatedPhysicalCollectBuffers: 2 + random.below(3),
      managementPhysicalCollectBuffers: 1,
      transmitVirtualLanes: 1 + random.below(4),
      executionCreditsPerLane: random.below(2),
      completionCreditsPerLane: random.below(3),
      sharedExecutionCredits: 1 + random.below(3),
      sharedCompletionCredits: 1 + random.below(3),
      schedulerBatch: 1 + random.below(3),
      queuePairContextsCached: 4,
    };
    this.boards = [makeVerbs(stepped, options), makeVerbs(stepped, options)];
    const [here, there] = this.boards;
    this.pairs = Array.from({ length: 4 }, () => makePair(here, attributes, there));
    const [near, far] = this.pairs[0]!.map((end) => makeMemory(end, bytes).region);
    const remote = far!.remote();
    this.requests = [
      { opcode: Opcode.send },
      { opcode: Opcode.rdmaWrite, gather: [near!.slice()], remote },
      { opcode: Opcode.rdmaRead, gather: [near!.slice()], remote },
      {
        opcode: Opcode.atomicFetchAndAdd,
        gather: [near!.slice(0, 8)],
        remote: remote.slice(0, 8),
        compareAdd: 1n,
      },
    ];
  }

  /** Steps the boards, and verifies their state after each step. */
  private step(count: number): void {
    for (let steps = 0; steps < count; steps++) {
      if (this.boards[0].board.step(1) === 0) return;
      for (const { board } of this.boards) expect(board.verify()).toBeUndefined();
    }
  }

  private poll(): void {
    const completions = Array.from({ length: 64 }, () => new Completion());
    for (const { completionQueue } of this.boards) completionQueue.poll(completions);
  }

  private post([from, to]: readonly [End, End]): void {
    const { random } = this;
    const { queuePair } = from;
    const request = random.pick(this.requests);
    if (request.opcode === Opcode.send && random.once(2)) to.queuePair.postReceive({ wrId: 1 });
    const posted = { ...request, wrId: 2, signaled: random.once(4), fence: random.once(6) };
    queuePair.postSend(random.once(3) ? [posted] : posted);
  }

  /** Resets both queue pairs, which drops all their messages, and connects them again. */
  private reconnect([from, to]: readonly [End, End]): void {
    for (const { queuePair } of [from, to]) queuePair.modify({ state: QueuePairState.reset });
    connect(from, to, attributes);
    connect(to, from, attributes);
  }

  private act(): void {
    const { random } = this;
    const pair = random.pick(this.pairs);
    const kind = random.below(12);
    if (kind === 0) this.reconnect(pair);
    else if (kind === 1) this.boards[0].board.advanceTime(random.below(2 * timeout));
    else if (kind === 2) {
      const amount = 1 + random.below(4);
      const resource = random.pick([Resource.listSize, Resource.entryCredits]);
      const owner = resource === Resource.listSize ? { lane: 0 } : { underlyingFunction: 0 };
      this.boards[0].context.allocateResources([{ resource, amount, ...owner }]);
    } else {
      try {
        this.post(pair);
      } catch (error) {
        // The queue is full or in the error state: connect again.
        expect(error).toMatchObject({ code: expect.stringMatching(/ENOMEM|EINVAL/) as string });
        this.reconnect(pair);
      }
    }
    this.step(random.below(60));
    this.poll();
  }

  run(): void {
    for (let action = 0; action < actions; action++) this.act();
    for (const pair of this.pairs) this.reconnect(pair);
    for (const { board } of this.boards) board.runUntilIdle();
    for (const { board, context } of this.boards) {
      expect(board.verify(true)).toBeUndefined();
      for (const { execution, completion } of context.queryCredits())
        for (const { own, ownFree, sharedHeld } of [execution, completion])
          expect([ownFree, sharedHeld]).toEqual([own, 0]);
    }
  }
}

it('reliable connections lose no credit, entry or buffer, and return none twice', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), (seed) => new Run(seed).run()),
    { numRuns: 6 },
  );
});
