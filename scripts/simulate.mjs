// Simulates fabrics of stepped boards, from a seed each, until it is told to end: `npm run simulate -- [--seeds N] [--minutes M]
// [--from SEED]`, or one with `--seed N`. A seed that fails is told with the smallest plan that fails too, and `--plan JSON` plays
// that again.
import { fork, spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { buildVariant } from './native_variant.mjs';

// What the device asserts counts here, as it does not in the addon that users have.
const environment = buildVariant('simulate', { CMAKE_CXX_FLAGS_RELEASE: '-O2' }, ['fpga_verbs']);

/** Seconds after which a simulation hangs. */
const patience = 300;
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '10' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    plan: { type: 'string' },
  },
});
const compiled = spawnSync('npx', ['tsc', '-p', 'tsconfig.simulate.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(1);
const directory = path.resolve('build/simulate/test/simulate');
const { planOf, minimize } = await import(pathToFileURL(path.join(directory, 'plan.js')));
let worker;

const first = numberOf('from');
const plans =
  values.plan !== undefined
    ? [JSON.parse(values.plan)]
    : values.seed !== undefined
      ? [planOf(numberOf('seed'))]
      : Array.from({ length: numberOf('seeds') }, (_, index) => planOf(first + index));
const end = performance.now() + numberOf('minutes') * 60_000;
let [done, steps, failed] = [0, 0, 0];
for (const plan of plans) {
  if (performance.now() > end && plans.length > 1) break;
  const outcome = await simulate(plan);
  done += 1;
  steps += outcome.steps ?? 0;
  if (outcome.failure === undefined) continue;
  failed += 1;
  console.log(`seed ${plan.seed} fails: ${outcome.failure}`);
  const smallest = await minimize(plan, async (smaller) => (await simulate(smaller)).failure !== undefined);
  console.log(`so does the least of it: ${(await simulate(smallest)).failure.split('\n')[0]}`);
  console.log(`again: npm run simulate -- --plan '${JSON.stringify(smallest)}'`);
}
worker?.kill();
console.log(`${done} seeds from ${plans[0].seed} on, ${steps} units of work, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Plays a plan in the worker; gives what came of it. A worker that dies or hangs is replaced. */
async function simulate(plan) {
  worker ??= fork(path.join(directory, 'worker.js'), {
    env: { ...process.env, ...environment },
  });
  const played = worker;
  const outcome = await new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ failure: `hangs for ${patience} s` }), patience * 1000);
    const over = (given) => {
      clearTimeout(timer);
      played.removeAllListeners();
      resolve(given);
    };
    played.once('message', over);
    played.once('exit', (code, signal) => over({ failure: `the process ended: ${signal ?? code}` }));
    played.send(plan);
  });
  if (outcome.failure !== undefined) {
    played.kill('SIGKILL');
    worker = undefined;
  }
  return outcome;
}

function numberOf(name) {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} is a whole number, not ${values[name]}`);
  process.exit(2);
}
