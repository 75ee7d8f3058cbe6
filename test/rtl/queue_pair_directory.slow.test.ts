import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'queue_pair_directory';
const patient = { timeout: 600_000 };
// Few queue pairs, so that indices are reused often; and full size.
const shapes: readonly Shape[] = [{ QUEUE_PAIRS: 8 }, { QUEUE_PAIRS: 64 }, { QUEUE_PAIRS: 65536 }];
const seeds = [1, 2, 3];
const clocks = 20_000;

describe('queue_pair_directory in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: number[][] = [];

  it.for(shapes)('matches the device model: $QUEUE_PAIRS queue pairs', patient, (shape, context) => {
    const bench = buildBench(requireTool('verilator', context), block, shape);
    for (const seed of seeds) {
      const { output, ok } = bench.run(seed, clocks);
      expect(ok, output).toBe(true);
      const [pins, refused, commands, notDone, quiet] =
        /^(\d+) pins in \d+ clocks, (\d+) refused, (\d+) commands, (\d+) not done, (\d+) became quiet$/m
          .exec(output)!
          .slice(1)
          .map(Number);
      expect(pins! - refused!).toBeGreaterThan(1000);
      expect(refused).toBeGreaterThan(500);
      expect(commands! - notDone!).toBeGreaterThan(1000);
      expect(notDone).toBeGreaterThan(100);
      expect(quiet).toBeGreaterThan(100);
      if (seed !== 1) continue;
      const [stream, spent] = /^(\d+) pins and as many unpins in (\d+) clocks$/m
        .exec(output)!
        .slice(1)
        .map(Number);
      figures.push([shape['QUEUE_PAIRS'] as number, stream!, stream!, spent!]);
    }
  });

  it('accepts an access per clock, also to the same queue pair: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(shapes.length);
    for (const [, pins, unpins, spent] of figures) expect(spent).toBeLessThan(pins! + unpins! + 16);
    await expectFigures(block, ['QUEUE_PAIRS', 'pins', 'unpins', 'clocks'], figures);
  });
});
