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

/** A histogram with bins of the same width from the minimum to the 99th percentile, and one for all beyond. */
export function histogramOf(samples: Float64Array, bins = 8): Bin[] {
  const { minimum, percentile99, maximum } = statisticsOf(samples);
  const width = Math.max(1, Math.ceil((percentile99 - minimum + 1) / bins));
  const first = Math.floor(minimum);
  const counts = Array.from({ length: bins + 1 }, () => 0);
  for (const sample of samples) counts[Math.min(bins, Math.floor((sample - first) / width))]! += 1;
  return counts.map((count, bin) => ({
    from: first + bin * width,
    to: bin < bins ? first + (bin + 1) * width : Math.max(maximum + 1, first + bins * width),
    count,
  }));
}

const barWidth = 40;

/** A line for each bin, with a bar. */
export function histogramText(bins: readonly Bin[]): string {
  const most = Math.max(...bins.map(({ count }) => count));
  const width = Math.max(...bins.map(({ to }) => `${Math.round(to)}`.length));
  return bins
    .map(({ from, count }, index) => {
      const bar = '█'.repeat(Math.ceil((count / most) * barWidth));
      const label = `${Math.round(from)}`.padStart(width);
      return `  ${index === bins.length - 1 ? '≥' : ' '} ${label} ns ${bar.padEnd(barWidth)} ${count}\n`;
    })
    .join('');
}
