import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'packet_receiver';
const patient = { timeout: 600_000 };
// Full size; and few buffers, so that the link must wait for them.
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 64, BUFFERS: 128 },
  { BEAT_BYTES: 32, BUFFERS: 16 },
  { BEAT_BYTES: 16, BUFFERS: 8 },
  { BEAT_BYTES: 8, BUFFERS: 4 },
];
const seeds = [1, 2, 3];
const clocks = 40_000;

describe('packet_receiver in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
  });

  it.for(shapes)(
    'forwards the same packets as the device model, and counts the dropped ones: $BEAT_BYTES B per beat, $BUFFERS buffers',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      let waitedForBuffers = 0;
      let mostReasons = 0;
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [, wentOn, notifications, reasons, most, waited, latest] =
          /^(\d+) packets in \d+ clocks, (\d+) went on, (\d+) congestion notifications, (\d+) reasons, at most (\d+) in buffers, the link waited (\d+) clocks; a packet alone after (\d+) clocks$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        expect(wentOn).toBeGreaterThan(100);
        expect(notifications).toBeGreaterThan(0);
        if (most === shape['BUFFERS']) waitedForBuffers += waited!;
        mostReasons = Math.max(mostReasons, reasons!);
        // The clocks of packet_parse, and three until the packet is offered.
        expect(latest).toBe(15 + Math.log2(shape['BEAT_BYTES'] as number));
      }
      expect(waitedForBuffers).toBeGreaterThan(100);
      // No reason, and all reasons except VCRC and those of the destination.
      expect(mostReasons).toBe(18);
    },
  );
});
