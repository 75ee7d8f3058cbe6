import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'queue_pairs';
const patient = { timeout: 600_000 };
// Few contexts and buffers, so that both are reused often; and full size.
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 32, CONTEXTS: 8, BUFFERS: 8 },
  { BEAT_BYTES: 64, CONTEXTS: 256, BUFFERS: 128 },
];
const seeds = [1, 2, 3]; // Ethernet, InfiniBand, Ethernet again.
const clocks = 60_000;

describe('queue_pairs in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: number[][] = [];

  it.for(shapes)(
    'passes the packets that the device model passes, while registers create and destroy queue pairs: $CONTEXTS contexts',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      const total = { refused: 0, quiet: 0 };
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [packets, passed, certain, reasons, commands, destroyed, refused, quiet, failures, contexts] =
          /^(\d+) packets in \d+ clocks, (\d+) passed, (\d+) with one verdict, (\d+) reasons, (\d+) commands, (\d+) queue pairs destroyed, (\d+) not yet, (\d+) quiet, (\d+) failures, (\d+) contexts read$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        expect(packets).toBeGreaterThan(4000);
        expect(passed).toBeGreaterThan(500);
        // During the others, a queue pair or a table changed.
        expect(certain).toBeGreaterThan(packets! * 0.7);
        expect(reasons).toBe(7); // All reasons that concern the destination.
        expect(commands).toBeGreaterThan(400);
        expect(destroyed).toBeGreaterThan(15);
        expect(failures).toBeGreaterThan(1);
        expect(contexts).toBeGreaterThan(1000);
        total.refused += refused!;
        total.quiet += quiet!;
        const [stream, spent, latest] = /^(\d+) packets in (\d+) clocks, one alone after (\d+) clocks$/m
          .exec(output)!
          .slice(1)
          .map(Number);
        if (seed !== 1) continue;
        figures.push([shape['BEAT_BYTES'] as number, shape['CONTEXTS'] as number, stream!, spent!, latest!]);
      }
      // Queue pairs that became quiet late, because a packet referred to them.
      expect(total.refused).toBeGreaterThan(0);
      expect(total.quiet).toBeGreaterThan(5);
    },
  );

  it('takes packets without a pause: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(shapes.length);
    await expectFigures(block, ['BEAT_BYTES', 'CONTEXTS', 'packets', 'clocks', 'one alone after'], figures);
  });
});
