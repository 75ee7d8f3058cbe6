import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'destination_check';
const patient = { timeout: 600_000 };
// Few contexts, so that places are reused often; and full size.
const shapes: readonly Shape[] = [{ CONTEXTS: 8 }, { CONTEXTS: 256 }];
const seeds = [1, 2, 3, 4]; // Ethernet, InfiniBand, and both again.
const clocks = 40_000;

describe('destination_check in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: number[][] = [];

  it.for(shapes)(
    'forwards the same packets as the device model, and counts the dropped ones: $CONTEXTS queue pairs',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [packets, passed, reasons, refused, waited, latest] =
          /^(\d+) packets in \d+ clocks, (\d+) passed, (\d+) reasons, (\d+) pins refused, (\d+) in time-wait, a packet alone after (\d+) clocks$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        expect(packets).toBeGreaterThan(2000);
        expect(passed).toBeGreaterThan(300);
        expect(reasons).toBe(7); // All reasons that concern the destination.
        expect(refused).toBeGreaterThan(20);
        expect(waited).toBeGreaterThan(20);
        expect(latest).toBe(11); // With context and pin answered one clock after the request.
        if (seed !== 1) continue;
        const [stream, spent] = /^(\d+) packets in (\d+) clocks$/m.exec(output)!.slice(1).map(Number);
        figures.push([shape['CONTEXTS'] as number, stream!, spent!, latest!]);
      }
    },
  );

  it('accepts a packet per clock: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(shapes.length);
    for (const [, packets, spent] of figures) expect(spent).toBeLessThan(packets! + 16);
    await expectFigures(block, ['CONTEXTS', 'packets', 'clocks', 'one alone after'], figures);
  });
});
