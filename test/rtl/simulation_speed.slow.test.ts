import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { root } from './blocks.ts';

const script = `${root}fpga/scripts/simulation_speed.mjs`;

describe('simulation of busy blocks at full size', () => {
  it.for(['hardware_linked_list_queue', 'collect_buffer', 'virtual_kick', 'hca_front', 'hca_board'])(
    'takes at most its budget of instructions per clock: %s',
    { timeout: 900_000 },
    (block, context) => {
      requireTool('verilator', context);
      requireTool('valgrind', context);
      const said = execFileSync(process.execPath, [script, '--check', block], { encoding: 'utf8' });
      const rows = [...said.matchAll(/: (\d+) instructions a clock, of (\d+); (\d+\.\d+) /g)].map((found) =>
        found.slice(1).map(Number),
      );
      expect(rows.length).toBeGreaterThan(0);
      for (const [count, budget, done] of rows) {
        expect(count).toBeLessThanOrEqual(budget!);
        expect(done).toBeGreaterThan(0.1); // The block was busy.
      }
    },
  );

  it('is documented with its budget for every block', () => {
    const rows = readFileSync(`${root}fpga/doc/simulation.md`, 'utf8')
      .split('\n')
      .map((line) => line.slice(2, -2).split(' | '))
      .filter((row) => row.length === 7 && Number(row[3]) > 0);
    expect(rows.map(([block]) => block)).toEqual([
      'hardware_linked_list_queue',
      'hardware_linked_list_queue',
      'collect_buffer',
      'virtual_kick',
      'hca_front',
      'hca_board',
    ]);
    for (const row of rows) expect(Number(row[3]), row[1]).toBeLessThanOrEqual(Number(row[4]));
  });
});
