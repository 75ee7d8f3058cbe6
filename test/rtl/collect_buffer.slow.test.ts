import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { rtlSources } from './blocks.ts';
import { expectFigures } from './figures.ts';
import { holds, type Proof } from './proof.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'collect_buffer';
const patient = { timeout: 600_000 };

/** Few VCBs and fewer PCBs, so that commands meet and send queue mode is common. */
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

/** Refusals that a write can meet, by their number in the specification. */
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

/** Faults that can be built into the sources, by name; the proofs look for others. */
const faults = ['mask_ignored', 'checksum_ignored', 'other_function_vcb_accepted'];

describe('collect_buffer in SystemVerilog', () => {
  it('has no warning', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [...shapes, {}]) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: number[][] = [];

  // The bench goes through the patent's table first, and then takes a stream of commands; in the direct variant where the seed is even.
  it.for(shapes)(
    'does what the device model does, beat by beat: $BEAT_BYTES B',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      for (const seed of [1, 2, 3]) {
        const { output, ok } = bench.run(seed, 40_000);
        expect(ok, output).toBe(true);
        const counts = /refusals (.*)$/m.exec(output)![1]!.split(' ').map(Number);
        for (const [name, number] of Object.entries(refusals))
          expect(counts[number], name).toBeGreaterThan(0);
        const [, kicks, sendQueueMode] = /(\d+) kicks, (\d+) in send queue mode/.exec(output)!.map(Number);
        expect(Math.min(kicks!, sendQueueMode!)).toBeGreaterThan(50);
        const [, ...others] = /management kicks (\d+), half written (\d+), fetched (\d+), handed over (\d+)/
          .exec(output)!
          .map(Number);
        expect(Math.min(...others)).toBeGreaterThan(3);
        const [, latency] = /most clocks to a kick (\d+)/.exec(output)!.map(Number);
        expect(latency).toBeLessThanOrEqual(4);
        const [, ...stream] = /stream: (\d+) beats in (\d+) clocks, (\d+) kicks, (\d+) to (\d+) clocks/
          .exec(output)!
          .map(Number);
        if (seed === 1) figures.push([Number(shape['BEAT_BYTES']), ...stream]);
      }
    },
  );

  it('takes a beat a clock, and kicks within 4 clocks: figures', async (context) => {
    requireTool('verilator', context);
    for (const [, beats, clocks, , , most] of figures) {
      expect(clocks).toBe(beats);
      expect(most).toBeLessThanOrEqual(4);
    }
    const columns = ['BEAT_BYTES', 'beats', 'clocks', 'kicks', 'clocks to a kick: least', 'most'];
    await expectFigures(block, columns, figures);
  });

  it.for(faults)('is caught by the bench with a fault built in: %s', patient, (fault, context) => {
    const bench = buildBench(requireTool('verilator', context), block, shapes[0]!, fault);
    const { output, ok } = bench.run(1, 25_000);
    expect(ok).toBe(false);
    expect(output).toMatch(/RTL/);
  });
});

describe('proofs of collect_buffer', () => {
  const whole: Proof = {
    sources: rtlSources(block).map((source) =>
      source.replace(/rtl\/collect\/(command_memory|doorbell_checksum)\.sv$/, 'formal/$1.sv'),
    ),
    top: block,
    parameters: {
      BEAT_BYTES: 8,
      UNDERLYING_FUNCTIONS: 2,
      VIRTUAL_COLLECT_BUFFERS: 2,
      PHYSICAL_COLLECT_BUFFERS: 2,
      DEDICATED_PHYSICAL_COLLECT_BUFFERS: 2,
      MANAGEMENT_PHYSICAL_COLLECT_BUFFERS: 1,
    },
    bitwise: true,
  };

  it(
    'kicks if and only if every needed DWORD was written, and keeps owners of PCBs and VCBs apart',
    patient,
    (context) => {
      expect(holds(whole, 'from reset', 2, context)).toBe(true);
      expect(holds(whole, 'by induction', 1, context)).toBe(true);
    },
  );

  it.for(['kick_one_write_early', 'pcb_bound_twice', 'other_function_owned_buffer_taken'])(
    'fails with %s',
    patient,
    (mutant, context) => {
      expect(holds(whole, 'by induction', 1, context, mutant)).toBe(false);
    },
  );
});
