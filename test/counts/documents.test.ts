import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const { operations, recordedCounts } = (await import(
  new URL('scripts/instruction_counts.mjs', root).href
)) as {
  operations: Readonly<Record<string, { what: string }>>;
  recordedCounts(): Readonly<Record<string, { instructions: number; steps?: number }>>;
};

it('docs/performance.md has the recorded counts', () => {
  const document = readFileSync(new URL('docs/performance.md', root), 'utf8');
  const counts = recordedCounts();
  for (const [name, { what }] of Object.entries(operations)) {
    const { instructions, steps } = counts[name]!;
    const row = [what, instructions.toLocaleString('en'), steps?.toFixed(1) ?? ''].join(' | ');
    expect(document).toContain(`\n| ${row} |\n`);
  }
});
