import { setTimeout } from 'node:timers/promises';

/** Polls without a result, about a millisecond, after which the peer may be waiting for this CPU. */
const pollsBeforeSleep = 512;
const sleepMilliseconds = 1;

/** Paces a polling loop: no pause while polls have results, later a sleep of a millisecond between two polls. */
export class Idle {
  private polls = 0;

  /** Ends a turn. @returns whether to sleep */
  turn(worked: boolean): boolean {
    this.polls = worked ? 0 : this.polls + 1;
    return this.polls >= pollsBeforeSleep;
  }

  /** @throws the signal's reason */
  async sleep(signal: AbortSignal): Promise<void> {
    await setTimeout(sleepMilliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
