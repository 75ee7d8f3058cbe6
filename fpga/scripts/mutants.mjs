// Builds blocks of fpga/rtl with one fault at a time (fpga/tb/mutants.json) and requires that their benches, which compare them with the
// device model, detect it. Writes the first difference of each to fpga/doc/mutants.md.
//
//   node fpga/scripts/mutants.mjs [--print] [NAME]…
//
// Without a name: all. The name of a block selects its mutants. --print leaves the document unchanged. A mutant is a text of a source and its
// replacement. Needs `npm run setup` first, for the device model.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { protocolsOf, sourcesOf } from './blocks.mjs';

process.chdir(path.join(import.meta.dirname, '../..'));
const document = 'fpga/doc/mutants.md';
const model = 'build/native/libfpga_verbs_native.a';
const atOnce = ['VM_PARALLEL_BUILDS=0', 'OPT_FAST=-O0', 'OPT_SLOW=-O0', 'OPT_GLOBAL=-O0'];
const timeLimit = 600_000; // ms for a run: a fault can make it run forever

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { print: { type: 'boolean', default: false } },
});
const blocks = JSON.parse(readFileSync('fpga/tb/mutants.json', 'utf8'));
const wanted = Object.entries(blocks).flatMap(([block, { mutants, ...bench }]) =>
  mutants
    .filter(
      ({ name }) => positionals.length === 0 || positionals.includes(name) || positionals.includes(block),
    )
    .map((mutant) => ({ block, bench, ...mutant })),
);
if (wanted.length === 0) {
  console.error(`mutants: no mutant is named ${positionals.join(', ')}; see fpga/tb/mutants.json`);
  process.exit(2);
}

const rows = [];
for (const block of new Set(wanted.map((mutant) => mutant.block))) {
  const { bench } = wanted.find((mutant) => mutant.block === block);
  for (const shape of bench.shapes) {
    const said = differs(build(block, shape, undefined), bench);
    if (said === undefined) continue;
    console.error(`mutants: the bench of ${block} fails without any fault: ${said}`);
    process.exit(1);
  }
}
for (const mutant of wanted) {
  let found;
  for (const shape of mutant.bench.shapes) {
    found = differs(build(mutant.block, shape, mutant), mutant.bench);
    if (found !== undefined) break;
  }
  console.log(
    `${found === undefined ? 'SURVIVED' : 'red     '}  ${mutant.name.padEnd(40)}  ${found ?? mutant.what}`,
  );
  rows.push([mutant.block, mutant.name, mutant.what, found === undefined ? '**survived**' : found]);
  if (!values.print) note(); // After each mutant: all of them take long.
}
const survived = rows.filter(([, , , found]) => found === '**survived**').length;
console.log(`\n${rows.length - survived} red, ${survived} survived`);
process.exitCode = survived === 0 ? 0 : 1;

/** Builds the bench of a block at a shape, with a fault; returns its path. */
function build(block, shape, mutant) {
  const sizes = Object.entries(shape);
  const directory = `build/rtl/mutants/${block}_${Object.values(shape).join('_')}`;
  const here = mutant === undefined ? directory : `${directory}_mutant`;
  mkdirSync(here, { recursive: true });
  const sources = sourcesOf(block).map((source) => {
    if (path.basename(source, '.sv') !== mutant?.source) return source;
    const text = readFileSync(source, 'utf8');
    if (text.split(mutant.from).length !== 2)
      throw new Error(`${mutant.name}: the text that it replaces must occur once in ${source}`);
    const copy = path.join(here, path.basename(source));
    writeFileSync(
      copy,
      text.replace(mutant.from, () => mutant.to),
    );
    return copy;
  });
  const root = process.cwd();
  const defines = sizes.map(([name, value]) => `-D${name}=${value}`);
  const flags = ['-std=c++20', `-I${root}/native`, `-I${root}/fpga/tb`, ...defines].join(' ');
  const parameters = sizes.map(([name, value]) => `-G${name}=${value}`);
  execFileSync(
    'verilator',
    [
      '--cc',
      '--exe',
      '--assert',
      '-Wall',
      '-Wno-fatal', // A fault can leave signals unused.
      '-Wno-WIDTH',
      '-O3',
      '--Mdir',
      here,
      ...parameters,
      '-CFLAGS',
      flags,
      '--top-module',
      block,
      ...sources,
      ...protocolsOf(block),
      `${root}/fpga/tb/${block}_tb.cpp`,
      `${root}/${model}`,
    ],
    { stdio: 'pipe' },
  );
  // The bench and Verilator's library are the same with and without a fault.
  if (mutant !== undefined)
    for (const file of readdirSync(directory))
      if (/\.[od]$/.test(file) && !file.startsWith('V'))
        copyFileSync(path.join(directory, file), path.join(here, file));
  execFileSync('make', ['-s', '-j', '2', '-C', here, '-f', `V${block}.mk`, ...atOnce], { stdio: 'pipe' });
  return path.join(here, `V${block}`);
}

/** The first difference between RTL and model that the bench reports; undefined: none. */
function differs(program, { seeds, clocks }) {
  for (const seed of seeds) {
    const { stdout, status, error } = spawnSync(program, [seed, clocks].map(String), {
      encoding: 'utf8',
      timeout: timeLimit,
    });
    if (error?.code === 'ETIMEDOUT') return 'does not end';
    if (status !== 0)
      return (
        /^seed .*$/m.exec(stdout)?.[0] ??
        /Assertion failed in TOP\.([\w.]+)/.exec(stdout)?.[1].replace(/^/, 'rule ') ??
        `status ${status}`
      );
  }
  return undefined;
}

/** Writes the rows to the document, in place of the rows of the same mutants. */
function note() {
  const text = readFileSync(document, 'utf8');
  const begin = text.indexOf('| block | mutant');
  const known = new Set(
    Object.entries(blocks).flatMap(([block, { mutants }]) => mutants.map(({ name }) => `${block} ${name}`)),
  );
  const kept = text
    .slice(begin)
    .split('\n')
    .slice(2)
    .filter((line) => line !== '')
    .map((line) => line.slice(2, -2).split(' | '))
    .filter(([block, name]) => known.has(`${block} ${name}`))
    .filter(([block, name]) => !rows.some((row) => row[0] === block && row[1] === name));
  const order = [...known];
  const all = [...kept, ...rows].sort(
    (one, other) => order.indexOf(`${one[0]} ${one[1]}`) - order.indexOf(`${other[0]} ${other[1]}`),
  );
  const table = [['block', 'mutant', 'what is wrong', 'found'], ['---', '---', '---', '---'], ...all];
  writeFileSync(
    document,
    `${text.slice(0, begin)}${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`,
  );
}
