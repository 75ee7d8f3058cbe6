import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const patient = { timeout: 600_000 };
const seeds = [1, 2, 3];
const clocks = 30_000;

/**
 * The tests of a block that has bursts to host memory in flight.
 * @param bursts the parameter with their maximum number
 * @param way of pieces, to or from a lane
 * @param passes how often the beats of a burst pass while it is in flight: a read leaves its place when it is
 * complete
 */
export function describeBursts(
  block: string,
  bursts: string,
  way: string,
  passes: number,
  shapes: readonly Shape[],
): void {
  describe(`${block} in SystemVerilog`, () => {
    it('passes lint without warnings', patient, (context) => {
      const verilator = requireTool('verilator', context);
      for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
    });

    const figures: number[][] = [];

    it.for(shapes)(
      `matches the DMA of the device model for any host timing: $BEAT_BYTES B per beat, $${bursts} bursts`,
      patient,
      (shape, context) => {
        const bench = buildBench(requireTool('verilator', context), block, shape);
        for (const seed of seeds) {
          const { output, ok } = bench.run(seed, clocks);
          expect(ok, output).toBe(true);
          const [, pieces, failed, , most] =
            /^(\d+) \w+ in \d+ clocks, (\d+) failed, (\d+) bursts, at most (\d+) under way/m
              .exec(output)!
              .map(Number);
          expect(pieces).toBeGreaterThan(2000);
          expect(failed).toBeGreaterThan(20);
          expect(most).toBe(shape[bursts]);
          if (seed !== 1) continue;
          for (const [, ...counts] of output.matchAll(
            /^(\d+) \w+ of (\d+) bytes (?:to|from) lane (\d+): (\d+) clocks$/gm,
          ))
            figures.push([
              ...['BEAT_BYTES', bursts, 'MOST_BYTES'].map((name) => Number(shape[name])),
              ...counts.map(Number),
            ]);
        }
      },
    );

    it('keeps the maximum number of bursts in flight: figures', async (context) => {
      requireTool('verilator', context);
      expect(figures).toHaveLength(4 * shapes.length);
      for (const [beatBytes, outstanding, most, pieces, bytes, lane, spent] of figures) {
        // The beats, plus one if bytes are shifted; or the host's latency divided by the bursts in flight.
        const beats = bytes! / beatBytes! + Number(lane !== 0);
        const each = Math.ceil(bytes! / Math.min(most!, 512));
        const least = Math.max(
          beats,
          (each * (200 + (passes * Math.min(most!, 512, bytes!)) / beatBytes! + 12)) / outstanding!,
        );
        expect(spent! / pieces!).toBeLessThan(1.1 * least + 300 / pieces!);
      }
      const columns = [
        'BEAT_BYTES',
        bursts,
        'MOST_BYTES',
        'pieces',
        'bytes of each',
        `${way} lane`,
        'clocks',
      ];
      await expectFigures(block, columns, figures);
    });
  });
}
