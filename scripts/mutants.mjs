// npm run test:mutants [-- NAME… | --simulation | --tests]: builds the device with one named fault at a time (test/mutants.json). A mutant
// that names tests must fail in each of these files; the simulation must find a mutant that names a change of its source, within two
// minutes of seeds. Default: all mutants.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { buildVariant } from './native_variant.mjs';
import { findBySimulation } from './simulation_mutants.mjs';

const timeout = 120_000;
const given = process.argv.slice(2);
const chosen = given.filter((each) => !each.startsWith('--'));
const isOfSimulation = ({ change }) => change !== undefined;
const mutants = JSON.parse(readFileSync('test/mutants.json', 'utf8')).filter(
  (mutant) =>
    (chosen.length === 0 || chosen.includes(mutant.name)) &&
    !(given.includes('--tests') && isOfSimulation(mutant)) &&
    !(given.includes('--simulation') && !isOfSimulation(mutant)),
);
if (mutants.length === 0) {
  console.error(`no mutant is named ${given.join(', ')}; see test/mutants.json`);
  process.exit(2);
}
const ofTests = mutants.filter((mutant) => !isOfSimulation(mutant));
const ofSimulation = mutants.filter(isOfSimulation);
let isRed = true;
if (ofTests.length > 0) isRed = findByTests(ofTests);
if (ofSimulation.length > 0) isRed = (await findBySimulation(ofSimulation)) && isRed;
process.exitCode = isRed ? 0 : 1;

/** Whether every mutant fails in each of its test files. */
function findByTests(all) {
  const none = { FPGA_VERBS_MUTANT: '', FPGA_VERBS_MUTANT_FILE: '' };
  console.log('the tests without a fault');
  const files = [...new Set(all.flatMap(({ tests }) => tests))];
  if (!passes(files, buildVariant('mutants', none))) {
    console.error('the tests fail without any fault: mend that first');
    return false;
  }
  let survived = 0;
  for (const { name, what, source, tests } of all) {
    const environment = buildVariant('mutants', { FPGA_VERBS_MUTANT: name, FPGA_VERBS_MUTANT_FILE: source });
    const green = tests.filter((file) => passes([file], environment));
    if (green.length > 0) survived += 1;
    console.log(`${green.length > 0 ? 'SURVIVED' : 'red     '}  ${name.padEnd(48)}  ${what}`);
    for (const file of green) console.log(`          ${file} stayed green`);
  }
  console.log(`\n${all.length - survived} red, ${survived} survived`);
  return survived === 0;
}

function passes(tests, environment) {
  const { status } = spawnSync('npx', ['vitest', 'run', '--reporter=dot', ...tests], {
    stdio: 'ignore',
    timeout, // a test that never ends counts as failed
    env: { ...process.env, ...environment },
  });
  return status === 0;
}
