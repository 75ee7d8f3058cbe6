import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import { Completion } from '../../lib/index.ts';
import { Random } from '../helpers/random.mjs';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';
import { RandomConnection } from '../helpers/random_connection.ts';

const connections = 5;
const messages = 60;

const noneShared: BoardOptions = {
  sharedExecutionCredits: 0,
  sharedCompletionCredits: 0,
  sharedExecutionCreditsCap: 0,
  sharedCompletionCreditsCap: 0,
};

const boards: Readonly<Record<string, BoardOptions>> = {
  'as it comes': {},
  'with one lane, one credit of each kind, two PCBs': {
    ...noneShared,
    physicalCollectBuffers: 2,
    transmitVirtualLanes: 1,
    executionCreditsPerLane: 1,
    completionCreditsPerLane: 1,
    schedulerBatch: 1,
  },
  'with shared credits only, few of them': {
    transmitVirtualLanes: 2,
    executionCreditsPerLane: 0,
    completionCreditsPerLane: 0,
    sharedExecutionCredits: 2,
    sharedCompletionCredits: 3,
    sharedExecutionCreditsCap: 1,
    sharedCompletionCreditsCap: 2,
  },
  'with two contexts cached, and one PCB': { queuePairContextsCached: 2, physicalCollectBuffers: 1 },
  'that acknowledges every packet': { acknowledgeCoalescing: false },
  'behind a bridge of DWORDs': { doubleWordOnly: true, mapping: 'uncached' },
};

function run(options: BoardOptions, count: 1 | 2, seed: number): void {
  const random = new Random(seed);
  const shared = { ...options, seed, fabric: randomUUID() };
  const first = makeVerbs(stepped, shared);
  const second = count === 1 ? first : makeVerbs(stepped, shared);
  const all = Array.from({ length: connections }, (_, index) =>
    index % 2 === 0
      ? new RandomConnection(random, messages, first, second)
      : new RandomConnection(random, messages, second, first),
  );
  const sides = count === 1 ? [first] : [first, second];
  const completions = Array.from({ length: 16 }, () => new Completion());
  for (let round = 0; !all.every(({ isDone }) => isDone); round++) {
    if (round === 20_000) throw new Error(`stuck: ${all.map(({ progress }) => progress).join('; ')}`);
    for (const connection of all) if (random.once(3)) connection.act();
    // Idle: time advances for work requests that wait for a receive.
    if (first.board.step(random.below(200)) === 0) first.board.advanceTime(20_000);
    for (const side of sides) {
      const taken = side.completionQueue.poll(completions);
      for (const completion of completions.slice(0, taken))
        all.find((connection) => connection.owns(side, completion))!.take(completion);
    }
  }
}

describe.each([1, 2] as const)('connections on %i board(s)', (count) => {
  it.each(Object.entries(boards))('%s do what they are asked, whatever comes when', (_, options) => {
    for (let seed = 1; seed <= 4; seed++)
      try {
        run(options, count, seed);
      } catch (cause) {
        expect.fail(`seed ${seed}: ${String(cause)}`);
      }
  });
});
