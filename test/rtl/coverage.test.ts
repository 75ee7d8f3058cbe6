import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { blockNames, root, rtlSources } from './blocks.ts';

interface Point {
  readonly bench: string;
  readonly source: string;
  readonly line: number;
  readonly kind: 'branch' | 'toggle';
  readonly what: string;
  readonly count: number;
}
const { benchTests, pointsOf, rowsOf } = (await import(`${root}fpga/scripts/coverage.mjs`)) as {
  readonly benchTests: string;
  pointsOf(texts: readonly string[]): Point[];
  rowsOf(points: readonly Point[]): string[][];
};

/** A line of Verilator's output: how often a point was covered in one instance. */
function passed(page: string, what: string, instance: string, count: number): string {
  const parts = { f: 'fpga/rtl/lists/data_list.sv', l: 7, n: 3, page: `${page}/data_list`, o: what };
  const key = Object.entries({ ...parts, h: `TOP.virtual_kick.${instance}` });
  return `C '${key.map(([name, value]) => `\x01${name}\x02${value}`).join('')}' ${count}\n`;
}

describe('coverage of the RTL', () => {
  it('sums the coverage of instances and runs, branches and toggles separately', () => {
    const runs = [
      passed('v_branch', 'if', 'i_one', 0) + passed('v_branch', 'else', 'i_one', 0),
      passed('v_branch', 'if', 'i_other', 3) + passed('v_toggle', 'head[0]', 'i_one', 0),
    ];
    const points = pointsOf(runs);
    const common = { bench: 'virtual_kick', source: 'data_list', line: 7 };
    expect(points).toContainEqual({ ...common, kind: 'branch', what: 'if', count: 3 });
    expect(rowsOf(points)).toContainEqual(['virtual_kick', 'data_list', '1 of 2', '0 of 1']);
  });

  it.each(blockNames)('is measured by a test of %s', (block) => {
    const file = block.startsWith('burst_') ? 'bursts.ts' : `${block}.slow.test.ts`;
    const names = readFileSync(`${root}test/rtl/${file}`, 'utf8').match(/['`][^'`]*['`],/g);
    expect(names?.filter((name) => new RegExp(benchTests).test(name))).not.toEqual([]);
  });

  it.each(blockNames)('is documented with a row for each source of %s', (block) => {
    const rows = readFileSync(`${root}fpga/doc/coverage.md`, 'utf8').matchAll(
      /^\| (\w+) \| (\w+) \| .* of \d+ \|$/gm,
    );
    const sources = [...rows].filter(([, bench]) => bench === block).map(([, , source]) => source);
    const modules = rtlSources(block)
      .map((file) => path.basename(file, '.sv'))
      .filter((name) => !name.endsWith('_pkg'));
    expect(sources).toEqual(modules.sort());
  });
});
