// Type check, then every test; the last line counts both: `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

let passed = 0;
let failed = 0;
const count = (name, ok) => {
  console.log(`${ok ? 'passed' : 'FAILED'}  ${name}`);
  if (ok) passed += 1;
  else failed += 1;
};

const types = spawnSync('npx', ['tsc', '--noEmit'], { stdio: ['ignore', 'inherit', 'inherit'] });
count('types (tsc)', types.status === 0);

const report = 'build/vitest.json';
const tests = spawnSync('npx', ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
try {
  const { numPassedTests, numFailedTests, numFailedTestSuites, success } = JSON.parse(readFileSync(report, 'utf8'));
  passed += numPassedTests;
  failed += Math.max(numFailedTests, success && tests.status === 0 ? 0 : Math.max(1, numFailedTestSuites));
} catch {
  console.error('vitest left no report');
  failed += 1;
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
