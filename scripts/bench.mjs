// Compiles and runs the benchmarks of test/bench, or the named ones, as plain modules, as users run the code.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const compiled = spawnSync('npx', ['tsc', '-p', 'tsconfig.bench.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(1);
const directory = 'build/bench/test/bench';
const ending = '.bench.js';
const all = readdirSync(directory)
  .filter((each) => each.endsWith(ending))
  .map((each) => each.slice(0, -ending.length));
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !all.includes(name));
if (unknown !== undefined) {
  console.error(`there is no benchmark ${unknown}; there are ${all.join(', ')}`);
  process.exit(2);
}
for (const name of wanted.length === 0 ? all : wanted) {
  const { status } = spawnSync(process.execPath, [path.join(directory, name + ending)], {
    stdio: 'inherit',
    env: {
      FPGA_VERBS_ADDON: path.resolve('build/Release/fpga_verbs.node'),
      FPGA_VERBS_TEST_ADDON: path.resolve('build/Release/fpga_verbs_test.node'),
      ...process.env,
    },
  });
  if (status !== 0) process.exitCode = 1;
}
