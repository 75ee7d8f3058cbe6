/** Steps of a pace, as time passes. */
export class StepsDue {
  private due = 0;

  /** @returns whole steps that are due after so long; of a page that was behind no more than a tenth of a second */
  after(milliseconds: number, stepsPerSecond: number): number {
    const most = Math.max(1, stepsPerSecond / 10);
    this.due = Math.min(most, this.due + (stepsPerSecond * milliseconds) / 1000);
    const whole = Math.floor(this.due);
    this.due -= whole;
    return whole;
  }
}
