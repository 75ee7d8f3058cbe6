import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'packet_memory';
const patient = { timeout: 600_000 };
// The buffers of outgoing and of incoming packets.
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 8, USES: 2, BUFFERS_OF_USE: 64 },
  { BEAT_BYTES: 16, USES: 1, BUFFERS_OF_USE: 128 },
  { BEAT_BYTES: 32, USES: 2, BUFFERS_OF_USE: 64 },
  { BEAT_BYTES: 64, USES: 1, BUFFERS_OF_USE: 128 },
];
const seeds = [1, 2, 3];
const clocks = 20_000;

describe('packet_memory in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
  });

  it.for(shapes)(
    'matches the device model: $BEAT_BYTES B per beat, $USES uses',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [taken, refused, compared] =
          /^(\d+) buffers taken in \d+ clocks, (\d+) where a use had none, (\d+) beats compared$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        expect(taken).toBeGreaterThan(5000);
        expect(refused).toBeGreaterThan(500);
        expect(compared).toBeGreaterThan(2000);
      }
    },
  );
});
