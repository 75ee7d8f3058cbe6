/** Nanoseconds by which a first look is later after one that came too early, and sooner after one that did not. */
const [later, sooner] = [6, 2];
/** Nanoseconds; a look is cheap by comparison. */
const longest = 2000;

/**
 * When to look first at an entry that the device is about to write, as native/board/poll_pace.h does. A look takes the cache line of the
 * entry away from the device, which must get it back before it can write. The first look is therefore put off until three of four entries
 * have come, by a delay that follows them.
 */
export class PollPace {
  private current = 0;

  /** Nanoseconds from the request to the first look. */
  get delay(): number {
    return this.current;
  }

  /** Tells whether the first look found the entry. */
  looked(found: boolean): void {
    this.current = found ? Math.max(this.current - sooner, 0) : Math.min(this.current + later, longest);
  }
}
