import { statisticsOf } from '../output/statistics.ts';

/** Samples of one run, as a plot shows them. */
export interface PlotRun {
  /** Names it in the legend. */
  readonly label: string;
  readonly samples: Float64Array;
}

/** A quantity, in the unit of its samples. */
export interface Quantity {
  /** Title of its axis. */
  readonly title: string;
  /** A value in three digits with its unit, 1.20 µs; a round one, of an axis, without zeros behind the point. */
  readonly text: (value: number, isRound?: boolean) => string;
}

/** A run in numbers, its samples sorted. */
export class RankedRun {
  readonly label: string;
  readonly sorted: Float64Array;
  readonly median: number;
  readonly percentile99: number;
  readonly percentile999: number;
  readonly minimum: number;
  readonly maximum: number;

  /** Of a run of at least one sample. */
  constructor({ label, samples }: PlotRun) {
    this.label = label;
    this.sorted = Float64Array.from(samples).sort();
    const { median, percentile99, percentile999, minimum, maximum } = statisticsOf(samples);
    this.median = median;
    this.percentile99 = percentile99;
    this.percentile999 = percentile999;
    this.minimum = minimum;
    this.maximum = maximum;
  }

  /** Share of the samples up to a value, 0 to 1. */
  shareUpTo(value: number): number {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sorted[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low / this.sorted.length;
  }
}

const units = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
] as const;

/** Latency, nanoseconds. */
export const latencyQuantity: Quantity = {
  title: 'latency',
  text: (nanoseconds, isRound) => {
    const [scale, unit] = units.find(([least]) => nanoseconds >= least) ?? [1, 'ns'];
    return `${threeDigits(nanoseconds / scale, isRound)} ${unit}`;
  },
};

const rates = [
  [1e9, 'GB/s'],
  [1e6, 'MB/s'],
  [1e3, 'kB/s'],
  [1, 'B/s'],
] as const;

/** Bandwidth, bytes a second. */
export const bandwidthQuantity: Quantity = {
  title: 'bandwidth',
  text: (bytesPerSecond, isRound) => {
    const [scale, unit] = rates.find(([least]) => bytesPerSecond >= least) ?? [1, 'B/s'];
    return `${threeDigits(bytesPerSecond / scale, isRound)} ${unit}`;
  },
};

function threeDigits(value: number, isRound = false): string {
  if (value >= 100) return value.toFixed(0);
  return isRound ? `${Number(value.toPrecision(3))}` : value.toPrecision(3);
}
