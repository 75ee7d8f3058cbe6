// The page of hca watch: takes messages of the board from a socket, and draws them once for each frame of the screen.
import { Board } from './board.mjs';
import { $, make, rateText, setText } from './elements.mjs';
import { Latencies } from './latency.mjs';
import { QueuePairs, Stalls, showEvents, showFunctions } from './tables.mjs';

const themes = ['system', 'light', 'dark'];
const dark = matchMedia('(prefers-color-scheme: dark)');

// A column that begins with a star has words in it.
for (const head of document.querySelectorAll('[data-columns]')) {
	const cells = head.dataset.columns.split(',').map((title) => {
		const isWords = title.startsWith('*');
		return make('th', { scope: 'col', class: isWords ? 'words' : '' }, title.slice(Number(isWords)));
	});
	head.append(make('tr', {}, ...cells));
}

const board = new Board();
const latencies = new Latencies();
const stalls = new Stalls();
const queuePairs = new QueuePairs((number) => ask({ kind: 'why', number }));
const shown = { underlyingFunction: 'all', level: 'all' };
const latest = {};
let paused = false;
let ended = '';
let stepped = false;
let theme = 0;
let pacedAt = -1000;

/** Whether something of a function, and of a level where that counts, is shown. */
function shows(underlyingFunction, level) {
	return (
		(shown.underlyingFunction === 'all' || Number(shown.underlyingFunction) === underlyingFunction) &&
		(level === undefined || shown.level === 'all' || Number(shown.level) === level)
	);
}

const socket = new WebSocket(new URL('live', location.href.replace(/^http/, 'ws')));
socket.addEventListener('message', ({ data }) => take(JSON.parse(data)));
socket.addEventListener('open', showStatus);
socket.addEventListener('close', () => {
	ended ||= 'hca watch has ended';
	showStatus();
});

function ask(request) {
	if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request));
}

const takers = {
	board(message) {
		latest.board = message;
		stepped = message.stepped;
		setText($('#device'), message.device);
		document.title = `hca watch ${message.device}`;
		$('#function').replaceChildren(new Option('all', 'all'), ...message.functions.map((number) => new Option(`${number}`, `${number}`)));
		$('#slow').hidden = !stepped;
		board.begin(message);
		stalls.begin(message);
	},
	ways(message) {
		latest.ways = message;
		board.ways(message, shows);
		latencies.ways(message, shows);
		const all = message.oneOf === 1 ? 'Every command is followed' : `One of ${message.oneOf} commands is followed`;
		const lost = message.lost > 0 ? `; ${message.lost.toLocaleString('en')} records were lost` : '';
		setText($('#sampling'), `${all}${lost}.`);
	},
	state(message) {
		latest.state = message;
		const isOlder = performance.now() - pacedAt < 1000; // than what was asked for here
		if (typeof message.pace === 'number' && !isOlder) showPace(message.pace);
		showState();
	},
	queuePairs(message) {
		latest.queuePairs = message;
		queuePairs.show(message, shows);
	},
	why: (message) => queuePairs.why(message),
	events: showEvents,
	end({ reason }) {
		ended = reason;
		showStatus();
	},
};

function take(message) {
	takers[message.kind]?.(message);
}

function showState() {
	board.state(latest.state, shows);
	stalls.state(latest.state, shows);
	showFunctions(latest.state, shows);
	showStatus();
}

function showStatus() {
	const status = $('#status');
	const state = ended !== '' ? 'gone' : paused ? 'paused' : socket.readyState === WebSocket.OPEN ? 'live' : 'connecting';
	const { virtualTime } = latest.state ?? {};
	const time = stepped && virtualTime !== undefined ? `, at ${(virtualTime / 1e3).toFixed(3)} µs of its time` : '';
	status.dataset.state = state;
	setText(status, state === 'gone' ? ended : state);
	if (stepped && state !== 'gone') setText($('#device'), `${latest.board.device}${time}`);
}

/** Another function or level is shown. */
function choose() {
	shown.underlyingFunction = $('#function').value;
	shown.level = $('#level').value;
	latencies.reset();
	latencies.changed = true;
	if (latest.state !== undefined) showState();
	if (latest.queuePairs !== undefined) queuePairs.show(latest.queuePairs, shows);
}

function pause() {
	paused = !paused;
	$('#pause').setAttribute('aria-pressed', `${paused}`);
	ask({ kind: 'pause', paused });
	showStatus();
}

/** The slider is logarithmic: each eighth of it is a factor of ten, and its begin is standstill. */
const paceOf = (place) => (place === 0 ? 0 : Math.round(10 ** ((place - 1) / 8)));
const placeOf = (pace) => (pace === 0 ? 0 : Math.round(8 * Math.log10(pace)) + 1);

function setPace(place) {
	const pace = paceOf(Math.min(40, Math.max(0, place)));
	pacedAt = performance.now();
	showPace(pace);
	ask({ kind: 'pace', stepsPerSecond: pace });
}

function showPace(pace) {
	const slider = $('#pace');
	if (slider !== document.activeElement) slider.value = `${placeOf(pace)}`;
	setText($('#pace-text'), pace === 0 ? 'stands still' : `${rateText(pace)} steps/s`);
}

function step() {
	setPace(0);
	ask({ kind: 'step', steps: 1 });
}

function restyle() {
	const name = themes[theme];
	const isDark = name === 'dark' || (name === 'system' && dark.matches);
	document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
	setText($('#theme span'), name);
	board.places = undefined;
	latencies.restyle();
}

function nextTheme() {
	theme = (theme + 1) % themes.length;
	restyle();
}

$('#function').addEventListener('change', choose);
$('#level').addEventListener('change', choose);
$('#pause').addEventListener('click', pause);
$('#theme').addEventListener('click', nextTheme);
$('#step').addEventListener('click', step);
$('#pace').addEventListener('input', ({ target }) => setPace(Number(target.value)));
dark.addEventListener('change', restyle);
let resized;
addEventListener('resize', () => {
	clearTimeout(resized);
	resized = setTimeout(restyle, 150);
});

const keys = {
	p: pause,
	t: nextTheme,
	s: () => stepped && step(),
	'+': () => stepped && setPace(Number($('#pace').value) + 2),
	'-': () => stepped && setPace(Number($('#pace').value) - 2),
};
addEventListener('keydown', (event) => {
	const isTyping = /^(?:INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
	if (isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
	const act = keys[event.key.toLowerCase()];
	if (act === undefined) return;
	event.preventDefault();
	act();
});

restyle();
let drawnCharts = 0;
function draw(now) {
	if (latest.board !== undefined) board.draw(now);
	if (now - drawnCharts > 250) {
		drawnCharts = now;
		latencies.draw();
	}
	requestAnimationFrame(draw);
}
requestAnimationFrame(draw);
