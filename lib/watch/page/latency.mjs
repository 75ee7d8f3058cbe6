/* global uPlot */
// Latencies: a histogram over a logarithmic axis, and median and 99% over time.
import { $, keepRows, make, setText, timeText } from './elements.mjs';

const binsOfOctave = 8;
const seconds = 60;
const shares = [0.5, 0.9, 0.99, 0.999];
const kinds = ['doorbell', 'completion'];
const lowOf = (bin) => 2 ** (bin / binsOfOctave);

/** Counts by bin. */
class Histogram {
	counts = new Map();
	total = 0;

	add(bins, times = 1) {
		for (const [bin, count] of bins) {
			const now = (this.counts.get(bin) ?? 0) + times * count;
			if (now === 0) this.counts.delete(bin);
			else this.counts.set(bin, now);
			this.total += times * count;
		}
	}

	/** The latency that a share of the commands does not exceed, within a bin; undefined: there are none. */
	quantile(share) {
		let left = share * this.total;
		for (const [bin, count] of this.sorted()) {
			if (count >= left) return lowOf(bin + left / count);
			left -= count;
		}
		return undefined;
	}

	sorted() {
		return [...this.counts].sort(([one], [other]) => one - other);
	}
}

export class Latencies {
	constructor() {
		this.reset();
		this.body = $('#latencies tbody');
	}

	/** Begins anew: other functions are shown. */
	reset() {
		this.whole = { doorbell: new Histogram(), completion: new Histogram() };
		this.slots = []; // a second each, the newest last
		this.slotTime = 0;
	}

	ways({ latencies, milliseconds }, shows) {
		this.slotTime += milliseconds;
		if (this.slots.length === 0 || this.slotTime >= 1000) {
			this.slots.push({ doorbell: new Histogram(), completion: new Histogram() });
			this.slotTime %= 1000;
			const old = this.slots.length > seconds ? this.slots.shift() : undefined;
			for (const kind of old === undefined ? [] : kinds) this.whole[kind].add(old[kind].counts, -1);
		}
		for (const each of latencies) {
			if (!shows(each.underlyingFunction, each.level)) continue;
			for (const kind of kinds) {
				this.slots.at(-1)[kind].add(each[kind]);
				this.whole[kind].add(each[kind]);
			}
		}
		this.changed = true;
	}

	/** Draws the charts and the table anew, where something has changed. */
	draw() {
		if (!this.changed) return;
		this.changed = false;
		this.charts ??= makeCharts();
		const { histogram, history } = this.charts;
		histogram.setData(this.distribution());
		history.setData(this.history());
		keepRows(
			this.body,
			kinds.map((kind) => ({ key: kind, of: this.whole[kind] })),
			({ key }) => {
				const dot = make('span', { class: 'dot', 'aria-hidden': 'true' });
				dot.style.setProperty('--cell', `var(--${key})`);
				const cells = Array.from({ length: shares.length + 1 }, () => make('td'));
				const row = make('tr', {}, make('th', { scope: 'row' }, dot, key), ...cells);
				const fill = ({ of }) => {
					setText(cells[0], of.total.toLocaleString('en'));
					for (const [index, share] of shares.entries()) setText(cells[index + 1], timeText(of.quantile(share)));
				};
				return { row, fill };
			},
		);
	}

	/** Colors or sizes have changed. */
	restyle() {
		for (const chart of Object.values(this.charts ?? {})) chart.destroy();
		this.charts = undefined;
		this.changed = true;
	}

	distribution() {
		const all = kinds.flatMap((kind) => [...this.whole[kind].counts.keys()]);
		if (all.length === 0)
			return [
				[1e3, 1e6],
				[null, null],
				[null, null],
			];
		const first = Math.min(...all) - 1;
		const bins = Array.from({ length: Math.max(...all) + 3 - first }, (_, index) => first + index);
		const share = (kind) => bins.map((bin) => (100 * (this.whole[kind].counts.get(bin) ?? 0)) / Math.max(1, this.whole[kind].total));
		return [bins.map(lowOf), ...kinds.map(share)];
	}

	history() {
		const slots = this.slots.slice(0, Math.max(1, this.slots.length - 1)); // the last one is not over yet
		const of = (kind, share) => slots.map((slot) => slot[kind].quantile(share) ?? null);
		return [
			slots.map((_, index) => index + 1 - slots.length),
			of('doorbell', 0.5),
			of('doorbell', 0.99),
			of('completion', 0.5),
			of('completion', 0.99),
		];
	}
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function makeCharts() {
	const grid = { stroke: color('line'), width: 1 };
	const axis = { stroke: color('soft'), grid, ticks: grid, font: `${em(0.75)}px system-ui, sans-serif` };
	const latencyAxis = (more) => ({
		...axis,
		values: (_, ticks) => ticks.map((tick) => (isDecade(tick) ? timeText(tick) : '')),
		...more,
	});
	const of = (selector) => {
		const target = $(selector);
		return [{ width: target.clientWidth, height: target.clientHeight - em(3) }, target];
	};
	const chart = (selector, options, data) => {
		const [size, target] = of(selector);
		return new uPlot({ ...size, cursor: { drag: { x: false, y: false } }, ...options }, data, target);
	};
	const time = (_, value) => (value === null || value === undefined ? '–' : timeText(value));
	const percent = (_, value) => (value === null || value === undefined ? '–' : `${value.toFixed(1)} %`);
	const histogram = chart(
		'#histogram',
		{
			scales: {
				x: { time: false, distr: 3, log: 10 },
				y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] },
			},
			axes: [latencyAxis(), { ...axis, size: em(3.6), values: (_, ticks) => ticks.map((tick) => `${tick} %`) }],
			series: [
				{ label: 'latency', value: time },
				...kinds.map((kind) => ({
					label: kind,
					value: percent,
					stroke: color(kind),
					fill: `color-mix(in srgb, ${color(kind)} 28%, transparent)`,
					width: 1.5,
					points: { show: false },
					paths: uPlot.paths.stepped({ align: 1 }),
				})),
			],
		},
		[
			[1e3, 1e6],
			[null, null],
			[null, null],
		],
	);
	const line = (kind, share, dash) => ({
		label: `${kind} ${share}`,
		value: time,
		stroke: color(kind),
		width: dash.length > 0 ? 1.25 : 2,
		dash,
		points: { show: false },
	});
	const history = chart(
		'#history',
		{
			scales: { x: { time: false, range: [-seconds, 0] }, y: { distr: 3, log: 10 } },
			axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? 'now' : `${tick} s`)) }, latencyAxis({ size: em(4.4) })],
			series: [
				{ label: 'time', value: (_, value) => (value === null ? '–' : `${value} s`) },
				...kinds.flatMap((kind) => [line(kind, '50%', []), line(kind, '99%', [5, 4])]),
			],
		},
		[
			[-1, 0],
			[null, null],
			[null, null],
			[null, null],
			[null, null],
		],
	);
	return { histogram, history };
}

const em = (count) => count * parseFloat(getComputedStyle(document.documentElement).fontSize);
const isDecade = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
