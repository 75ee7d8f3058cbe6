import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'collect_buffer';
const patient = { timeout: 600_000 };

/** Few VCBs and fewer PCBs, so that commands collide and send queue mode is common. */
const small = {
  UNDERLYING_FUNCTIONS: 4,
  VIRTUAL_COLLECT_BUFFERS: 16,
  PHYSICAL_COLLECT_BUFFERS: 6,
  DEDICATED_PHYSICAL_COLLECT_BUFFERS: 4,
  MANAGEMENT_PHYSICAL_COLLECT_BUFFERS: 2,
};
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 8, ...small },
  { BEAT_BYTES: 16, ...small },
  { BEAT_BYTES: 32, ...small },
  { BEAT_BYTES: 64, ...small },
];

/** The refusals that a write can cause, by their number in the specification. */
const refusals = {
  lengthOverMaximum: 1,
  segmentBeyondLength: 2,
  writeBeyondCommand: 3,
  partialDoubleWord: 4,
  unknownVersion: 5,
  unknownQueuePair: 6,
  wrongQualityOfServiceLevel: 7,
  reservedNotZero: 8,
  checksumMismatch: 9,
  segment0Differs: 18,
};

/** Enough PCBs for every command of a stream. */
const wide = { ...small, PHYSICAL_COLLECT_BUFFERS: 40 };

describe('collect_buffer in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [...shapes, {}]) expect(lint(verilator, block, shape)).toBe('');
  });

  // The bench runs the patent's table first, then streams of commands; even seeds use the direct variant.
  it.for(shapes)('matches the device model: $BEAT_BYTES B per beat', patient, (shape, context) => {
    const bench = buildBench(requireTool('verilator', context), block, shape);
    for (const seed of [1, 2, 3]) {
      const { output, ok } = bench.run(seed, 60_000);
      expect(ok, output).toBe(true);
      const counts = /refusals (.*)$/m.exec(output)![1]!.split(' ').map(Number);
      for (const [name, number] of Object.entries(refusals)) expect(counts[number], name).toBeGreaterThan(0);
      const [, kicks, sendQueueMode] = /(\d+) kicks, (\d+) in send queue mode/.exec(output)!.map(Number);
      expect(Math.min(kicks!, sendQueueMode!)).toBeGreaterThan(50);
      const [, management, halfWritten, , handedOver] =
        /management kicks (\d+), half written (\d+), fetched (\d+), handed over (\d+)/
          .exec(output)!
          .map(Number);
      expect(Math.min(management!, halfWritten!, handedOver!)).toBeGreaterThan(3);
    }
  });

  it('matches it with a wrong bit in the stored owner of each PCB', patient, (context) => {
    const upset = { BEAT_BYTES: 64, ...small, UPSET: true };
    const { output, ok } = buildBench(requireTool('verilator', context), block, upset).run(1, 60_000);
    expect(ok, output).toBe(true);
  });

  // Fewer pages than a reset sweeps.
  it('matches it with two VCBs', patient, (context) => {
    const few = {
      ...small,
      UNDERLYING_FUNCTIONS: 2,
      VIRTUAL_COLLECT_BUFFERS: 2,
      PHYSICAL_COLLECT_BUFFERS: 2,
    };
    const { output, ok } = buildBench(requireTool('verilator', context), block, {
      BEAT_BYTES: 64,
      ...few,
    }).run(1, 20_000);
    expect(ok, output).toBe(true);
  });

  it(
    'accepts a beat per clock, and kicks within 7 clocks, with or without checksum: figures',
    patient,
    async (context) => {
      const verilator = requireTool('verilator', context);
      const figures = [8, 16, 32, 64].flatMap((BEAT_BYTES) => {
        const { output, ok } = buildBench(verilator, block, { BEAT_BYTES, ...wide }).run(1, 2000);
        expect(ok, output).toBe(true);
        // Commands of other VCBs wait for two clocks, plus the one in which the checksum is entered.
        const [, ofIt, ofOthers] = /beside a sum made anew: (\d+) clocks .* (\d+) at most/
          .exec(output)!
          .map(Number);
        expect(ofIt).toBeGreaterThan(20);
        expect(ofOthers).toBeLessThanOrEqual(7 + 2 + 1);
        return [
          ...output.matchAll(
            /stream to (.*): (\d+) beats in (\d+) clocks, (\d+) kicks, (\d+) to (\d+) clocks/g,
          ),
        ].map(([, name, ...numbers]) => [BEAT_BYTES, name!, ...numbers.map(Number)] as const);
      });
      expect(figures).toHaveLength(16);
      for (const [beatBytes, name, beats, clocks, kicks, , most] of figures) {
        expect(kicks).toBe((Number(beats) * beatBytes) / 64);
        // A VCB is busy until the checksum of its command is compared; its next command waits.
        if (name === 'one VCB, with checksums') continue;
        expect(clocks).toBe(beats);
        expect(most).toBeLessThanOrEqual(7);
      }
      const columns = [
        'BEAT_BYTES',
        'stream to',
        'beats',
        'clocks',
        'kicks',
        'clocks to a kick: least',
        'most',
      ];
      await expectFigures(block, columns, figures);
    },
  );
});
