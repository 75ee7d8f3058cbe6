import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { root, rtlSources } from './blocks.ts';

interface Mutant {
  readonly name: string;
  readonly what: string;
  readonly source: string;
  readonly from: string;
  readonly to: string;
}

const blocks = JSON.parse(readFileSync(`${root}fpga/tb/mutants.json`, 'utf8')) as Readonly<
  Record<string, { readonly mutants: readonly Mutant[] }>
>;
const mutants = Object.entries(blocks).flatMap(([block, bench]) =>
  bench.mutants.map((mutant) => ({ block, ...mutant })),
);
const rows = readFileSync(`${root}fpga/doc/mutants.md`, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.slice(2, -2).split(' | '));

describe('mutants of the RTL', () => {
  it('match the document: order, names and descriptions', () =>
    expect(rows.map((cells) => cells.slice(0, 3))).toEqual(
      mutants.map(({ block, name, what }) => [block, name, what]),
    ));

  it('are all found, according to the document', () =>
    expect(rows.filter(([, , , found]) => !found || found.includes('survived'))).toEqual([]));

  it.each(Object.entries(blocks))(
    'change one place of a source of %s each, by unique names',
    (block, bench) => {
      expect(new Set(bench.mutants.map(({ name }) => name)).size).toBe(bench.mutants.length);
      for (const { name, source, from, to } of bench.mutants) {
        const file = rtlSources(block).find((each) => path.basename(each, '.sv') === source);
        expect(file, name).toBeDefined();
        expect(readFileSync(file!, 'utf8').split(from), name).toHaveLength(2);
        expect(to, name).not.toBe(from);
      }
    },
  );
});
