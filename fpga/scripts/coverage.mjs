// npm run fpga:coverage [-- BENCH…]: measures the branches and bits of the RTL that all benches, or the named ones, cover, and writes a
// table to fpga/doc/coverage.md. Rows of other benches stay. Prints lines that were never executed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { blocks } from './blocks.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const document = path.join(root, 'fpga/doc/coverage.md');
const columns = ['bench', 'source', 'branches', 'toggles'];
/** Names of the tests that compare the unchanged RTL of a block with the device model. */
export const benchTests = 'the device model|over AXI';

/**
 * Runs the tests of benches on unchanged RTL.
 * @param {string[]} benches names of blocks
 * @returns {string[]} the coverage of each run, in Verilator's format
 */
function runBenches(benches) {
  const directory = path.join(root, 'build/rtl/coverage');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const files = benches.map((bench) => `test/rtl/${bench}`); // Includes its other benches.
  const { status } = spawnSync('npx', ['vitest', 'run', ...files, '-t', benchTests], {
    cwd: root,
    env: { ...process.env, FPGA_VERBS_RTL_COVERAGE: directory },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('a bench failed, see above');
  return readdirSync(directory).map((name) => readFileSync(path.join(directory, name), 'utf8'));
}

/**
 * Coverage points of runs, summed over all instances, sizes and seeds.
 * @param {string[]} texts of Verilator's files
 * @returns {{ bench: string, source: string, line: number, kind: 'branch' | 'toggle', what: string, count: number }[]}
 */
export function pointsOf(texts) {
  const points = new Map();
  for (const [, key, count] of texts.flatMap((text) => [...text.matchAll(/^C '(.*)' (\d+)$/gm)])) {
    const part = Object.fromEntries(
      key
        .split('\x01')
        .slice(1)
        .map((each) => each.split('\x02')),
    );
    if (!part.f.includes('fpga/rtl/')) continue; // Protocol checkers are not RTL.
    const kind = part.page.startsWith('v_toggle') ? 'toggle' : 'branch';
    const point = {
      bench: part.h.split('.')[1],
      source: path.basename(part.f, '.sv'),
      line: Number(part.l),
      kind,
      what: part.o,
    };
    const name = [...Object.values(point), part.n].join();
    const known = points.get(name) ?? { ...point, count: 0 };
    known.count += Number(count);
    points.set(name, known);
  }
  return [...points.values()];
}

/** A row for each source of each bench: the branches and bits that were seen both ways. */
export function rowsOf(points) {
  const benches = [...new Set(points.map(({ bench }) => bench))];
  return benches.flatMap((bench) => {
    const own = points.filter((point) => point.bench === bench);
    const sources = [...new Set(own.map(({ source }) => source))].sort();
    return [
      [`**${bench}**`, 'all', ...shares(own)],
      ...sources.map((source) => [bench, source, ...shares(own.filter((point) => point.source === source))]),
    ];
  });
}

function shares(points) {
  return ['branch', 'toggle'].map((wanted) => {
    const all = points.filter(({ kind }) => kind === wanted);
    const covered = all.filter(({ count }) => count > 0);
    return all.length === 0 ? '–' : `${covered.length} of ${all.length}`;
  });
}

/** Replaces the rows of these benches in the document. */
function note(rows) {
  const text = readFileSync(document, 'utf8');
  const begin = text.indexOf(`| ${columns[0]} `);
  const benchOf = ([bench]) => bench.replaceAll('*', '');
  const made = new Set(rows.map(benchOf));
  const kept = [...text.slice(begin).matchAll(/^\| (.*) \|$/gm)]
    .map(([, cells]) => cells.split(' | '))
    .slice(2)
    .filter((row) => !made.has(benchOf(row)));
  const all = [...kept, ...rows].sort((one, other) => benchOf(one).localeCompare(benchOf(other)));
  const table = [columns, ['---', '---', '---:', '---:'], ...all];
  writeFileSync(document, text.slice(0, begin) + table.map((cells) => `| ${cells.join(' | ')} |\n`).join(''));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const named = process.argv.slice(2);
  const points = pointsOf(runBenches(named.length > 0 ? named : Object.keys(blocks)));
  note(rowsOf(points));
  for (const { bench, source, line, kind, what } of points.filter(({ count }) => count === 0))
    console.log(`${bench}: ${source}.sv:${line}: ${kind} ${what}`);
}
