import type { Bins } from './frames.ts';

/** Bins of a factor of two. */
const binsOfOctave = 8;

/** Counts latencies in logarithmic bins: bin b begins at 2^(b/8) nanoseconds. */
export class LatencyBins {
  private readonly counts = new Map<number, number>();

  /** @param nanoseconds up to 0 counts as 1 */
  add(nanoseconds: number): void {
    const bin = Math.floor(Math.log2(Math.max(1, nanoseconds)) * binsOfOctave);
    this.counts.set(bin, (this.counts.get(bin) ?? 0) + 1);
  }

  /** The bins that are not empty, in order. */
  get bins(): Bins {
    return [...this.counts].sort(([one], [other]) => one - other);
  }
}
