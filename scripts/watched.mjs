// node scripts/watched.mjs: what a ping-pong of two functions of a served board costs more while a page, `hca top` and `hca kicks` watch it, with real
// processes: medians of rounds that take turns, watched and not; whether a record was lost; and the memory of all of them under load.
// --rounds N --iters N: of the rounds. --minutes N: of the load, 0 none. The processes that are watched have CPUs of their own, as far as
// there are so many: with four or more the server, the ping-pong and the watchers one each, with two the watchers one and the others one.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    iters: { type: 'string', default: '20000' },
    minutes: { type: 'string', default: '10' },
  },
});
const numberOf = (name) => {
  const value = Number(given[name]);
  if (Number.isFinite(value) && value >= 0) return value;
  console.error(`--${name} must be a number from 0 on, got ${given[name]}`);
  process.exit(2);
};
const [rounds, iters, minutes] = ['rounds', 'iters', 'minutes'].map(numberOf);

const hca = path.join(import.meta.dirname, '../dist/lib/cli/main.js');
const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-watched-'));
const timeLimit = 120_000;
const cpus = availableParallelism();
const cpuOf =
  cpus >= 4
    ? { server: 0, load: 1, watchers: 2 }
    : cpus >= 2
      ? { server: 0, load: 0, watchers: 1 }
      : undefined;
