import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'manager_port';
const patient = { timeout: 600_000 };
// A small size, at which queue pairs become quiet again before the manager has read the list; and full size.
const shapes: readonly Shape[] = [{ CONTEXTS: 8 }, { CONTEXTS: 256 }];
const seeds = [1, 2, 3];
const clocks = 40_000;

describe('manager_port in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: number[][] = [];

  it.for(shapes)('matches the device model: $CONTEXTS contexts', patient, (shape, context) => {
    const bench = buildBench(requireTool('verilator', context), block, shape);
    for (const seed of seeds) {
      const { output, ok } = bench.run(seed, clocks);
      expect(ok, output).toBe(true);
      const [commands, notDone, refused, pins, quiet, taken, rows, entries] =
        /^(\d+) commands in \d+ clocks, (\d+) not done, (\d+) refused, (\d+) pins, (\d+) quiet, (\d+) of them taken, (\d+) context rows, (\d+) table entries$/m
          .exec(output)!
          .slice(1)
          .map(Number);
      expect(commands! - notDone!).toBeGreaterThan(500);
      expect(notDone).toBeGreaterThan(100);
      expect(refused).toBeGreaterThan(50);
      expect(pins).toBeGreaterThan(1000);
      expect(quiet).toBeGreaterThan(1000);
      expect(taken).toBeGreaterThan(100);
      expect(rows).toBeGreaterThan(50);
      expect(entries).toBeGreaterThan(100);
      if (seed !== 1) continue;
      const [written, spent] = /^(\d+) rows of a context in (\d+) clocks$/m
        .exec(output)!
        .slice(1)
        .map(Number);
      figures.push([shape['CONTEXTS'] as number, written!, spent!]);
    }
  });

  it('writes a register every four clocks: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(shapes.length);
    for (const [, written, spent] of figures) expect(spent).toBeLessThan(written! * 80);
    await expectFigures(block, ['CONTEXTS', 'rows of a context', 'clocks'], figures);
  });
});
