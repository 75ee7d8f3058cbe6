import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { buildVariant } from './native_variant.mjs';
import { Simulator } from './simulator.mjs';

/** Seeds that one mutant gets, in milliseconds. */
const timeLimit = 120_000;
/** Seconds after which a simulation of a mutant hangs: found, too. */
const longestSeed = 60;
const variant = 'mutants_simulation';

/** Whether the simulation finds at least nine of ten of the mutants; prints by what. */
export async function findBySimulation(mutants) {
  const compiled = spawnSync('npx', ['tsc', '-p', 'tsconfig.simulate.json'], { stdio: 'inherit' });
  if (compiled.status !== 0) return false;
  const directory = path.resolve('build/simulate/test/simulate');
  const { planOf } = await import(pathToFileURL(path.join(directory, 'plan.js')));
  const rows = [];
  for (const mutant of mutants) {
    const simulator = new Simulator(directory, build(mutant), longestSeed);
    const row = { ...mutant, ...(await find(simulator, planOf)) };
    simulator.end();
    rows.push(row);
    console.log(lineOf(row));
  }
  const survived = rows.filter(({ failure }) => failure === undefined).length;
  console.log(`\n${rows.length - survived} found by the simulation, ${survived} survived`);
  return survived * 10 <= rows.length;
}

/** Plays seeds from 1 on until one fails, or the time is over. */
async function find(simulator, planOf) {
  const begin = performance.now();
  for (let seed = 1; performance.now() - begin < timeLimit; seed++) {
    const { failure } = await simulator.play(planOf(seed));
    if (failure === undefined) continue;
    const seconds = (performance.now() - begin) / 1000;
    return { seed, seconds, failure: failure.split('\n')[0].replace(/^(Violation|Error): /, '') };
  }
  return {};
}

function lineOf({ name, seed, seconds, failure }) {
  const outcome = failure === undefined ? 'SURVIVED' : `seed ${seed}, ${seconds.toFixed(0)} s`;
  return `| ${name} | ${outcome} | ${failure ?? '-'} |`;
}

/** The addon with the mutant's source file in the place of its own. Assertions of the device are on. */
function build({ name, source, change }) {
  const changed = path.resolve('build', `${variant}_sources`, name, path.basename(source));
  mkdirSync(path.dirname(changed), { recursive: true });
  writeFileSync(changed, mutate(readFileSync(source, 'utf8'), change, name));
  return buildVariant(
    variant,
    { CMAKE_CXX_FLAGS_RELEASE: '-O2', FPGA_VERBS_MUTANT_FILE: source, FPGA_VERBS_MUTANT_SOURCE: changed },
    ['fpga_verbs'],
  );
}

/** A source with the one place changed that a mutant names. @throws Error it is not there, or not once */
export function mutate(text, [from, to], name) {
  const [before, after, ...more] = text.split(from);
  if (after !== undefined && more.length === 0) return `${before}${to}${after}`;
  throw new Error(
    `mutant ${name}: its source has ${JSON.stringify(from)} not once; bring test/mutants.json up to date`,
  );
}
