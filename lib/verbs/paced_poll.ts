import { wrongRange, wrongType } from '../driver/arguments.ts';
import { PollPace } from '../driver/poll_pace.ts';

/** Options of a paced poll. */
export interface PacedPollOptions {
  /** Milliseconds after which it gives up, 0 to 1000: it holds the event loop so long. Default 1. */
  readonly timeout?: number;
}

const usualTimeout = 1;
const longestTimeout = 1000;
const nanoseconds = 1e-6; // in milliseconds

/** A queue that fills in the caller's objects, and returns their number. */
interface Polled<Entry> {
  poll(entries: readonly Entry[]): number;
}

/** Polls for entries that the device is about to write, and lets it write most of them before it looks. */
export class PacedPoll {
  private readonly pace: PollPace | undefined;
  private readonly now: () => number;

  /**
   * @param isDriven polling drives the device, which does nothing in between: it looks all the time
   * @param now time in milliseconds
   */
  constructor(isDriven: boolean, now = (): number => performance.now()) {
    this.pace = isDriven ? undefined : new PollPace();
    this.now = now;
  }

  /**
   * Polls until there is an entry, or the time is up.
   * @returns the number of objects filled in; 0: the time is up
   * @throws TypeError, RangeError: timeout; what polling throws
   */
  run<Entry>(
    polled: Polled<Entry>,
    entries: readonly Entry[],
    { timeout = usualTimeout }: PacedPollOptions,
  ): number {
    if (typeof timeout !== 'number') throw wrongType('timeout', 'a number of milliseconds', timeout);
    if (!(timeout >= 0 && timeout <= longestTimeout))
      throw wrongRange('timeout', `0 to ${longestTimeout} ms`, timeout);
    const begin = this.now();
    const { pace } = this;
    if (pace !== undefined) {
      const first = begin + Math.min(pace.delay * nanoseconds, timeout);
      while (this.now() < first);
    }
    let count = polled.poll(entries);
    pace?.looked(count > 0);
    while (count === 0 && this.now() - begin < timeout) count = polled.poll(entries);
    return count;
  }
}
