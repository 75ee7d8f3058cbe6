/** A logarithmic axis: from a range of values to one of places. */
export class LogScale {
  readonly low: number;
  readonly high: number;
  private readonly from: number;
  private readonly to: number;

  /** Values are more than 0; the range is widened to a tenth beyond where it is empty. */
  constructor([low, high]: readonly [number, number], [from, to]: readonly [number, number]) {
    this.low = low;
    this.high = high > low * 1.05 ? high : low * 1.1;
    this.from = from;
    this.to = to;
  }

  /** The place of a value; those beyond the range have that of its end. */
  place(value: number): number {
    const share = Math.log(value / this.low) / Math.log(this.high / this.low);
    return this.from + Math.min(1, Math.max(0, share)) * (this.to - this.from);
  }

  /** The value at a share of the way, 0 to 1. */
  valueAt(share: number): number {
    return this.low * (this.high / this.low) ** share;
  }

  /** Round values in the range, about as many as are wanted: 1, 2 and 5 in each decade, or fewer, or finer ones in a part of a decade. */
  ticks(wanted = 6): number[] {
    const decades = Math.log10(this.high / this.low);
    const steps = decades > wanted ? [1] : decades > 1.2 ? [1, 2, 5] : undefined;
    if (steps === undefined) return this.evenTicks(wanted);
    const found: number[] = [];
    for (let power = Math.floor(Math.log10(this.low)); power <= Math.ceil(Math.log10(this.high)); power++)
      for (const step of steps) found.push(step * 10 ** power);
    return found.filter((tick) => tick >= this.low && tick <= this.high);
  }

  private evenTicks(wanted: number): number[] {
    const rough = (this.high - this.low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((each) => each >= rough)!;
    const first = Math.ceil(this.low / step);
    const last = Math.floor(this.high / step);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
  }
}
