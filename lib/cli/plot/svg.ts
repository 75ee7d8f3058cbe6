import { LogScale } from './log_scale.ts';
import { RankedRun, type PlotRun, type Quantity } from './run.ts';

/** Texts of a plot. */
export interface PlotTexts {
  /** Says what was measured, and where. */
  readonly title: string;
  /** How: iterations, clock, whatever a reader has to know. */
  readonly note: string;
  readonly quantity: Quantity;
}

// Pixels; readable at half the column width of a paper.
const width = 960;
const margin = { left: 64, right: 24, top: 88 } as const;
const gap = 96;
const panelWidth = (width - margin.left - margin.right - gap) / 2;
const leastPanelHeight = 280;
const rowHeight = 40;
const legendRow = 20;
const bins = 72;
const curvePoints = 240;
/** Between the labels of an axis. */
const tickSpace = 62;

/** Colors that people with any color vision tell apart (Okabe and Ito), and steps from dark to light for more runs. */
const distinct = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];

function colorOf(index: number, runs: number): string {
  if (runs <= distinct.length) return distinct[index]!;
  const share = index / (runs - 1);
  return `hsl(${Math.round(250 - 200 * share)} 75% ${Math.round(30 + 22 * share)}%)`;
}

/**
 * Draws the distribution of some runs as an SVG picture: their cumulative distributions in one panel, beside it a histogram of each, over one
 * logarithmic axis, and a table of medians and percentiles below. The axis ends at the largest of the 99th percentiles.
 * @param all runs of at least one sample, of values of more than 0, in the order of the legend
 */
export function distributionSvg(all: readonly PlotRun[], { title, note, quantity }: PlotTexts): string {
  const runs = all.map((run) => new RankedRun(run));
  const panelHeight = Math.max(leastPanelHeight, runs.length * rowHeight);
  const bottom = margin.top + panelHeight;
  const legendTop = bottom + 72;
  const height = legendTop + (runs.length + 1) * legendRow + 8;
  const range = [
    Math.min(...runs.map(({ minimum }) => minimum)),
    Math.max(...runs.map(({ percentile99 }) => percentile99)),
  ] as const;
  const left = new LogScale(range, [margin.left, margin.left + panelWidth]);
  const histogramLeft = margin.left + panelWidth + gap;
  const right = new LogScale(range, [histogramLeft, histogramLeft + panelWidth]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      'font-family="Helvetica, Arial, sans-serif" font-size="13">',
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(margin.left, 26, title, 'font-size="17" font-weight="bold"'),
    text(margin.left, 46, note, 'fill="#444444"'),
    cumulative(runs, left, { top: margin.top, bottom }, quantity),
    histograms(runs, right, { top: margin.top, bottom }, quantity),
    legend(runs, legendTop, quantity),
    '</svg>\n',
  ].join('\n');
}

interface Extent {
  readonly top: number;
  readonly bottom: number;
}

function cumulative(
  runs: readonly RankedRun[],
  scale: LogScale,
  { top, bottom }: Extent,
  quantity: Quantity,
): string {
  const [from, to] = [scale.place(scale.low), scale.place(scale.high)];
  const place = (share: number): number => bottom - share * (bottom - top);
  const shares = [0, 0.25, 0.5, 0.75, 1];
  return [
    axis(scale, { top, bottom }, quantity),
    ...shares.map((share) =>
      line(from, place(share), to, place(share), share === 0.5 ? '#999999' : '#dddddd'),
    ),
    ...shares.map((share) => text(from - 8, place(share) + 4, share.toFixed(2), 'text-anchor="end"')),
    text(from - 46, (top + bottom) / 2, 'share of samples up to', 'text-anchor="middle"', 'turn'),
    ...runs.map((run, index) => {
      const points = Array.from({ length: curvePoints + 1 }, (_, point) => {
        const value = scale.valueAt(point / curvePoints);
        return `${round(scale.place(value))},${round(place(run.shareUpTo(value)))}`;
      });
      const color = colorOf(index, runs.length);
      return (
        `<polyline fill="none" stroke="${color}" stroke-width="2" points="${points.join(' ')}"/>\n` +
        `<circle cx="${round(scale.place(run.median))}" cy="${round(place(0.5))}" r="4" fill="${color}"/>`
      );
    }),
    text(
      (from + to) / 2,
      top - 8,
      'cumulative distribution up to 99%; dots: medians',
      'text-anchor="middle" fill="#444444"',
    ),
  ].join('\n');
}

