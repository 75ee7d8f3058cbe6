// npm run fpga:speed [-- BLOCK…] [--check]: measures how fast busy blocks simulate at their full sizes, all or those named, and writes a
// table to fpga/doc/simulation.md: instructions per clock, counted by callgrind, and cycles per second on this machine. With --check it
// counts instructions only and writes nothing. Fails if a block takes more instructions than its budget.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { sourcesOf } from './blocks.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const document = path.join(root, 'fpga/doc/simulation.md');
const columns = [
  'block',
  'size',
  'work in a clock',
  'instructions a clock',
  'budget',
  'M cycles/s',
  'required',
];

const queue = { ENTRIES: 256, UNDERLYING_FUNCTIONS: 8, READY_ON_PUSH: false };
const collect = { VIRTUAL_COLLECT_BUFFERS: 256, UNDERLYING_FUNCTIONS: 8 };
const front = { BEAT_BYTES: 32, ...collect, QUEUE_PAIRS: 65536 };

/**
 * Each block at full size: its parameters, which its driver fpga/tb/<block>_speed.cpp sets too; budget, in instructions per clock; required
 * speed, in M cycles/s.
 */
const cases = [
  {
    block: 'hardware_linked_list_queue',
    size: '256 entries, 256 lists, direct',
    parameters: { ...queue, LISTS: 256, CONTENT_ADDRESSED: false, INDEX_WIDTH: 9 },
    work: 'pops',
    budget: 5000,
    required: 2,
  },
  {
    block: 'hardware_linked_list_queue',
    size: '256 entries, 1,024 lists, 24-bit index',
    parameters: { ...queue, LISTS: 1024, CONTENT_ADDRESSED: true, INDEX_WIDTH: 24 },
    work: 'pops',
    budget: 7000,
    required: 2,
  },
  {
    block: 'collect_buffer',
    size: '256 VCBs, 72 PCBs, 8 functions, 32 B beats',
    parameters: { BEAT_BYTES: 32, ...collect },
    work: 'beats',
    budget: 6700,
    required: 2,
  },
  {
    block: 'virtual_kick',
    size: '72 entries, 64 lanes, 65,536 queue pairs',
    parameters: {
      UNDERLYING_FUNCTIONS: 8,
      TRANSMIT_VIRTUAL_LANES: 64,
      ENTRIES: 72,
      QUEUE_PAIRS: 65536,
      EXECUTION_CREDITS_PER_LANE: 2,
      COMPLETION_CREDITS_PER_LANE: 4,
      SHARED_EXECUTION_CREDITS: 64,
      SHARED_COMPLETION_CREDITS: 256,
      SHARED_EXECUTION_CREDITS_CAP: 16,
      SHARED_COMPLETION_CREDITS_CAP: 64,
    },
    work: 'starts',
    budget: 7400,
    required: 2,
  },
  {
    block: 'hca_front',
    size: 'as fpga/spec, 32 B beats',
    parameters: front,
    work: 'commands',
    budget: 15800,
    required: 1,
  },
  {
    block: 'hca_board',
    size: 'as fpga/spec, 32 B beats',
    parameters: front,
    work: 'commands',
    budget: 14000,
    required: 0.3,
  },
];

const fastest = ['--cc', '--exe', '-O3', '--x-assign', 'fast', '--x-initial', 'fast', '--noassert', '-Wall'];

/**
 * Builds the driver of a block as a user who wants speed builds a simulation: without assertions, coverage and waveforms.
 * @returns {string} the path of the program
 */
