import type { Side } from './drive.ts';
import type { End } from './end.ts';

const nothing = (): void => {};
/** Looks in a turn while something comes: an unreliable service loses what finds no receive. */
const mostLooks = 8;

/** A side that begins nothing: what it receives it takes, and its device works where polling lets it. */
export class PassiveSide implements Side {
  readonly done = true;
  private readonly end: End;

  constructor(end: End) {
    this.end = end;
  }

  /** Its device works by these looks: there is no time to sleep. */
  advance(): boolean {
    for (let looks = 0; looks < mostLooks && this.end.poll(nothing, nothing); looks++);
    return true;
  }
}
