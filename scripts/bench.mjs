// Compiles and runs the benchmarks of test/bench: plain modules, so that what is measured is what users run.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const compiled = spawnSync('npx', ['tsc', '-p', 'tsconfig.bench.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(1);
const directory = 'build/bench/test/bench';
for (const name of readdirSync(directory).filter((each) => each.endsWith('.bench.js'))) {
  const { status } = spawnSync(process.execPath, [path.join(directory, name)], {
    stdio: 'inherit',
    env: {
      FPGA_VERBS_ADDON: path.resolve('build/Release/fpga_verbs.node'),
      FPGA_VERBS_TEST_ADDON: path.resolve('build/Release/fpga_verbs_test.node'),
      ...process.env,
    },
  });
  if (status !== 0) process.exitCode = 1;
}
