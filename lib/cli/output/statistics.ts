/** Statistics of a set of samples: nanoseconds. */
export interface Statistics {
  readonly samples: number;
  readonly minimum: number;
  readonly median: number;
  readonly percentile99: number;
  readonly percentile999: number;
  readonly maximum: number;
}

/** Statistics of at least one sample. */
export function statisticsOf(samples: Float64Array): Statistics {
  const sorted = Float64Array.from(samples).sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return {
    samples: sorted.length,
    minimum: at(0),
    median: at(0.5),
    percentile99: at(0.99),
    percentile999: at(0.999),
    maximum: sorted.at(-1)!,
  };
}

/** Standard deviation of samples. */
export function spreadOf(samples: Float64Array): number {
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  return Math.sqrt(samples.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / samples.length);
}

/** A bin of a histogram: samples from `from` up to, but not including, `to`. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/**
 * A logarithmic histogram: up to the 99th percentile bins whose edges grow by one factor, beyond it bins that double. Bins are not narrower than
 * one; empty ones beyond the 99th percentile are left out.
 */
export function histogramOf(samples: Float64Array, bins = 12): Bin[] {
  const { minimum, percentile99, maximum } = statisticsOf(samples);
  const first = Math.max(1, Math.floor(minimum));
  const body = Math.max(first + 1, Math.ceil(percentile99));
  const edgeAt = (bin: number): number => Math.round(first * (body / first) ** (bin / bins));
  const edges = [...new Set(Array.from({ length: bins + 1 }, (_, bin) => edgeAt(bin)))];
  const inBody = edges.length - 1;
  while (edges.at(-1)! <= maximum) edges.push(edges.at(-1)! * 2);
  const counts = Array.from({ length: edges.length - 1 }, () => 0);
  for (const sample of samples) counts[binOf(edges, sample)]! += 1;
  return counts
    .map((count, bin) => ({ from: edges[bin]!, to: edges[bin + 1]!, count }))
    .filter(({ count }, bin) => bin < inBody || count > 0);
}

/** The bin of a sample; a sample below the first edge is in the first bin. */
function binOf(edges: readonly number[], sample: number): number {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= sample) low = middle;
    else high = middle;
  }
  return low;
}

const barWidth = 36;

/** A line for each bin: its lower edge, a bar, the count, and the share of samples up to its upper edge. */
export function histogramText(bins: readonly Bin[]): string {
  const most = Math.max(...bins.map(({ count }) => count));
  const all = bins.reduce((sum, { count }) => sum + count, 0);
  const width = Math.max(...bins.map(({ from }) => `${from}`.length));
  let sum = 0;
  return bins
    .map(({ from, count }) => {
      sum += count;
      const bar = '█'.repeat(Math.ceil((count / most) * barWidth)).padEnd(barWidth);
      const share = ((100 * sum) / all).toFixed(sum < all ? 2 : 0).padStart(6);
      return `  ≥ ${`${from}`.padStart(width)} ns ${bar} ${`${count}`.padStart(`${most}`.length)} ${share} %\n`;
    })
    .join('');
}
