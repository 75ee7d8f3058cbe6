// All tests: types, lint, format, then vitest. Prints a table, what was left out, and last `N passed, N failed`, the table's sums.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';

import { formatChecks } from './format_checks.mjs';
import { suitesOf } from './suites.mjs';

const report = 'build/vitest.json';
const leftOut = 'build/left_out.txt';
rmSync(report, { force: true });
rmSync(leftOut, { force: true });

const rows = [
  check('types', 'npx', ['tsc']),
  check('lint', 'npx', ['oxlint', '--type-aware', '--deny-warnings', '--quiet']),
  ...formatChecks().map(({ name, command, args }) => check(name, command, args)),
];
const tests = spawnSync(
  'npx',
  [
    'vitest',
    'run',
    '--maxWorkers=100%',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
const simulated = [
  'scripts/simulate.mjs',
  '--from',
  '1',
  '--seeds',
  '1000',
  '--workers',
  '2',
  '--minutes',
  '60',
];
// Clients that attack a served board, and the memory that they share with it.
const sanitized = [
  'scripts/sanitize.mjs',
  'address',
  'test/served',
  'test/link/shared_memory',
  'test/board/iommu',
];
const onlyInCi = { 'simulate: 1000 seeds': simulated, 'address sanitizer: hostile clients': sanitized };
if (process.env.CI === 'true')
  for (const [suite, args] of Object.entries(onlyInCi)) rows.push(check(suite, 'node', args));
if (existsSync(report)) rows.push(...suitesOf(JSON.parse(readFileSync(report, 'utf8'))));
// Errors that stopped vitest itself, outside of all tests.
if (tests.status !== 0 && !rows.some(({ failed }) => failed > 0)) {
  rows.push({ suite: 'vitest', backend: '-', passed: 0, failed: 1, skipped: 0, seconds: 0 });
}
printTable(rows);
if (process.env.CI !== 'true')
  for (const args of Object.values(onlyInCi)) console.log(`\nOnly with CI=true: node ${args.join(' ')}`);
if (existsSync(leftOut)) {
  const reasons = [...new Set(readFileSync(leftOut, 'utf8').trim().split('\n'))];
  console.log(`\nLeft out on this machine:\n${reasons.map((reason) => `  ${reason}\n`).join('')}`);
}
const sum = (of) => rows.reduce((total, row) => total + row[of], 0);
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') === 0 ? 0 : 1;

function check(suite, command, args) {
  const begin = performance.now();
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const ok = status === 0;
  const seconds = (performance.now() - begin) / 1000;
  return { suite, backend: '-', passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, seconds };
}

function printTable(all) {
  const lines = [
    ['suite', 'backend', 'passed', 'failed', 'skipped', 'seconds'],
    ...all.map(({ suite, backend, passed, failed, skipped, seconds }) =>
      [suite, backend, passed, failed, skipped, seconds.toFixed(1)].map(String),
    ),
  ];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  console.log();
  for (const line of lines) {
    console.log(
      line
        .map((cell, column) => (column < 2 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
        .join('  '),
    );
  }
}
