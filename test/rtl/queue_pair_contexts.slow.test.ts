import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'queue_pair_contexts';
const patient = { timeout: 600_000 };
// Few contexts, so that places are reused often; and full size.
const shapes: readonly Shape[] = [
  { CONTEXTS: 8, READERS: 2 },
  { CONTEXTS: 256, READERS: 8 },
];
const seeds = [1, 2, 3];
const clocks = 20_000;

describe('queue_pair_contexts in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: number[][] = [];

  it.for(shapes)(
    'matches the device model: $CONTEXTS contexts, $READERS readers',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [reads, absent, writes, written, read, failures, withoutEffect, destroyed] =
          /^(\d+) reads in \d+ clocks, (\d+) of no queue pair, (\d+) writes, (\d+) rows written, (\d+) read, (\d+) failures, (\d+) without effect, (\d+) queue pairs destroyed$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        expect(reads! - absent!).toBeGreaterThan(5000);
        expect(absent).toBeGreaterThan(500);
        expect(writes).toBeGreaterThan(10_000);
        expect(written).toBeGreaterThan(500);
        expect(read).toBeGreaterThan(500);
        expect(failures! - withoutEffect!).toBeGreaterThan(100);
        expect(withoutEffect).toBeGreaterThan(100);
        expect(destroyed).toBeGreaterThan(10);
        if (seed !== 1) continue;
        const [stream, spent, first] = /^(\d+) reads in (\d+) clocks, the first after (\d+)$/m
          .exec(output)!
          .slice(1)
          .map(Number);
        figures.push([shape['CONTEXTS'] as number, shape['READERS'] as number, stream!, spent!, first!]);
      }
    },
  );

  it('answers one of two readers per clock while another block writes: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(shapes.length);
    for (const [, , reads, spent] of figures) expect(spent).toBeLessThan(reads! + 16);
    await expectFigures(block, ['CONTEXTS', 'READERS', 'reads', 'clocks', 'first answer after'], figures);
  });
});
