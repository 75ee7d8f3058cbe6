import { setImmediate, setTimeout } from 'node:timers/promises';

import { wrongRange, wrongType } from '../driver/arguments.ts';

/** Limits of a wait. */
export interface WaitOptions {
  /** Aborts the wait with its reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds without news after which a TimeoutError ends the wait. Default: no limit. */
  readonly timeout?: number;
}

/** @throws TypeError, RangeError: invalid options */
export function checkWaitOptions({ signal, timeout = Infinity }: WaitOptions): void {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw wrongType('signal', 'an AbortSignal: that of an AbortController, or AbortSignal.any()', signal);
  }
  if (typeof timeout !== 'number') throw wrongType('timeout', 'a number of milliseconds', timeout);
  if (!(timeout >= 0)) throw wrongRange('timeout', '0 ms or more', timeout);
}

/** The time, of performance.now(), at which the wait ends. @throws TypeError, RangeError: invalid options */
export function deadlineOf(options: WaitOptions): number {
  checkWaitOptions(options);
  return performance.now() + (options.timeout ?? Infinity);
}

/** Sleeps, at most until the deadline. @throws the signal's reason; DOMException TimeoutError: the deadline is over */
export async function sleep(
  milliseconds: number,
  { signal, timeout }: WaitOptions,
  deadline: number,
): Promise<void> {
  const left = deadline - performance.now();
  if (left <= 0) throw new DOMException(`not done within ${timeout} ms`, 'TimeoutError');
  try {
    await setTimeout(Math.min(milliseconds, left), undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

const pollsBeforeSleep = 64;
const sleepMilliseconds = 1;

/** Waits for a condition that raises no interrupt: first one turn of the event loop at a time, then a millisecond at a time. */
export class PollingWait {
  private readonly signal: AbortSignal | undefined;
  private readonly timeout: number;
  private since = performance.now();
  private polls = 0;

  /** @throws TypeError, RangeError: invalid options */
  constructor(options: WaitOptions) {
    checkWaitOptions(options);
    const { signal, timeout = Infinity } = options;
    this.signal = signal;
    this.timeout = timeout;
  }

  /** Restarts the timeout after progress. */
  refresh(): void {
    this.since = performance.now();
    this.polls = 0;
  }

  /** Waits for the next poll. @throws the signal's reason; DOMException TimeoutError */
  async next(): Promise<void> {
    this.signal?.throwIfAborted();
    if (performance.now() - this.since >= this.timeout) {
      throw new DOMException(`nothing came within ${this.timeout} ms`, 'TimeoutError');
    }
    this.polls += 1;
    await (this.polls <= pollsBeforeSleep ? setImmediate() : setTimeout(sleepMilliseconds));
  }
}
