import { setImmediate } from 'node:timers/promises';

import type { CompletionQueue } from '../../index.ts';
import { completionAtAny } from '../completion_at_any.ts';
import { Idle } from '../idle.ts';

/** One end of a measurement. */
export interface Side {
  /** All its own work is complete; only the peer may need it. */
  readonly done: boolean;
  /**
   * Polls completions and posts due work requests; when done, does nothing.
   * @returns false: there was no completion, and the caller may sleep
   */
  advance(): boolean;
}

const turnsBetweenClocks = 64;
/** Milliseconds per turn of the event loop. */
const breath = 50;
/** Milliseconds without a message, beyond the time for its bytes, after which the run has failed. */
const timeout = 30_000;
/** Bytes per millisecond of the slowest machine. */
const slowest = 10_000;

/** Progress of the sides. */
export interface Driving {
  /** Number of messages up to now. Undefined: another process counts them and detects that they stop. */
  readonly messages?: () => number;
  /** Bytes that may be transferred between two messages. */
  readonly bytesBetween: number;
  readonly signal: AbortSignal;
  /** Called with the number of messages now and then. */
  readonly progress: (messages: number) => void;
  /** Between turns, sleep until one of these has a completion. Undefined: poll without sleep. */
  readonly sleepAt?: readonly CompletionQueue[];
  /** Milliseconds. */
  readonly clock?: () => number;
}

/**
 * Runs the sides of this process in turns until all are done.
 * @throws AbortError; Error: no message for too long
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
      throw new Error(
        `nothing arrived for ${waited} s after ${count} messages; expected: a peer that answers`,
      );
    }
    progress(count);
    await setImmediate(undefined, { signal });
  }
}
