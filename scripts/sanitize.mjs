// Runs tests with the native code under sanitizers: `address` (with undefined behaviour) or `thread`.
import { execFileSync, spawnSync } from 'node:child_process';

import { buildVariant } from './native_variant.mjs';

const variants = {
  address: {
    sanitizers: 'address,undefined',
    library: 'libasan.so',
    tests: ['test/hca', 'test/board', 'test/driver'],
  },
  thread: { sanitizers: 'thread', library: 'libtsan.so', tests: ['test/board', 'test/driver'] },
};
const name = process.argv[2] ?? 'address';
const variant = variants[name];
if (variant === undefined) {
  console.error(`no sanitizer build is named ${name}; there are ${Object.keys(variants).join(', ')}`);
  process.exit(2);
}
const environment = buildVariant(`sanitize-${name}`, { FPGA_VERBS_SANITIZE: variant.sanitizers });
const library = execFileSync('g++', [`-print-file-name=${variant.library}`], { encoding: 'utf8' }).trim();
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--exclude', '**/*.slow.test.ts', ...variant.tests],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...environment,
      LD_PRELOAD: library,
      // Node itself does not free all at its end, and its stacks are its own.
      ASAN_OPTIONS: 'detect_leaks=0:halt_on_error=1',
      UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
      TSAN_OPTIONS: 'halt_on_error=1:report_signal_unsafe=0',
    },
  },
);
process.exitCode = status ?? 1;
