/** A rate in counts per second, in at most seven characters: 12,345, 1.23M. */
export function rateText(rate: number | undefined): string {
  if (rate === undefined) return '-';
  if (rate === 0) return '0';
  if (rate < 10) return rate.toFixed(1);
  if (rate < 100_000) return Math.round(rate).toLocaleString('en');
  return scaled(rate);
}

/** A rate in bytes per second, with a unit. */
export function byteRateText(rate: number | undefined): string {
  return rate === undefined
    ? '-'
    : rate < 1000
      ? `${Math.round(rate)} B/s`
      : `${scaled(rate).replace(/[kMGT]$/, ' $&')}B/s`;
}

/** A number with three digits and a suffix: k, M, G, T. */
function scaled(value: number): string {
  let left = value;
  let unit = '';
  for (const next of ['k', 'M', 'G', 'T']) {
    if (left < 999.5) break;
    left /= 1000;
    unit = next;
  }
  return `${left < 9.995 ? left.toFixed(2) : left < 99.95 ? left.toFixed(1) : left.toFixed(0)}${unit}`;
}
