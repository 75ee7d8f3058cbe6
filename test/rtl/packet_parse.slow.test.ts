import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { buildBench, lint } from './verilator.ts';

const block = 'packet_parse';
const patient = { timeout: 600_000 };
const widths = [8, 16, 32, 64];
const seeds = [1, 2, 3];
const clocks = 30_000;

const numbers = (found: RegExpExecArray): number[] => found.slice(1).map(Number);

describe('packet_parse in SystemVerilog', () => {
  it('passes lint without warnings at every beat width', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const BEAT_BYTES of widths) expect(lint(verilator, block, { BEAT_BYTES })).toBe('');
  });

  it.for(widths)(
    'gives the same verdict as the device model for any error in a packet: %i B per beat',
    patient,
    (BEAT_BYTES, context) => {
      const bench = buildBench(requireTool('verilator', context), block, { BEAT_BYTES });
      const most: number[] = [];
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [packets, dropped, reasons, tagged, infiniband, latest] = numbers(
          /^(\d+) packets in \d+ clocks, (\d+) dropped, for (\d+) reasons, (\d+) tagged, (\d+) of InfiniBand, a verdict after (\d+) clocks at most$/m.exec(
            output,
          )!,
        );
        expect(packets! - dropped!).toBeGreaterThan(100);
        expect(tagged).toBeGreaterThan(50);
        expect(infiniband).toBeGreaterThan(100);
        // Four clocks to the end of the packet, the clocks of icrc_check, and two to the verdict.
        expect(latest).toBe(12 + Math.log2(BEAT_BYTES));
        most.push(reasons!);
        // 38 defined opcodes and nine reserved ones.
        expect(output).toContain('\n47 opcodes in each of 4 framings\n');
      }
      // No reason, and all reasons except VCRC and those of the destination.
      expect(Math.max(...most)).toBe(18);
    },
  );
});
