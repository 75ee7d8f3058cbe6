// Functions, stalls, queue pairs, the reasons of one, and events.
import { $, functionDot, keepRows, make, rateText, setText } from './elements.mjs';

const levelNames = ['low', 'high'];
const stallsKept = 10_000; // milliseconds
const mostEvents = 100;
const hex = (number) => `0x${number.toString(16)}`;

/** A row with a heading and cells, whose texts are filled in. */
function rowOf(heading, count, words = []) {
	const cells = Array.from({ length: count }, (_, index) => make('td', words.includes(index) ? { class: 'words' } : {}));
	const row = make('tr', {}, heading, ...cells);
	return {
		row,
		cells,
		setTexts: (texts) => texts.forEach((text, index) => setText(cells[index], `${text}`)),
	};
}

const seen = (value) => value ?? '–';
const credits = (own, shared) => (own === undefined ? '–' : `${own} + ${shared ?? '–'}`);

/** Functions, a row each, and below it one for each of its levels. */
export function showFunctions({ functions }, shows) {
	const items = functions
		.filter(({ underlyingFunction = -1 }) => shows(underlyingFunction))
		.flatMap((each) => [
			{ key: `${each.underlyingFunction}`, each },
			...each.levels.flatMap((level, index) =>
				level.lanes > 0 && !isQuiet(each) && shows(each.underlyingFunction, index)
					? [{ key: `${each.underlyingFunction}.${index}`, each: level, level: index }]
					: [],
			),
		]);
	keepRows($('#functions tbody'), items, ({ each, level }) => {
		const number = each.underlyingFunction;
		const heading = make('th', { scope: 'row' });
		if (level !== undefined) heading.append(`${levelNames[level]} level`);
		else if (number === undefined) heading.append('shared by all');
		else heading.append(functionDot(number), `${number}`);
		const { row, cells, setTexts } = rowOf(heading, 11);
		if (level !== undefined) row.className = 'level';
		return {
			row,
			fill: (item) => {
				setTexts(level === undefined ? functionTexts(item.each) : levelTexts(item.each));
				const { error, perSecond } = item.each;
				if (level !== undefined) return;
				cells[5].classList.toggle('bad', error > 0);
				cells[2].classList.toggle('bad', perSecond?.failed > 0);
				row.classList.toggle('quiet', isQuiet(item.each));
			},
		};
	});
}

/** A function that does nothing: its levels are left out. */
const isQuiet = ({ perSecond, virtualCollectBuffersInUse: inUse, physicalCollectBuffers: held, commandsListed }) =>
	!(perSecond?.kicks > 0) && !(inUse > 0) && !(held > 0) && !(commandsListed > 0);

function functionTexts(each) {
	const { perSecond } = each;
	const isShared = each.underlyingFunction === undefined;
	const stalls = perSecond && Object.values(perSecond.stalls).reduce((sum, rate) => sum + rate, 0);
	const own = isShared
		? Array(7).fill('')
		: [
				rateText(perSecond?.kicks),
				rateText(perSecond?.sent),
				rateText(perSecond?.failed),
				`${each.virtualCollectBuffersInUse} / ${each.virtualCollectBuffers}`,
				seen(each.sendQueueMode),
				seen(each.error),
				`${each.physicalCollectBuffers} / ${each.ownPhysicalCollectBuffers}`,
			];
	return [...own, ...levelTexts(each).slice(7, 10), isShared ? '' : rateText(stalls)];
}

const levelTexts = (each) => [
	...Array(7).fill(''),
	seen(each.commandsListed),
	credits(each.executionCredits, each.sharedExecutionCredits),
	credits(each.completionCredits, each.sharedCompletionCredits),
	'',
];

/** Why commands waited in the last seconds. */
export class Stalls {
	constructor() {
		this.kept = new Map();
		this.before = undefined;
	}

	begin({ causes }) {
		this.causes = causes;
		this.kept.clear();
	}

	state({ functions }, shows) {
		const now = performance.now();
		const passed = this.before === undefined ? 0 : (now - this.before) / 1000;
		this.before = now;
		for (const { underlyingFunction, perSecond } of functions) {
			for (const [cause, rate] of Object.entries(perSecond?.stalls ?? {})) {
				const key = `${cause} ${underlyingFunction}`;
				const known = this.kept.get(key) ?? { key, cause, underlyingFunction, counted: [] };
				known.counted.push([now, rate * passed]);
				this.kept.set(key, known);
			}
		}
		for (const [key, { counted }] of this.kept) {
			while (counted.length > 0 && counted[0][0] < now - stallsKept) counted.shift();
			if (counted.length === 0) this.kept.delete(key);
		}
		const items = [...this.kept.values()]
			.filter(({ underlyingFunction }) => shows(underlyingFunction))
			.map((each) => ({ ...each, count: each.counted.reduce((sum, [, count]) => sum + count, 0) }))
			.sort((one, other) => one.key.localeCompare(other.key));
		this.show(items.length > 0 ? items : [{ key: 'none' }]);
	}

