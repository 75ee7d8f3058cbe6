/** Looks between two tellings at most: a queue may stand still for long, and rightly so. */
const longestPause = 64;

/**
 * Finds a queue that stands still. It says so at the second look that finds the queue as it was, then after 2 more, 4, and so on up
 * to 64, as what is done about it may be lost too.
 */
export class Stall {
  private mark = -1;
  private looks = 0;

  /**
   * @param waits whether there is anything that may stand still
   * @param mark another one whenever the queue has moved
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
