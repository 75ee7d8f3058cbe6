import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint } from './verilator.ts';

const block = 'packet_headers';
const patient = { timeout: 600_000 };
const widths = [8, 16, 32, 64];
const seeds = [1, 2, 3];
const clocks = 20_000;

const numbers = (found: RegExpExecArray): number[] => found.slice(1).map(Number);

describe('packet_headers in SystemVerilog', () => {
  it('passes lint without warnings at every beat width', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const BEAT_BYTES of widths) expect(lint(verilator, block, { BEAT_BYTES })).toBe('');
  });

  const figures: number[][] = [];

  it.for(widths)(
    'builds the same packets as the device model for any stalls: %i B per beat',
    patient,
    (BEAT_BYTES, context) => {
      const bench = buildBench(requireTool('verilator', context), block, { BEAT_BYTES });
      const most: number[] = [];
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [packets, opcodes, ...kinds] = numbers(
          /^(\d+) packets in \d+ clocks, of (\d+) opcodes, (\d+) tagged, (\d+) of InfiniBand, (\d+) with a pad$/m.exec(
            output,
          )!,
        );
        expect(packets).toBeGreaterThan(400);
        expect(Math.min(...kinds)).toBeGreaterThan(50);
        most.push(opcodes!);
        if (seed !== 1) continue;
        for (const found of output.matchAll(
          /^(\d+) packets with (\d+) bytes of payload: (\d+) beats in (\d+) clocks, the first after (\d+)$/gm,
        ))
          figures.push([BEAT_BYTES, ...numbers(found)]);
      }
      // 38 defined opcodes and nine reserved ones.
      expect(Math.max(...most)).toBe(47);
    },
  );

  it('builds packets at one beat per clock: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(5 * widths.length);
    for (const [beatBytes, packets, , beats, spent] of figures) {
      // If a last beat holds only part of the ICRC, or the headers begin late in their beat, one beat more goes in than out.
      expect(spent! - beats!).toBeLessThanOrEqual(packets! + 16 + Math.log2(beatBytes!));
    }
    const columns = ['BEAT_BYTES', 'packets', 'bytes of payload', 'beats', 'clocks', 'clocks to the first'];
    await expectFigures(block, columns, figures);
  });
});
