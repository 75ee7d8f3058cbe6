import { setImmediate } from 'node:timers/promises';

/** What one end of a measurement does. */
export interface Side {
  /** It has nothing more to do but to let the peer finish. */
  readonly done: boolean;
  /** Takes completions and posts what is due. */
  advance(): void;
}

const turnsBetweenClocks = 64;
/** Milliseconds for which the event loop waits. */
const breath = 50;
/** Milliseconds without a message after which nothing more will come. */
const patience = 30_000;

/**
 * Lets sides work in turns until all are done. One process drives those that it has.
 * @param messages how many there were so far, for whoever is shown it
 * @throws AbortError; Error: nothing has moved for long
 */
export async function drive(
  sides: readonly Side[],
  messages: () => number,
  signal: AbortSignal,
  progress: (messages: number) => void,
): Promise<void> {
  let [rested, moved] = [performance.now(), performance.now()];
  let before = 0;
  for (let turn = 1; ; turn++) {
    let done = true;
    for (const side of sides) {
      side.advance();
      done = side.done && done;
    }
    if (done) return;
    if (turn % turnsBetweenClocks !== 0) continue;
    const now = performance.now();
    if (now - rested < breath) continue;
    rested = now;
    const count = messages();
    if (count !== before) [before, moved] = [count, now];
    else if (now - moved > patience) {
      throw new Error(
        `nothing came for ${patience / 1000} s after ${count} messages; expected: a peer that answers`,
      );
    }
    progress(count);
    await setImmediate(undefined, { signal });
  }
}
