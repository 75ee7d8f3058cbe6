import type { Side } from './drive.ts';
import type { End } from './end.ts';

const nothing = (): void => {};
/** Polls per turn while messages arrive: an unreliable service loses messages that find no receive. */
const mostLooks = 8;

/** A side that sends nothing of its own. It polls for received messages, which also drives its device. */
export class PassiveSide implements Side {
  readonly done = true;
  private readonly end: End;

  constructor(end: End) {
    this.end = end;
  }

  /** These polls drive its device, so that it does not sleep. */
  advance(): boolean {
    for (let looks = 0; looks < mostLooks && this.end.poll(nothing, nothing); looks++);
    return true;
  }
}
