import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import type { LinkImpairment, LinkImpairmentCounters } from '../../lib/board/faults.ts';
import { Completion, Opcode } from '../../lib/index.ts';
import { Random } from '../helpers/random.mjs';
import { addressOf, destined, makeStation, type Station } from '../helpers/datagram.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';
import { RandomConnection } from '../helpers/random_connection.ts';

const messages = 60;

const impairments: Readonly<Record<string, LinkImpairment>> = {
  'that loses 1 %': { loss: 0.01 },
  'that loses 10 %': { loss: 0.1 },
  'that doubles 10 %': { duplication: 0.1 },
  'that reorders 10 %': { reordering: 0.1 },
  'that damages 5 %': { corruption: 0.05 },
  'that is slow': { delay: 3000, rate: 10e9 },
  'that does nothing else but doubles and reorders': { duplication: 0.3, reordering: 0.3, reorderDelay: 500 },
  'that loses 1 %, doubles and reorders': { loss: 0.01, duplication: 0.05, reordering: 0.05, delay: 1000 },
  'that loses 10 %, doubles and reorders': { loss: 0.1, duplication: 0.05, reordering: 0.05, delay: 1000 },
  'that loses answers only': { lane: 'responses', loss: 0.2 },
};

interface Run {
  readonly counters: readonly LinkImpairmentCounters[];
  readonly end: bigint;
}

/** Connections of two stepped boards, in both directions, over impaired links. */
function run(impairment: LinkImpairment, connections: number, seed: number, options: BoardOptions = {}): Run {
  const random = new Random(seed);
  const shared = { ...options, seed, fabric: randomUUID() };
  const sides: [Verbs, Verbs] = [makeVerbs(stepped, shared), makeVerbs(stepped, shared)];
  const [first, second] = sides;
  const ids = sides.map(({ board }) => board.impair(impairment));
  const all = Array.from({ length: connections }, (_, index) =>
    index % 2 === 0
      ? new RandomConnection(random, messages, first, second, { timeout: 4 })
      : new RandomConnection(random, messages, second, first, { timeout: 4 }),
  );
  const completions = Array.from({ length: 16 }, () => new Completion());
  for (let round = 0; !all.every(({ isDone }) => isDone); round++) {
    if (round === 50_000) throw new Error(`stuck: ${all.map(({ progress }) => progress).join('; ')}`);
    for (const connection of all) if (random.once(3)) connection.act();
    if (first.board.step(random.below(200)) === 0) first.board.advanceTime(20_000);
    for (const side of sides) {
      const taken = side.completionQueue.poll(completions);
      for (const completion of completions.slice(0, taken))
        all.find((connection) => connection.owns(side, completion))!.take(completion);
    }
  }
  return { counters: sides.map(({ board }, side) => board.impaired(ids[side]!)), end: first.board.now() };
}

describe('connections over a link', () => {
  it.each(Object.entries(impairments))('%s bring every message once, in order, whole', (_, impairment) => {
    for (let seed = 1; seed <= 6; seed++)
      try {
        run(impairment, 5, seed);
      } catch (cause) {
        expect.fail(`seed ${seed}: ${String(cause)}`);
      }
  });

  it('repeat from the same seed, and differ with another', () => {
    const impairment = impairments['that loses 10 %, doubles and reorders']!;
    expect(run(impairment, 3, 11)).toEqual(run(impairment, 3, 11));
    expect(run(impairment, 3, 11)).not.toEqual(run(impairment, 3, 12));
  });
});

describe('datagrams over a lossy link', () => {
  it.each([
    [
      'those of one sender',
      ({ senders: [first] }: Datagrams) => ({ sourceQueuePair: first.queuePair.number }),
      [2, 4],
    ],
    [
      'those to one receiver',
      ({ receivers: [first] }: Datagrams) => ({ queuePair: first.queuePair.number }),
      [3, 4],
    ],
    [
      'those of one flow',
      ({ senders: [first], receivers: [, second] }: Datagrams) => ({
        sourceQueuePair: first.queuePair.number,
        queuePair: second.queuePair.number,
      }),
      [1, 2, 4],
    ],
  ])('%s, the others arrive', (_, choose, arrived) => {
    const place = { fabric: randomUUID(), queuePairs: 64 };
    const [near, far] = [1, 2].map(() => makeVerbs(stepped, place)) as [Verbs, Verbs];
    const stations = (verbs: Verbs): [Station, Station] => [makeStation(verbs), makeStation(verbs)];
    const all: Datagrams = { senders: stations(near), receivers: stations(far) };
    far.board.impair({ loss: 1, ...choose(all) });
    for (const to of all.receivers) {
      for (let count = 0; count < 2; count += 1)
        to.queuePair.postReceive({ scatter: [to.region.slice(0, 1000)] });
    }
    const wanted = all.receivers.flatMap((to) => all.senders.map((from) => [from, to] as const));
    for (const [index, [from, to]] of wanted.entries()) {
      from.queuePair.postSend({
        opcode: Opcode.sendWithImmediate,
        immediateData: index + 1,
        ...destined(to, addressOf(from, to)),
      });
    }
    far.board.runUntilIdle();
    const received = all.receivers.flatMap(({ verbs: { completionQueue } }) => {
      const completions = Array.from({ length: 4 }, () => new Completion());
      return completions
        .slice(0, completionQueue.poll(completions))
        .map(({ immediateData }) => immediateData);
    });
    expect(received).toEqual(arrived);
  });
});

interface Datagrams {
  readonly senders: readonly [Station, Station];
  readonly receivers: readonly [Station, Station];
}