function histograms(
  runs: readonly RankedRun[],
  scale: LogScale,
  { top, bottom }: Extent,
  quantity: Quantity,
): string {
  const [from, to] = [scale.place(scale.low), scale.place(scale.high)];
  const row = (bottom - top) / runs.length;
  return [
    axis(scale, { top, bottom }, quantity),
    ...runs.map((run, index) => {
      const base = top + (index + 1) * row;
      const counts = Array.from({ length: bins }, (_, bin) => {
        const below = bin === 0 ? 0 : run.shareUpTo(scale.valueAt(bin / bins));
        return run.shareUpTo(scale.valueAt((bin + 1) / bins)) - below;
      });
      const most = Math.max(...counts);
      const steps = counts.flatMap((count, bin) => {
        const y = round(base - (count / most) * row * 0.85);
        return [bin, bin + 1].map((edge) => `${round(scale.place(scale.valueAt(edge / bins)))},${y}`);
      });
      const color = colorOf(index, runs.length);
      const median = scale.place(run.median);
      const isRight = median < (from + to) / 2;
      return [
        `<polygon fill="${color}" fill-opacity="0.35" stroke="${color}" points="${round(from)},${round(base)} ${steps.join(' ')} ${round(to)},${round(base)}"/>`,
        line(median, base, median, base - row * 0.95, color, 'stroke-width="2"'),
        text(
          median + (isRight ? 6 : -6),
          base - row * 0.85 + 8,
          quantity.text(run.median),
          `${isRight ? '' : 'text-anchor="end" '}font-weight="bold" paint-order="stroke" stroke="#ffffff" stroke-width="3"`,
        ),
        text(from - 8, base - 4, run.label, 'text-anchor="end"'),
      ].join('\n');
    }),
    text(
      (from + to) / 2,
      top - 8,
      'histogram of each run; lines: medians',
      'text-anchor="middle" fill="#444444"',
    ),
  ].join('\n');
}

function axis(scale: LogScale, { top, bottom }: Extent, quantity: Quantity): string {
  const [from, to] = [scale.place(scale.low), scale.place(scale.high)];
  return [
    ...scale.ticks(tickSpace).map((tick) => {
      const x = scale.place(tick);
      return [
        line(x, top, x, bottom + 5, '#dddddd'),
        text(x, bottom + 20, quantity.text(tick, true), 'text-anchor="middle"'),
      ].join('\n');
    }),
    line(from, bottom, to, bottom, '#000000'),
    text((from + to) / 2, bottom + 42, `${quantity.title}, logarithmic`, 'text-anchor="middle"'),
  ].join('\n');
}

function legend(runs: readonly RankedRun[], top: number, { text: of }: Quantity): string {
  const columns = [margin.left + 24, 300, 420, 540, 660, 780, 900];
  const titles = ['run', 'samples', 'minimum', 'median', '99%', '99.9%', 'maximum'];
  const row = (cells: readonly string[], y: number, attributes = ''): string =>
    cells
      .map((cell, index) =>
        text(columns[index]!, y, cell, `${index === 0 ? '' : 'text-anchor="end" '}${attributes}`),
      )
      .join('\n');
  return [
    row(titles, top, 'font-weight="bold"'),
    ...runs.map((run, index) => {
      const y = top + (index + 1) * legendRow;
      const { sorted, minimum, median, percentile99, percentile999, maximum } = run;
      const values = [minimum, median, percentile99, percentile999, maximum].map((value) => of(value));
      return [
        `<rect x="${margin.left}" y="${y - 11}" width="14" height="12" fill="${colorOf(index, runs.length)}"/>`,
        row([run.label, sorted.length.toLocaleString('en'), ...values], y),
      ].join('\n');
    }),
  ].join('\n');
}

const round = (value: number): string => `${Math.round(value * 100) / 100}`;

function line(x1: number, y1: number, x2: number, y2: number, color: string, attributes = ''): string {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${color}" ${attributes}/>`;
}

function text(x: number, y: number, content: string, attributes: string, turned?: 'turn'): string {
  const turn = turned === undefined ? '' : ` transform="rotate(-90 ${round(x)} ${round(y)})"`;
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}${turn}>${escaped(content)}</text>`;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (content: string): string => content.replaceAll(/[&<>"]/g, (each) => escapes[each]!);
