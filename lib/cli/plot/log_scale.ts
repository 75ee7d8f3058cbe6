/** A logarithmic axis: maps a range of values to a range of positions. */
export class LogScale {
  readonly low: number;
  readonly high: number;
  private readonly from: number;
  private readonly to: number;

  /** Values must be more than 0. An empty range is widened by a tenth. */
  constructor([low, high]: readonly [number, number], [from, to]: readonly [number, number]) {
    this.low = low;
    this.high = high > low * 1.05 ? high : low * 1.1;
    this.from = from;
    this.to = to;
  }

  /** The position of a value; values outside the range have the position of its nearest end. */
  place(value: number): number {
    const share = Math.log(value / this.low) / Math.log(this.high / this.low);
    return this.from + Math.min(1, Math.max(0, share)) * (this.to - this.from);
  }

  /** The value at a fraction of the axis, 0 to 1. */
  valueAt(share: number): number {
    return this.low * (this.high / this.low) ** share;
  }

  /** Round values in the range with a minimum distance: 1, 2 and 5 in each decade, or fewer, or equal steps within a decade. */
  ticks(apart: number): number[] {
    for (const digits of [[1, 2, 5], [1, 3], [1]]) {
      const found = this.decadeTicks(digits);
      if (found.length >= 3 && this.areApart(found, apart)) return found;
    }
    for (let wanted = 8; wanted > 1; wanted--) {
      const found = this.evenTicks(wanted);
      if (this.areApart(found, apart)) return found;
    }
    return this.decadeTicks([1]).filter((_, index) => index % 2 === 0);
  }

  private areApart(ticks: readonly number[], apart: number): boolean {
    return ticks.every(
      (tick, index) => index === 0 || this.place(tick) - this.place(ticks[index - 1]!) >= apart,
    );
  }

  private decadeTicks(digits: readonly number[]): number[] {
    const found: number[] = [];
    const last = Math.ceil(Math.log10(this.high));
    for (let power = Math.floor(Math.log10(this.low)); power <= last; power++)
      for (const digit of digits) found.push(digit * 10 ** power);
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
