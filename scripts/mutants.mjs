// Builds the device with one named fault at a time (test/mutants.json) and requires that each file of tests that guards it
// turns red.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { buildVariant } from './native_variant.mjs';

const timeout = 120_000;
const chosen = process.argv.slice(2);
const mutants = JSON.parse(readFileSync('test/mutants.json', 'utf8')).filter(
  ({ name }) => chosen.length === 0 || chosen.includes(name),
);
if (mutants.length === 0) {
  console.error(`no mutant is named ${chosen.join(', ')}; see test/mutants.json`);
  process.exit(2);
}
const none = { FPGA_VERBS_MUTANT: '', FPGA_VERBS_MUTANT_FILE: '' };

console.log('the tests without a fault');
const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
if (!passes(files, buildVariant('mutants', none))) {
  console.error('the tests fail without any fault: mend that first');
  process.exit(1);
}
let survived = 0;
for (const { name, what, source, tests } of mutants) {
  const environment = buildVariant('mutants', { FPGA_VERBS_MUTANT: name, FPGA_VERBS_MUTANT_FILE: source });
  const green = tests.filter((file) => passes([file], environment));
  if (green.length > 0) survived += 1;
  console.log(`${green.length > 0 ? 'SURVIVED' : 'red     '}  ${name.padEnd(48)}  ${what}`);
  for (const file of green) console.log(`          ${file} stayed green`);
}
console.log(`\n${mutants.length - survived} red, ${survived} survived`);
process.exitCode = survived === 0 ? 0 : 1;

function passes(tests, environment) {
  const { status } = spawnSync('npx', ['vitest', 'run', '--reporter=dot', ...tests], {
    stdio: 'ignore',
    timeout, // a fault may keep a test from ending: red
    env: { ...process.env, ...environment },
  });
  return status === 0;
}
