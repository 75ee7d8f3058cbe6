import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Mutant {
  readonly name: string;
  readonly source: string;
  readonly change?: readonly [string, string];
  readonly tests?: readonly string[];
}

const mutants = JSON.parse(readFileSync('test/mutants.json', 'utf8')) as readonly Mutant[];

it.each(mutants.filter(({ change }) => change !== undefined))(
  'mutant $name changes one place of its source',
  ({ source, change }) => {
    const [from, to] = change!;
    expect(readFileSync(source, 'utf8').split(from)).toHaveLength(2);
    expect(to).not.toBe(from);
  },
);

it('mutants have unique names, and either tests or the simulation detect them', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  for (const { change, tests } of mutants)
    expect((change === undefined) !== (tests === undefined)).toBe(true);
});
