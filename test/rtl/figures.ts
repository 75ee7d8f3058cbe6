import { expect } from 'vitest';

import { root } from './blocks.ts';

/**
 * Expects the simulated figures of a block to match fpga/doc/figures; `npm run fpga:figures` updates them.
 * @param rows one cell for each column
 */
export async function expectFigures(
  block: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): Promise<void> {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |\n`;
  await expect(
    `# ${block}: figures from simulation\n\nMade by \`npm run fpga:figures\`.\n\n` +
      line(columns) +
      line(columns.map(() => '---:')) +
      rows.map(line).join(''),
  ).toMatchFileSnapshot(`${root}fpga/doc/figures/${block}.md`);
}
