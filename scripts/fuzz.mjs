// Fuzzes the device with libFuzzer, under address and undefined-behavior sanitizers: `npm run test:fuzz -- [target…]
// [--seconds N] [--minimize]`. Each target begins with its corpus in test/fuzz/corpus. Failing inputs are written to
// build/fuzz/TARGET, and the command to repeat them is printed. --minimize then replaces the corpus by the smallest set of
// inputs with the same coverage.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { corpora, pack, unpack } from './fuzz_corpus.mjs';
import { buildVariant } from './native_variant.mjs';

const compiler = 'clang++-19';
/** Longest input, bytes. */
const longest = 640;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, minimize: { type: 'boolean', default: false } },
});
const seconds = Number(values.seconds);
if (!Number.isSafeInteger(seconds) || seconds < 1)
  fail(`--seconds is a whole number from 1 on, not ${values.seconds}`);
const known = corpora();
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) fail(`no fuzz target is named ${unknown.join(', ')}; there are ${known.join(', ')}`);
const nothing = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }';
try {
  execFileSync(compiler, ['-fsanitize=fuzzer,address', '-x', 'c++', '-', '-o', '/dev/null'], {
    input: nothing,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
} catch {
  fail(
    `${compiler} or its libFuzzer is not installed; on Debian: apt-get install clang-19 libclang-rt-19-dev`,
  );
}

buildVariant(
  'fuzz',
  { CMAKE_CXX_COMPILER: compiler, FPGA_VERBS_SANITIZE: 'fuzzer-no-link,address,undefined' },
  ['fuzz'],
);
const program = path.resolve('build/fuzz/native/fuzz');
const failed = (positionals.length > 0 ? positionals : known).filter((target) => !fuzz(target));
console.log(failed.length === 0 ? 'no promise was broken' : `broken: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Fuzzes a target for so many seconds. Returns whether it had no failure. */
function fuzz(target) {
  console.log(`${target}: ${seconds} s`);
  const corpus = path.resolve(`build/fuzz/${target}-corpus`);
  rmSync(corpus, { recursive: true, force: true });
  unpack(target, corpus);
  const found = path.resolve('build/fuzz', target);
  mkdirSync(found, { recursive: true });
  const held = run(target, [
    `-max_total_time=${seconds}`,
    `-max_len=${longest}`,
    '-timeout=20',
    '-rss_limit_mb=2048',
    '-print_final_stats=1',
    `-artifact_prefix=${found}/broken-`,
    found,
    corpus,
  ]);
  if (!held) {
    console.log(`again: FPGA_VERBS_FUZZ_TARGET=${target} ${program} ${found}/broken-…`);
  } else if (values.minimize) {
    minimize(target, corpus, found);
  }
  return held;
}

function minimize(target, corpus, found) {
  const least = `${found}-least`;
  rmSync(least, { recursive: true, force: true });
  mkdirSync(least);
  run(target, ['-set_cover_merge=1', least, corpus, found]);
  pack(target, least);
}

function run(target, options) {
  const { status } = spawnSync(program, options, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      FPGA_VERBS_FUZZ_TARGET: target,
      UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
    },
  });
  return status === 0;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
