import { setImmediate } from 'node:timers/promises';

import type { CompletionQueue } from '../../index.ts';
import { completionAtAny } from '../completion_at_any.ts';
import { Idle } from '../idle.ts';

/** One end of a measurement. */
export interface Side {
  /** It has nothing more to do but to let the peer finish. */
  readonly done: boolean;
  /**
   * Takes completions and posts what is due; nothing when it is done.
   * @returns false: nothing has come, and a sleep does no harm
   */
  advance(): boolean;
}

const turnsBetweenClocks = 64;
/** Milliseconds for which the event loop waits. */
const breath = 50;
/** Milliseconds without a message after which nothing more will come, beside the time that the bytes take. */
const timeout = 30_000;
/** Bytes a millisecond that the slowest of machines gets through. */
const slowest = 10_000;

/** How far sides are driven. */
export interface Driving {
  /** How many messages there were so far. None: another process sees them, and judges whether they come. */
  readonly messages?: () => number;
  /** Bytes that may go through before there is another message. */
  readonly bytesBetween: number;
  readonly signal: AbortSignal;
  /** Is told the messages now and then. */
  readonly progress: (messages: number) => void;
  /** Between the turns it sleeps until there is a completion at one of these. None: it looks again and again. */
  readonly sleepAt?: readonly CompletionQueue[];
  /** Milliseconds. */
  readonly clock?: () => number;
}

/**
 * Lets sides work in turns until all are done. One process drives those that it has.
 * @throws AbortError; Error: nothing has come for long
 */
export async function drive(
  sides: readonly Side[],
  { messages, bytesBetween, signal, progress, sleepAt, clock = () => performance.now() }: Driving,
): Promise<void> {
  const longest = messages === undefined ? Infinity : timeout + bytesBetween / slowest;
  let [rested, moved] = [clock(), clock()];
  let before = 0;
  const idle = new Idle();
  for (let turn = 1; ; turn++) {
    let done = true;
    let worked = false;
    for (const side of sides) {
      worked = side.advance() || worked;
      done = side.done && done;
    }
    if (done) return;
    if (sleepAt !== undefined) await completionAtAny(sleepAt, { signal, timeout: longest });
    const isIdle = sleepAt === undefined && idle.turn(worked);
    if (isIdle) await idle.sleep(signal);
    else if (turn % turnsBetweenClocks !== 0) continue;
    const now = clock();
    if (now - rested < breath) continue;
    rested = now;
    const count = messages?.() ?? 0;
    if (count !== before) [before, moved] = [count, now];
    else if (now - moved > longest) {
      const waited = Math.round(longest / 1000);
      throw new Error(`nothing came for ${waited} s after ${count} messages; expected: a peer that answers`);
    }
    progress(count);
    await setImmediate(undefined, { signal });
  }
}
