// npm run counts: the instructions and the steps of blocks that each operation takes in the device model, two boards and their driver
// together, and the instructions of a plain JavaScript loop: of what V8 has compiled, of its built-ins, and of calls into native code. It
// shows them beside what test/counts/instructions.json records; with --record it records them. Valgrind's callgrind counts what the thread
// that posts and polls executes, as the difference of two runs: time, load and other threads do not move it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(import.meta.dirname, '..');
const recordedFile = path.join(root, 'test/counts/instructions.json');
const program = path.join(root, 'build/native/operation_counts');
const script = path.join(root, 'test/counts/javascript.mjs');

/**
 * By name: what is counted, how often in the shorter of two runs (in the longer three times so often), and the units of one time; where
 * `beside` is, what the functions do whose names it matches is left out, of the operation that `program` names; where `within` is, what
 * they do counts alone, with all that they call. Of those in JavaScript, what V8 compiles when and what it collects differs from run to
 * run: their tolerance is larger, and `tolerance` says it where it is even larger.
 */
export const operations = {
  send: { what: 'SEND 64 B, half of a round trip', times: 1000, units: 1 },
  write: { what: 'WRITE 64 B, posted one by one', times: 1000, units: 1 },
  write_posts: { what: 'WRITE 64 B, sixteen posted before one poll', times: 100, units: 16 },
  write_burst: { what: 'WRITE 64 B, sixteen stored before one fence', times: 100, units: 16 },
  read: { what: 'READ 64 B', times: 1000, units: 1 },
  atomic: { what: 'fetch and add', times: 1000, units: 1 },
  write_long: { what: 'a 4 KiB packet of a 1 MiB WRITE', times: 10, units: 256 },
  write_long_beside: {
    what: 'the same, beside its copies and its ICRC',
    times: 10,
    units: 256,
    program: 'write_long',
    beside: /memcpy|memmove|wire::.*(compute|icrc_\w*(slicing|carryless|wide))/,
  },
  kick: {
    what: 'a command with 96 B of payload, to its kick record',
    times: 100,
    units: 16,
    within: /board::DeviceSide::(take_message|deliver_burst)\(/,
  },
  send_watched: { what: 'SEND 64 B, half of a round trip, observed', times: 1000, units: 1 },
  javascript_send: {
    what: 'SEND 64 B, half, JavaScript',
    times: 20_000,
    units: 1,
    inJavaScript: true,
  },
  javascript_prepared_send: {
    what: 'SEND 64 B, half, prepared, JavaScript',
    times: 20_000,
    units: 1,
    inJavaScript: true,
  },
  javascript_write_batch: {
    what: 'WRITE 64 B, 16 at once, JavaScript',
    times: 2000,
    units: 16,
    inJavaScript: true,
  },
  javascript_spread_batch: {
    what: 'the same, each with a spread of what they share, JavaScript',
    times: 2000,
    units: 16,
    inJavaScript: true,
    tolerance: 0.4, // V8 makes the copies by different built-ins from run to run.
  },
  javascript_empty_poll: {
    what: 'a poll that finds nothing, JavaScript',
    times: 200_000,
    units: 1,
    inJavaScript: true,
  },
};

/** A count may differ from the recorded one by this part of it. */
export const toleranceOf = (name) =>
  operations[name].tolerance ?? (operations[name].inJavaScript ? 0.1 : 0.02);

/** @returns {Record<string, {instructions: number, steps: number}>} what is recorded, of one unit */
export function recordedCounts() {
  return JSON.parse(readFileSync(recordedFile, 'utf8')).operations;
}

/** The compiler and processor of the recorded counts, as {@link machine} gives them: on others the counts differ. */
export function recordedMachine() {
  return JSON.parse(readFileSync(recordedFile, 'utf8')).machine;
}

/** @returns the compiler's name and version, and the processor's architecture */
export function machine() {
  const compiler = process.env.CXX ?? 'c++';
  const version = execFileSync(compiler, ['--version'], { encoding: 'utf8' }).split('\n')[0];
  return `${version}, ${process.arch}`;
}

/**
 * Builds the program and counts an operation.
 * @param {string} name one of {@link operations}
 * @returns {{instructions: number, steps?: number}} of one unit; steps to a hundredth, and none of JavaScript
 */
export function count(name) {
  const { times, units, inJavaScript } = operations[name];
  if (inJavaScript) {
    // V8 inlines different methods from run to run.
    const counts = Array.from({ length: 3 }, () => {
      const [few, many] = [times, 3 * times].map((each) => javascriptInstructions(name, each));
      return Math.round((many - few) / (2 * times * units));
    });
    return { instructions: counts.sort((one, other) => one - other)[1] };
  }
  execFileSync('cmake', ['--build', path.join(root, 'build'), '--target', 'operation_counts'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [few, many] = [times, 3 * times].map((each) => run(name, each));
  const of = (counted) => Math.round(((many[counted] - few[counted]) / (2 * times * units)) * 100) / 100;
  const instructions = Math.round(of('instructions'));
  return many.steps === undefined ? { instructions } : { instructions, steps: of('steps') };
}

function run(name, times) {
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-counts-'));
  try {
    const output = path.join(directory, 'counted');
    const tool = ['--tool=callgrind', '--separate-threads=yes', `--callgrind-out-file=${output}`];
    const { program: operation = name, beside, within } = operations[name];
    const steps = execFileSync('valgrind', [...tool, program, operation, String(times)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [, total] = /^totals: (\d+)$/m.exec(readFileSync(`${output}-01`, 'utf8'));
    if (within !== undefined)
      return { instructions: instructionsOf(`${output}-01`, within, ['--inclusive=yes']) };
    const leftOut = beside === undefined ? 0 : instructionsOf(`${output}-01`, beside);
    return { instructions: Number(total) - leftOut, steps: Number(steps) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Instructions of the functions whose names match, what they call left aside but with --inclusive=yes. */
function instructionsOf(counted, names, more = []) {
  const options = ['--threshold=100', '--auto=no', '--show-percs=no', ...more, counted];
  const lines = execFileSync('callgrind_annotate', options, { encoding: 'utf8', maxBuffer: 2 ** 28 }).split(
    '\n',
  );
  return lines
    .map((line) => /^ *([\d,]+) +\S*?:(.*)$/.exec(line))
    .reduce(
      (sum, row) => sum + (row !== null && names.test(row[2]) ? Number(row[1].replaceAll(',', '')) : 0),
      0,
    );
}

/** Instructions of code that V8 has compiled, which lies in no file, of its built-ins, and of calls into native code; not of its compiler or its garbage collector. */
function javascriptInstructions(name, times) {
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-counts-'));
  try {
    const output = path.join(directory, 'counted');
    const tool = [
      '--tool=callgrind',
      '--smc-check=all-non-file',
      '--separate-threads=yes',
      `--callgrind-out-file=${output}`,
    ];
    const operation = name.replace('javascript_', '');
    execFileSync(
      'valgrind',
      [...tool, process.execPath, '--single-threaded', script, operation, String(times)],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    return instructionsOf(
      `${output}-01`,
      /^(0x\S+ \[\?\?\?\]$|Builtins_|napi_|v8impl::|v8::(?!internal)|node::)/,
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const recorded = recordedCounts();
  const counted = {};
  for (const [name, { what }] of Object.entries(operations)) {
    counted[name] = count(name);
    const { instructions, steps } = counted[name];
    const change = recorded[name] && (instructions / recorded[name].instructions - 1) * 100;
    console.log(
      `${what.padEnd(47)} ${String(instructions).padStart(7)} instructions  ` +
        `${steps === undefined ? '            ' : `${steps.toFixed(2).padStart(6)} steps`}  ` +
        (change === undefined ? 'not recorded' : `${change >= 0 ? '+' : ''}${change.toFixed(1)} %`),
    );
  }
  if (process.argv.includes('--record'))
    writeFileSync(
      recordedFile,
      `${JSON.stringify({ machine: machine(), operations: counted }, undefined, 2)}\n`,
    );
}
