import { setTimeout } from 'node:timers/promises';

/** Polls without a result, about a millisecond, after which the peer may need this very CPU. */
const pollsBeforeSleep = 512;
const sleepMilliseconds = 1;

/** The pace of a loop that polls: at once for as long as something comes, then a millisecond of sleep between two looks. */
export class Idle {
  private polls = 0;

  /** A turn has ended. @returns whether it is time to sleep */
  turn(worked: boolean): boolean {
    this.polls = worked ? 0 : this.polls + 1;
    return this.polls >= pollsBeforeSleep;
  }

  /** @throws the signal's reason */
  async sleep(signal: AbortSignal): Promise<void> {
    await setTimeout(sleepMilliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
