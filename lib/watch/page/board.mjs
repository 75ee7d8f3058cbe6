// The way of a command: buffers and lanes as cells, and commands that move from one to the next.
import { $, byteRateText, colorOf, make, rateText, setText } from './elements.mjs';

const glow = 140; // milliseconds that a cell stays lit for a command that went through it
const flight = 900; // of a command from its buffer to the wire and back
const mostFlying = 400;
const virtualStates = ['', 'on', 'on mode', 'error', ''];
const stillness = matchMedia('(prefers-reduced-motion: reduce)');

export class Board {
	constructor() {
		this.flow = $('#flow');
		this.canvas = $('#motion');
		this.stages = Object.fromEntries([...this.flow.querySelectorAll('article')].map((article) => [article.dataset.stage, article]));
		this.cells = { virtual: [], physical: [], lane: [] };
		for (const [stage, article] of Object.entries(this.stages)) {
			article.append(make('p', { class: 'figure' }, make('b'), ' ', make('span')));
			if (stage in this.cells) article.append(make('div', { class: 'cells', 'aria-hidden': 'true' }));
		}
		this.stages.wire.append(make('dl'));
		this.flying = [];
		this.places = undefined;
		new ResizeObserver(() => (this.places = undefined)).observe(this.flow);
	}

	begin({ sizes, functions }) {
		const counts = {
			virtual: sizes.virtualCollectBuffers,
			physical: sizes.physicalCollectBuffers + sizes.dedicatedPhysicalCollectBuffers,
			lane: sizes.transmitVirtualLanes,
		};
		for (const [stage, count] of Object.entries(counts)) {
			this.cells[stage] = Array.from({ length: count }, () => make('i'));
			this.stages[stage].querySelector('.cells').replaceChildren(...this.cells[stage]);
		}
		for (const cell of this.cells.physical.slice(sizes.physicalCollectBuffers)) cell.dedicated = 'dedicated';
		this.owned = { virtual: [], physical: [], lane: [] };
		this.lit = { virtual: [], physical: [], lane: [] };
		this.places = undefined;
		$('#legend').replaceChildren(
			...functions.map((number) => entry('', colorOf(number), `function ${number}`)),
			entry('mode', 'var(--soft)', 'send queue mode'),
			entry('round', 'var(--bad)', 'in error'),
			entry('round', 'var(--idle)', 'dedicated'),
			entry('ring', '', 'lane without a credit of its own'),
		);
	}

	/** Shows the buffers and lanes in use. */
	state({ virtual, physical, lanes, functions, ports, blocks }, shows) {
		const owned = { virtual: [], physical: [], lane: [] };
		for (const [number, state, owner] of virtual) if (shows(owner)) owned.virtual[number] = [virtualStates[state], owner];
		for (const [number, , owner] of physical) if (shows(owner)) owned.physical[number] = ['on', owner];
		for (const [number, [commands, execution, completion]] of lanes.entries()) {
			const spent = execution === 0 || completion === 0 ? 'spent' : '';
			if (commands > 0 || spent !== '') owned.lane[number] = [commands > 0 ? `on ${spent}` : spent, -1];
		}
		this.owned = owned;
		const shown = functions.filter(({ underlyingFunction = -1 }) => shows(underlyingFunction));
		const sum = (value) => shown.reduce((total, each) => total + (value(each) ?? 0), 0);
		const port = (name) => sumOf(ports.map((each) => each[name]));
		this.figure('virtual', rateText(sum(({ perSecond }) => perSecond?.kicks)), 'kicks/s', [
			`${sum((each) => each.virtualCollectBuffersInUse)} of ${sum((each) => each.virtualCollectBuffers)} in use`,
		]);
		this.figure('physical', rateText(blocks.collect_buffer), 'commands/s', [
			`${sum((each) => each.physicalCollectBuffers + (each.dedicatedPhysicalCollectBuffers ?? 0))} in use`,
		]);
		this.figure('lane', rateText(blocks.virtual_kick), 'commands/s', [`${sum((each) => each.commandsListed)} listed`]);
		this.figure('wire', rateText(port('packetsOut')), 'packets/s', []);
		this.figure('arrive', rateText(port('packetsIn')), 'packets/s', [byteRateText(port('bytesIn'))]);
		this.figure('receive', rateText(blocks.receive), 'data units/s', []);
		this.figure('acknowledge', rateText(blocks.completion), 'data units/s', []);
		this.figure('completion', rateText(blocks.completion_queue), 'entries/s', []);
		const facts = ports.flatMap((each) => [
			[`port ${each.port} out`, byteRateText(each.bytesOut)],
			[`port ${each.port} in`, byteRateText(each.bytesIn)],
		]);
		const list = this.stages.wire.querySelector('dl');
		if (list.children.length !== 2 * facts.length) list.replaceChildren(...facts.flatMap(() => [make('dt'), make('dd')]));
		for (const [index, [term, value]] of facts.entries()) {
			setText(list.children[2 * index], term);
			setText(list.children[2 * index + 1], value);
		}
	}

	/** Commands that went through. */
	ways({ ways }, shows) {
		const now = performance.now();
		for (const [index, [owner, level, virtual, physical, lane]] of ways.entries()) {
			if (!shows(owner, level)) continue;
			const stops = { virtual, physical, lane };
			for (const [stage, number] of Object.entries(stops)) if (number >= 0) this.lit[stage][number] = [owner, now + glow];
			if (this.flying.length < mostFlying && !stillness.matches)
				this.flying.push({ owner, stops, begin: now + (index / ways.length) * 100 });
		}
	}