const running = new Set();
process.on('exit', () => {
  for (const { child } of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** A command in a process of its own. */
class Process {
  out = '';
  ended;

  /** @param told takes what it prints, in the place of `out` */
  constructor(role, words, told) {
    const command = [process.execPath, hca, ...words];
    const pinned = cpuOf === undefined ? command : ['taskset', '-c', `${cpuOf[role]}`, ...command];
    this.words = words;
    this.child = spawn(pinned[0], pinned.slice(1), {
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.ended = once(this.child, 'close');
    running.add(this);
    this.child.stdout.on('data', told ?? ((part) => (this.out += part)));
  }

  async until(isThere, what) {
    const end = performance.now() + timeLimit;
    while (!isThere()) {
      if (this.child.exitCode !== null || performance.now() > end)
        throw new Error(`hca ${this.words.join(' ')}: ${what} does not come`);
      await setTimeout(10);
    }
  }

  async end() {
    this.child.kill('SIGTERM');
    await this.ended;
    running.delete(this);
  }

  /** Bytes of memory that it has in use. */
  get memory() {
    const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) * 1024;
  }
}

/** Counts what `hca kicks --json` prints: lines of kicks, and records that it lost. */
class Kicks {
  lines = 0;
  lost = 0;
  #rest = '';

  take(part) {
    const lines = (this.#rest + part).split('\n');
    this.#rest = lines.pop();
    for (const line of lines)
      if (line.startsWith('{"lost"')) this.lost += JSON.parse(line).lost;
      else this.lines += 1;
  }
}

/** A page, `hca top` and `hca kicks`, until they end. The page is one that a browser would have open, without the browser. */
class Watchers {
  kicks = new Kicks();
  page = { kicks: 0, lost: 0, states: 0 };

  static async begin(server) {
    const watchers = new Watchers();
    const device = ['--device', 'serve:watched'];
    watchers.processes = {
      'hca watch': new Process('watchers', ['watch', ...device]),
      'hca top': new Process('watchers', ['top', ...device, '--json'], () => (watchers.isTopUp = true)),
      'hca kicks': new Process('watchers', ['kicks', ...device, '--json'], (part) =>
        watchers.kicks.take(part),
      ),
    };
    const watch = watchers.processes['hca watch'];
    await watch.until(() => watch.out.includes('Ctrl+C'), 'the address');
    const { href, origin } = new URL(/http:\S+/.exec(watch.out)[0]);
    watchers.socket = new WebSocket(`${href.replace('http', 'ws')}live`, { origin });
    watchers.socket.on('message', (data) => watchers.#take(JSON.parse(data)));
    await watch.until(() => watchers.page.states > 0, 'the page');
    await watchers.processes['hca top'].until(() => watchers.isTopUp, 'its first look');
    await server.until(() => ringsOf(server) === 3, 'the watches');
    return watchers;
  }

  async end() {
    this.socket.terminate();
    for (const process of Object.values(this.processes)) await process.end();
  }

  #take(message) {
    if (message.kind === 'ways') {
      this.page.kicks += message.kicks;
      this.page.lost = message.lost;
    }
    if (message.kind === 'state') this.page.states += 1;
  }
}

/** Rings that a server writes for observers: kicks, completions and events are three. */
const ringsOf = ({ child }) =>
  readFileSync(`/proc/${child.pid}/maps`, 'utf8').split('memfd:fpga-verbs-watch').length - 1;

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

async function pingPong(times) {
  const words = [
    'pingpong',
    'rc',
    '--device',
    'serve:watched',
    '--size',
    '64',
    '--iters',
    `${times}`,
    '--json',
  ];
  const run = new Process('load', words);
  const [code] = await run.ended;
  running.delete(run);
  if (code !== 0) throw new Error(`the ping-pong failed: ${run.out}`);
  return JSON.parse(run.out);
}

/** Rounds with watchers and without take turns, so that a machine that changes its pace changes both. */
async function compare(server) {
  const [plain, watched] = [[], []];
  const lost = { page: 0, kicks: 0 };
  for (let round = 0; round < rounds; round++) {
    plain.push((await pingPong(iters)).medianMicroseconds);
    const watchers = await Watchers.begin(server);
    const { medianMicroseconds } = await pingPong(iters);
    watched.push(medianMicroseconds);
    await setTimeout(300); // three looks
    await watchers.end();
    const { kicks, page } = watchers;
    lost.page += page.lost;
    lost.kicks += kicks.lost;
    if (kicks.lost === 0 && kicks.lines !== 2 * iters)
      throw new Error(
        `hca kicks showed ${kicks.lines} of ${2 * iters} commands, and said of none that it was lost`,
      );
  }
  const [before, after] = [median(plain), median(watched)];
  const ratios = plain.map((value, round) => watched[round] / value);
  console.log(
    `a round trip of 64 B, medians of ${iters} in each of ${rounds} rounds, CPUs ${JSON.stringify(cpuOf ?? 'as they come')}:`,
  );
  console.log(`  not watched ${before.toFixed(1)} µs, watched ${after.toFixed(1)} µs`);
  console.log(
    `  watched / not, of a round: median ${median(ratios).toFixed(3)}, ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`,
  );
  console.log(`  records lost: ${lost.kicks} by hca kicks, ${lost.page} by the page`);
}

/** Load for so long, and how much memory everything has meanwhile. False: some grew. */
async function hold(server) {
  const watchers = await Watchers.begin(server);
  const all = { 'hca serve': server, ...watchers.processes };
  const samples = Object.fromEntries(Object.keys(all).map((name) => [name, []]));
  let messages = 0;
  const end = performance.now() + minutes * 60_000;
  while (performance.now() < end) {
    await pingPong(iters);
    messages += 2 * iters;
    for (const [name, process] of Object.entries(all)) samples[name].push(process.memory);
  }
  await watchers.end();
  console.log(
    `memory over ${minutes} minutes of load, ${messages.toLocaleString('en')} commands, ${watchers.kicks.lost} records lost by hca kicks:`,
  );
  return Object.entries(samples)
    .map(([name, values]) => {
      const fifth = Math.max(1, Math.floor(values.length / 5));
      const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(1).padStart(6);
      const [second, last] = [median(values.slice(fifth, 2 * fifth)), median(values.slice(-fifth))];
      console.log(
        `  ${name.padEnd(10)} ${mebibytes(second)} MiB in the second fifth, ${mebibytes(last)} in the last, ` +
          `${mebibytes(Math.max(...values))} at most: ${(last / second).toFixed(3)}`,
      );
      return last / second < 1.1;
    })
    .every((isFlat) => isFlat);
}

if (cpuOf !== undefined) spawnSync('taskset', ['-cp', `${cpuOf.watchers}`, `${process.pid}`]);
const server = new Process('server', ['serve', 'watched', '--device', 'emu:']);
await server.until(() => server.out.includes('Ctrl+C'), 'the board');
if (rounds > 0) await compare(server);
const isFlat = minutes === 0 || (await hold(server));
await server.end();
if (!isFlat) {
  console.error('memory grew by more than a tenth');
  process.exitCode = 1;
}
