// Elements of the page, and numbers as people read them.

export const $ = (selector) => document.querySelector(selector);

/** Makes an element with attributes and children. */
export function make(name, attributes = {}, ...children) {
	const element = document.createElement(name);
	for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
	element.append(...children);
	return element;
}

/** Sets text where it differs: an element that stays as it is is laid out, and read out, no second time. */
export function setText(element, text) {
	if (element.textContent !== text) element.textContent = text;
}

/** Three digits and a letter of a thousand, a million and so on. */
function scaled(value) {
	let unit = '';
	for (const next of ['k', 'M', 'G', 'T']) {
		if (value < 999.5) break;
		value /= 1000;
		unit = next;
	}
	return [value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0), unit];
}

/** A count a second. */
export function rateText(rate) {
	if (rate === undefined || rate === null) return '–';
	if (rate === 0) return '0';
	if (rate < 10) return rate.toFixed(1);
	return rate < 100_000 ? Math.round(rate).toLocaleString('en') : scaled(rate).join('');
}

export function byteRateText(rate) {
	if (rate === undefined || rate === null) return '–';
	return rate < 1000 ? `${Math.round(rate)} B/s` : `${scaled(rate).join(' ')}B/s`;
}

export function timeText(nanoseconds) {
	if (nanoseconds === undefined) return '–';
	for (const [scale, unit] of [
		[1e9, 's'],
		[1e6, 'ms'],
		[1e3, 'µs'],
	]) {
		if (nanoseconds >= 0.9995 * scale) return `${Number((nanoseconds / scale).toPrecision(3))} ${unit}`;
	}
	return `${Math.round(nanoseconds)} ns`;
}

/** The number of a function's color; those beyond the last begin anew. */
export const colorOf = (underlyingFunction) => `var(--f${underlyingFunction < 0 ? 0 : underlyingFunction % 8})`;

/** A dot in the color of a function, which its number stands beside. */
export function functionDot(underlyingFunction) {
	const dot = make('span', { class: 'dot', 'aria-hidden': 'true' });
	dot.style.setProperty('--cell', colorOf(underlyingFunction));
	return dot;
}

/**
 * Makes the rows of a table's body those of a list, each by its key: rows that stay keep their elements, and the focus in them.
 * @param {HTMLTableSectionElement} body
 * @param items what there is a row of, with a `key`
 * @param makeRow gives a new row, and what fills it in
 */
export function keepRows(body, items, makeRow) {
	const rows = (body.rowsByKey ??= new Map());
	const wanted = new Set(items.map(({ key }) => key));
	for (const [key, { row }] of rows) {
		if (wanted.has(key)) continue;
		row.remove();
		rows.delete(key);
	}
	let place = body.firstElementChild;
	for (const item of items) {
		let known = rows.get(item.key);
		if (known === undefined) {
			known = makeRow(item);
			rows.set(item.key, known);
		}
		if (known.row === place) place = place.nextElementSibling;
		else body.insertBefore(known.row, place);
		known.fill(item);
	}
}