	/** Draws all of it, once a frame of the screen. */
	draw(now) {
		for (const [stage, cells] of Object.entries(this.cells)) {
			for (const [number, cell] of cells.entries()) {
				const lit = this.lit[stage][number];
				const [state, owner] = lit !== undefined && lit[1] > now ? ['on', lit[0]] : (this.owned[stage][number] ?? ['', -1]);
				const wanted = `${cell.dedicated ?? ''} ${state}`;
				if (cell.className !== wanted) cell.className = wanted;
				if (state !== '' && cell.owner !== owner) {
					cell.owner = owner;
					cell.style.setProperty('--cell', owner < 0 ? 'var(--accent)' : colorOf(owner));
				}
			}
		}
		this.move(now);
	}

	figure(stage, value, unit, words) {
		const [number, text] = this.stages[stage].querySelector('.figure').children;
		setText(number, value);
		setText(text, [unit, ...words].join(' · '));
	}

	move(now) {
		const { canvas } = this;
		this.places ??= this.measure();
		const pen = canvas.getContext('2d');
		const { ratio, width, height } = this.places;
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.clearRect(0, 0, width, height);
		this.drawPipes(pen);
		this.flying = this.flying.filter(({ begin }) => now < begin + flight);
		for (const { owner, stops, begin } of this.flying) {
			if (now < begin) continue;
			const path = this.pathOf(stops);
			const at = ((now - begin) / flight) * (path.length - 1);
			const [from, to] = [path[Math.floor(at)], path[Math.min(path.length - 1, Math.floor(at) + 1)]];
			const part = at - Math.floor(at);
			pen.fillStyle = this.places.colors[owner < 0 ? 0 : owner % 8];
			pen.globalAlpha = Math.min(1, 4 * (1 - (now - begin) / flight));
			pen.beginPath();
			pen.arc(from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part, this.places.dot, 0, 7);
			pen.fill();
		}
		pen.globalAlpha = 1;
	}

	/** From the buffer to the wire, and back to the completion queue. */
	pathOf({ virtual, physical, lane }) {
		const { places } = this;
		const of = (stage, number) => places[stage][number] ?? places.middles[stage];
		const { wire, arrive, receive, acknowledge, completion } = places.middles;
		return [of('virtual', virtual), of('physical', physical), of('lane', lane), wire, arrive, receive, acknowledge, completion];
	}

	/** Lines from stage to stage, with arrows. */
	drawPipes(pen) {
		const { edges, line, dot } = this.places;
		pen.strokeStyle = pen.fillStyle = line;
		pen.lineWidth = dot / 2;
		for (const [[x1, y1], [x2, y2]] of edges) {
			const angle = Math.atan2(y2 - y1, x2 - x1);
			pen.beginPath();
			pen.moveTo(x1, y1);
			pen.lineTo(x2, y2);
			pen.stroke();
			pen.beginPath();
			for (const turn of [0, 2.5, -2.5]) pen.lineTo(x2 + 2 * dot * Math.cos(angle + turn), y2 + 2 * dot * Math.sin(angle + turn));
			pen.fill();
		}
	}

	measure() {
		const { flow, canvas, stages, cells } = this;
		const frame = flow.getBoundingClientRect();
		const ratio = devicePixelRatio;
		canvas.width = Math.round(frame.width * ratio);
		canvas.height = Math.round(frame.height * ratio);
		const box = (element) => {
			const { left, top, width, height } = element.getBoundingClientRect();
			return { left: left - frame.left, top: top - frame.top, width, height };
		};
		const middle = ({ left, top, width, height }) => [left + width / 2, top + height / 2];
		const boxes = Object.fromEntries(Object.entries(stages).map(([stage, each]) => [stage, box(each)]));
		const style = getComputedStyle(document.documentElement);
		const gap = 6;
		// Beside the words of a stage that has no cells.
		const passage = (stage, { left, top, width, height }) => {
			if (cells[stage] !== undefined) return [left + width / 2, top + height / 2];
			if (stage === 'wire') return [left + width / 2, top + height - 3 * gap];
			return [left + width / 2, top + height - 2 * gap];
		};
		const rightward = (one, other) => [
			[boxes[one].left + boxes[one].width + gap, middle(boxes[one])[1]],
			[boxes[other].left - 2 * gap, middle(boxes[one])[1]],
		];
		const leftward = (one, other) => [
			[boxes[one].left - gap, passage(one, boxes[one])[1]],
			[boxes[other].left + boxes[other].width + 2 * gap, passage(one, boxes[one])[1]],
		];
		return {
			width: frame.width,
			height: frame.height,
			ratio,
			dot: Math.max(3, parseFloat(style.fontSize) / 4.2),
			line: style.getPropertyValue('--soft'),
			colors: Array.from({ length: 8 }, (_, number) => style.getPropertyValue(`--f${number}`)),
			middles: Object.fromEntries(Object.entries(boxes).map(([stage, each]) => [stage, passage(stage, each)])),
			...Object.fromEntries(Object.entries(cells).map(([stage, all]) => [stage, all.map((each) => middle(box(each)))])),
			edges: [
				rightward('virtual', 'physical'),
				rightward('physical', 'lane'),
				rightward('lane', 'wire'),
				[
					[middle(boxes.wire)[0], boxes.wire.top + boxes.wire.height + gap],
					[middle(boxes.wire)[0], boxes.arrive.top - 2 * gap],
				],
				leftward('arrive', 'receive'),
				leftward('receive', 'acknowledge'),
				leftward('acknowledge', 'completion'),
			],
		};
	}
}

const sumOf = (values) =>
	values.some((value) => value === undefined) || values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);

function entry(kind, color, text) {
	const sign = make('i', { class: kind });
	if (color !== '') sign.style.setProperty('--cell', color);
	return make('span', {}, sign, text);
}
