/** Maximum number of checks between two reports: a queue may stall for a long time for good reasons. */
const longestPause = 64;

/**
 * Detects a stalled queue. It reports at the second check that finds the queue unchanged, then after 2 more, 4, and so on up to 64, because
 * the reaction may be lost too.
 */
export class Stall {
  private mark = -1;
  private looks = 0;

  /**
   * @param waits whether anything could stall
   * @param mark changes whenever the queue has moved
   */
  look(waits: boolean, mark: number): boolean {
    if (!waits || mark !== this.mark) {
      this.mark = mark;
      this.looks = 0;
      return false;
    }
    this.looks += 1;
    return this.looks % longestPause === 0 || (this.looks & (this.looks - 1)) === 0;
  }
}