function build({ block, parameters }) {
  const directory = path.join(
    root,
    'build/rtl',
    ['speed', block, ...Object.values(parameters).map(Number)].join('_'),
  );
  mkdirSync(directory, { recursive: true });
  const sources =
    block === 'hca_board' ? [...sourcesOf('hca_front'), 'fpga/board/hca_board.sv'] : sourcesOf(block);
  const defines = Object.entries(parameters).map(([name, value]) => `-D${name}=${Number(value)}`);
  const flags = ['-std=c++20', `-I${root}native`, `-I${root}fpga/tb`, ...defines];
  const place = ['--Mdir', directory, '-CFLAGS', flags.join(' '), '--top-module', block];
  execFileSync(
    'verilator',
    [
      ...fastest,
      ...Object.entries(parameters).map(
        ([name, value]) => `-G${name}=${typeof value === 'boolean' ? `1'b${Number(value)}` : value}`,
      ),
      ...place,
      ...sources.map((source) => `${root}${source}`),
      `${root}fpga/tb/${block}_speed.cpp`,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  execFileSync(
    'make',
    [
      '-s',
      '-j',
      '2',
      '-C',
      directory,
      '-f',
      `V${block}.mk`,
      'OPT_FAST=-O2',
      'OPT_SLOW=-O0',
      'OPT_GLOBAL=-O2',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return path.join(directory, `V${block}`);
}

/** Runs the driver for this number of clocks and returns the units of work done and the CPU time in seconds. */
function run(program, clocks) {
  const output = execFileSync(program, [String(clocks)], { encoding: 'utf8' });
  const [, done, seconds] = /clocks, (\d+) done, (\S+) s/.exec(output).map(Number);
  return { done, seconds };
}

/** Counts the driver's instructions for this number of clocks, including its reset. */
function instructions(program, clocks) {
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-speed-'));
  try {
    const output = path.join(directory, 'counted');
    execFileSync(
      'valgrind',
      ['--tool=callgrind', `--callgrind-out-file=${output}`, program, String(clocks)],
      {
        stdio: 'ignore',
      },
    );
    return Number(/^totals: (\d+)$/m.exec(readFileSync(output, 'utf8'))[1]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Measures a busy block.
 * @param counts no time, only instructions
 * @returns instructions per clock, including those of the driver; work per clock; M cycles/s, the best of five runs
 */
function measure(one, counts) {
  const program = build(one);
  const [few, many] = [1000, 5000];
  const count = Math.round((instructions(program, many) - instructions(program, few)) / (many - few));
  const clocks = 200_000;
  const runs = Array.from({ length: counts ? 1 : 5 }, () => run(program, counts ? many : clocks));
  return {
    count,
    done: runs[0].done / (counts ? many : clocks),
    speed: clocks / Math.min(...runs.map(({ seconds }) => seconds)) / 1e6,
  };
}

/** Writes rows to the document in place of the rows with the same block and size. */
function note(rows) {
  const text = readFileSync(document, 'utf8');
  const lines = text.split('\n');
  const begin = lines.findIndex((line) => line.startsWith(`| ${columns[0]} | ${columns[1]} |`));
  const end = lines.findIndex((line, at) => at > begin && !line.startsWith('|'));
  const table = lines.slice(begin + 2, end);
  for (const row of rows) {
    const line = `| ${row.join(' | ')} |`;
    const at = table.findIndex((each) => each.startsWith(`| ${row[0]} | ${row[1]} |`));
    if (at === -1) table.push(line);
    else table[at] = line;
  }
  writeFileSync(document, [...lines.slice(0, begin + 2), ...table, ...lines.slice(end)].join('\n'));
}

const options = process.argv.slice(2);
const counts = options.includes('--check');
const named = options.filter((option) => option !== '--check');
for (const name of named)
  if (!cases.some(({ block }) => block === name))
    throw new Error(
      `nothing is measured of ${name}; there are ${[...new Set(cases.map(({ block }) => block))].join(', ')}`,
    );
const rows = [];
for (const one of cases.filter(({ block }) => named.length === 0 || named.includes(block))) {
  const { block, size, work, budget, required } = one;
  const { count, done, speed } = measure(one, counts);
  const told = `${done.toFixed(2)} ${work}`;
  console.log(
    `${block}, ${size}: ${count} instructions a clock, of ${budget}; ${told}${counts ? '' : `; ${speed.toFixed(2)} M cycles/s`}`,
  );
  if (count > budget) {
    console.error(`${block}, ${size}: more instructions a clock than its budget`);
    process.exitCode = 1;
  }
  rows.push([block, size, told, count, budget, speed.toFixed(2), required]);
}
if (!counts) note(rows);