	show(items) {
		keepRows($('#stalls tbody'), items, ({ key, cause, underlyingFunction }) => {
			if (key === 'none') {
				const words = make('td', { class: 'words note', colspan: '4' }, 'No command had to wait.');
				return { row: make('tr', {}, words), fill: () => undefined };
			}
			const heading = make('th', { scope: 'row' }, cause.replaceAll('_', ' ').replace('.', ': '));
			const { row, cells } = rowOf(heading, 3, [2]);
			cells[0].append(functionDot(underlyingFunction), `${underlyingFunction}`);
			setText(cells[2], this.causes[cause] ?? '');
			return { row, fill: ({ count }) => setText(cells[1], rateText(Math.round(count))) };
		});
	}
}

/** Queue pairs; one of them can be chosen. */
export class QueuePairs {
	/** @param choose gets the number of the selected queue pair, or undefined */
	constructor(choose) {
		this.choose = choose;
		this.chosen = undefined;
		this.body = $('#queue-pairs tbody');
	}

	show({ queuePairs, all }, shows) {
		const shown = queuePairs.filter(({ underlyingFunction, level }) => shows(underlyingFunction, level));
		const items = shown.map((each) => ({ key: each.number, each }));
		const left = all - queuePairs.length;
		if (left > 0) items.push({ key: 'left', left });
		if (items.length === 0) items.push({ key: 'none' });
		keepRows(this.body, items, (item) => (item.each === undefined ? noteRow(item) : this.makeRow(item.each)));
	}

	makeRow({ number, underlyingFunction, level, type, peer }) {
		const button = make('button', { type: 'button', 'aria-pressed': 'false', 'data-number': `${number}` }, hex(number));
		const { row, cells, setTexts } = rowOf(make('th', { scope: 'row' }, button), 9, [7, 8]);
		row.addEventListener('click', () => this.toggle(number));
		cells[0].append(functionDot(underlyingFunction), `${underlyingFunction}`);
		setText(cells[1], levelNames[level]);
		setText(cells[2], type);
		setText(cells[8], peer ?? '–');
		const fill = ({ each: { state, waiting, unacknowledged, receives, hold } }) => {
			const texts = [state, waiting, unacknowledged, receives ?? 'shared', hold === 'none' ? '–' : hold];
			texts.forEach((text, index) => setText(cells[index + 3], `${text}`));
			const isChosen = this.chosen === number;
			row.toggleAttribute('aria-selected', isChosen);
			if (isChosen) row.setAttribute('aria-selected', 'true');
			button.setAttribute('aria-pressed', `${isChosen}`);
		};
		return { row, fill, setTexts };
	}

	toggle(number) {
		this.chosen = this.chosen === number ? undefined : number;
		for (const [key, { row }] of this.body.rowsByKey) {
			const isChosen = key === this.chosen;
			row.querySelector('button')?.setAttribute('aria-pressed', `${isChosen}`);
			if (isChosen) row.setAttribute('aria-selected', 'true');
			else row.removeAttribute('aria-selected');
		}
		if (this.chosen === undefined) showReasons('No queue pair is chosen.', []);
		this.choose(this.chosen);
	}

	why({ number, reasons }) {
		if (number !== this.chosen) return;
		const words = reasons.length > 0 ? `Queue pair ${hex(number)}:` : `There is no queue pair ${hex(number)} any more.`;
		showReasons(words, reasons);
	}
}

function noteRow({ left }) {
	const text = left === undefined ? 'There are no queue pairs.' : `${left.toLocaleString('en')} more, with less outstanding.`;
	return {
		row: make('tr', {}, make('td', { class: 'words note', colspan: '10' }, text)),
		fill: () => undefined,
	};
}

/** Set only where they differ, so that a screen reader does not say them again and again. */
function showReasons(words, reasons) {
	const why = $('#why');
	const text = [words, ...reasons].join('\n');
	if (why.dataset.text === text) return;
	why.dataset.text = text;
	why.replaceChildren(make('p', {}, words), make('ul', {}, ...reasons.map((reason) => make('li', {}, reason))));
}

/** Events, the newest first. */
export function showEvents({ events, lost }) {
	const list = $('#events');
	list.prepend(...events.toReversed().map((event) => make('li', {}, event)));
	while (list.children.length > mostEvents) list.lastElementChild.remove();
	const note = $('#no-events');
	note.hidden = lost === 0;
	setText(note, `${lost} more were lost: the page read too slowly.`);
}
