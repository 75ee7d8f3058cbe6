// Simulates fabrics of stepped boards, one per seed, until it is interrupted: `npm run simulate -- [--seeds N] [--minutes M]
// [--from SEED] [--workers W]`, or one with `--seed N`. Without --from it begins at a random seed, which it prints. For a
// failing seed it prints the smallest plan that fails too; `--plan JSON` repeats that plan.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { buildVariant } from './native_variant.mjs';
import { Simulator } from './simulator.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '10' },
    from: { type: 'string' },
    workers: { type: 'string', default: '1' },
    seed: { type: 'string' },
    plan: { type: 'string' },
  },
});
const [seeds, minutes, workers] = ['seeds', 'minutes', 'workers'].map(numberOf);
const first = values.from === undefined ? randomInt(2 ** 31) : numberOf('from');
const seed = values.seed === undefined ? undefined : numberOf('seed');
const given = values.plan === undefined ? undefined : planIn(values.plan);

// Assertions of the device are on here, which they are not in the addon that users have.
const environment = buildVariant('simulate', { CMAKE_CXX_FLAGS_RELEASE: '-O2' }, ['fpga_verbs']);
const compiled = spawnSync('npx', ['tsc', '-p', 'tsconfig.simulate.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(1);
const directory = path.resolve('build/simulate/test/simulate');
const { planOf } = await import(pathToFileURL(path.join(directory, 'plan.js')));
const { explain } = await import(pathToFileURL(path.join(directory, 'explain.js')));

const one = given ?? (seed === undefined ? undefined : planOf(seed));
const count = one === undefined ? seeds : 1;
if (one === undefined) console.log(`seeds from ${first} on, at most ${count}`);
let end = one === undefined ? performance.now() + minutes * 60_000 : Infinity;
let [next, done, steps, failed] = [0, 0, 0, 0];
// Running plans end, and their results are printed.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (end = 0));
await Promise.all(Array.from({ length: Math.max(1, Math.min(workers, count)) }, work));
const from = one === undefined ? first : one.seed;
console.log(`${done} seeds from ${from} on, ${steps} units of work, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Plays plans, one after the other, until there are none left or the time is over. */
async function work() {
  const simulator = new Simulator(directory, environment);
  while (next < count && performance.now() < end) {
    const plan = one ?? planOf(first + next);
    next += 1;
    const outcome = await simulator.play(plan);
    done += 1;
    steps += outcome.steps ?? 0;
    if (outcome.failure === undefined) continue;
    failed += 1;
    for await (const line of explain(simulator, plan, outcome.failure)) console.log(line);
  }
  simulator.end();
}

function planIn(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    console.error(`--plan is what a seed that failed has printed, not ${text}: ${error.message}`);
    process.exit(2);
  }
}

function numberOf(name) {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} is a whole number, not ${values[name]}`);
  process.exit(2);
}
