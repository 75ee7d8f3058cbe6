// Runs the library under a sanitizer: `address` (with undefined behavior, and leaks of native code), `undefined` or `thread`.
// First runs a native program whose many threads share boards, then the tests in Node: all suitable ones, or those that further
// arguments name.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { buildVariant } from './native_variant.mjs';
import { checksHold } from './sanitize_verbs.mjs';

const testsOfThreads = ['board', 'driver', 'verbs', 'connect', 'functions', 'link', 'served'].map(
  (folder) => `test/${folder}`,
);
const everyTest = [...testsOfThreads, 'test/hca', 'test/fuzz', 'test/pci', 'test/simulate'];
const variants = {
  address: { sanitizers: 'address,undefined', library: 'libasan.so', tests: everyTest },
  undefined: { sanitizers: 'undefined', library: 'libubsan.so', tests: everyTest },
  thread: {
    sanitizers: 'thread',
    library: 'libtsan.so',
    tests: testsOfThreads,
  },
};
const name = process.argv[2] ?? 'address';
const variant = Object.hasOwn(variants, name) ? variants[name] : undefined;
if (variant === undefined) {
  console.error(`no sanitizer build is named ${name}; there are ${Object.keys(variants).join(', ')}`);
  process.exit(2);
}
const [, , , ...chosen] = process.argv;
/** Messages that each connection of the native program sends. */
const messagesOfThreads = '100';
const directory = path.resolve('build', `sanitize-${name}`);
const environment = buildVariant(`sanitize-${name}`, { FPGA_VERBS_SANITIZE: variant.sanitizers }, [
  'all',
  'many_threads',
]);
const undefinedOptions = 'halt_on_error=1:print_stacktrace=1';
const native = spawnSync(path.join(directory, 'native/many_threads'), [messagesOfThreads], {
  stdio: 'inherit',
  env: { ...process.env, UBSAN_OPTIONS: undefinedOptions },
});
const library = execFileSync('g++', [`-print-file-name=${variant.library}`], { encoding: 'utf8' }).trim();
const verbsHold = checksHold(directory, library);
for (const report of reports()) rmSync(report);
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--exclude',
    '**/*.slow.test.ts',
    ...(chosen.length === 0 ? variant.tests : chosen),
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...environment,
      FPGA_VERBS_PRELOAD: library,
      // Node itself does not free all memory at its end.
      ASAN_OPTIONS: 'detect_leaks=0',
      UBSAN_OPTIONS: undefinedOptions,
      TSAN_OPTIONS: `exitcode=0:log_path=${directory}/report`,
    },
  },
);
// Node and its packages are not built with the thread sanitizer, which therefore misses JavaScript's loads and their order, and reports
// false races. Only reports about our own code alone count.
const ours = reports()
  .flatMap((report) => readFileSync(report, 'utf8').split(/^={18}$/m))
  .filter(isOurs);
for (const report of ours) console.error(report);
console.log(`${name}: ${ours.length} reports`);
process.exitCode = native.status === 0 && verbsHold && status === 0 && ours.length === 0 ? 0 : 1;

/** Whether every stack of a report is in our addons. */
function isOurs(report) {
  const stacks = report.split(/\n\s*\n/).filter((part) => /^\s*#0 /m.test(part));
  const accesses = stacks.filter((stack) => /^ *(Previous )?(atomic )?(read|write) of size /im.test(stack));
  if (accesses.length === 0) return stacks.some(isInOurCode);
  return accesses.every(isInOurCode) && !accesses.some(isOfDescriptor);
}

/** Whether an access is the sanitizer's own record of a file descriptor, which Node opens and closes unseen. */
function isOfDescriptor(stack) {
  return /^\s*#0 (accept4?|close|dup|eventfd|mmap|open|pipe2|recvmsg|socket) .*\(libtsan\.so/m.test(stack);
}

/** Whether the innermost frame of a stack, except the sanitizer's own, is in one of our addons. */
function isInOurCode(stack) {
  const frames = stack
    .split('\n')
    .filter((line) => /^\s*#\d+ /.test(line) && !/\(lib(t|a|ub)san\.so/.test(line));
  return frames.length > 0 && /\(fpga_verbs(_test)?\.node/.test(frames[0]);
}

function reports() {
  return readdirSync(directory)
    .filter((file) => file.startsWith('report.'))
    .map((file) => path.join(directory, file));
}
