import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { buildBench, lint } from './verilator.ts';

const block = 'icrc_check';
const patient = { timeout: 600_000 };
const widths = [8, 16, 32, 64];
const seeds = [1, 2, 3];
const clocks = 20_000;

const numbers = (found: RegExpExecArray): number[] => found.slice(1).map(Number);

describe('icrc_check in SystemVerilog', () => {
  it('passes lint without warnings at every beat width', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const BEAT_BYTES of widths) expect(lint(verilator, block, { BEAT_BYTES })).toBe('');
  });

  it.for(widths)(
    'gives the same verdict as the device model for bits flipped anywhere: %i B per beat',
    patient,
    (BEAT_BYTES, context) => {
      const bench = buildBench(requireTool('verilator', context), block, { BEAT_BYTES });
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [packets, damaged, uncovered] = numbers(
          /^(\d+) packets in \d+ clocks, (\d+) damaged, (\d+) of these where nothing is covered$/m.exec(
            output,
          )!,
        );
        expect(uncovered).toBeGreaterThan(10);
        expect(damaged).toBeGreaterThan(5 * uncovered! - 200);
        expect(packets).toBeGreaterThan(1.5 * damaged!);
      }
    },
  );
});
