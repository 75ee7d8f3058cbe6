import { Completion } from '../../lib/index.ts';
import type { Random } from './random.mjs';
import type { Verbs } from './make_verbs.ts';
import { RandomConnection } from './random_connection.ts';

const timeLimit = 60_000; // milliseconds

/** Runs a random connection in each direction between two open devices whose boards have their own threads, until both are done. */
export async function playBothWays(
  random: Random,
  messages: number,
  sides: readonly [Verbs, Verbs],
): Promise<void> {
  const [one, other] = sides;
  const all = [
    new RandomConnection(random, messages, one, other),
    new RandomConnection(random, messages, other, one),
  ];
  const completions = Array.from({ length: 16 }, () => new Completion());
  const givenUp = performance.now() + timeLimit;
  while (!all.every(({ isDone }) => isDone)) {
    if (performance.now() > givenUp) throw new Error(all.map(({ progress }) => progress).join('; '));
    for (const connection of all) if (random.once(3)) connection.act();
    for (const side of sides) {
      const taken = side.completionQueue.poll(completions);
      for (const completion of completions.slice(0, taken))
        all.find((connection) => connection.owns(side, completion))!.take(completion);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
