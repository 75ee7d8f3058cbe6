import { setTimeout } from 'node:timers/promises';

/** Turns in vain, about a millisecond, after which whoever is waited for may need this very CPU. */
const turnsBeforeSleep = 512;
const sleepMilliseconds = 1;

/** The pace of a loop that polls: at once for as long as something comes, then a millisecond of sleep between two looks. */
export class Idle {
  private turns = 0;

  /** A turn has ended. @returns whether it is time to sleep */
  turn(worked: boolean): boolean {
    this.turns = worked ? 0 : this.turns + 1;
    return this.turns >= turnsBeforeSleep;
  }

  /** @throws the signal's reason */
  async sleep(signal: AbortSignal): Promise<void> {
    await setTimeout(sleepMilliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
