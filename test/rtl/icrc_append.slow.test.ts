import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint } from './verilator.ts';

const block = 'icrc_append';
const patient = { timeout: 600_000 };
const widths = [8, 16, 32, 64];
const seeds = [1, 2, 3];
const clocks = 20_000;

const numbers = (found: RegExpExecArray): number[] => found.slice(1).map(Number);

describe('icrc_append in SystemVerilog', () => {
  it('passes lint without warnings at every beat width', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const BEAT_BYTES of widths) expect(lint(verilator, block, { BEAT_BYTES })).toBe('');
  });

  const figures: number[][] = [];

  it.for(widths)(
    'appends the same ICRC as the device model for any stalls: %i B per beat',
    patient,
    (BEAT_BYTES, context) => {
      const bench = buildBench(requireTool('verilator', context), block, { BEAT_BYTES });
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const counts = numbers(
          /^(\d+) packets in \d+ clocks, (\d+) tagged, (\d+) of InfiniBand, (\d+) with a beat more$/m.exec(
            output,
          )!,
        );
        expect(Math.min(...counts)).toBeGreaterThan(100);
        if (seed !== 1) continue;
        for (const found of output.matchAll(
          /^(\d+) packets of (\d+) bytes: (\d+) beats out in (\d+) clocks, the first after (\d+)$/gm,
        ))
          figures.push([BEAT_BYTES, ...numbers(found)]);
      }
    },
  );

  it('appends the ICRC at one beat per clock: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(3 * widths.length);
    for (const [beatBytes, , bytes, beats, spent, first] of figures) {
      // Only a first packet that left before its end arrived can stall the output.
      expect(spent! - beats!).toBeLessThanOrEqual(
        bytes! > 32 * beatBytes! ? first! + Math.log2(beatBytes!) + 6 : 0,
      );
      expect(first).toBeLessThanOrEqual(9 + Math.log2(beatBytes!));
    }
    const columns = ['BEAT_BYTES', 'packets', 'bytes of each', 'beats out', 'clocks', 'clocks to the first'];
    await expectFigures(block, columns, figures);
  });
});
