import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'host_memory';
const patient = { timeout: 600_000 };
const small = { UNDERLYING_FUNCTIONS: 2, VIRTUAL_COLLECT_BUFFERS: 8, QUEUE_PAIRS: 32 };
/** Wide beats with few accesses in flight, so that the limit is often reached; and the reverse. */
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 64, OUTSTANDING: 4, ...small },
  { BEAT_BYTES: 16, OUTSTANDING: 64, ...small },
];
/** Clocks from a burst to its response. */
const latencies = [0, 50, 100, 200, 400];

describe('host_memory in SystemVerilog', () => {
  it('passes lint without warnings at every beat width', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const BEAT_BYTES of [8, 16, 32, 64])
      expect(lint(verilator, block, { ...small, BEAT_BYTES })).toBe('');
  });

  const figures: number[][] = [];

  it.for(shapes)(
    'accesses host memory like the device model for any answers of the host: $BEAT_BYTES B per beat, $OUTSTANDING accesses',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      for (const seed of [1, 2, 3]) {
        const { output, ok } = bench.run(seed, 3000, ...latencies);
        expect(ok, output).toBe(true);
        const [, faults, turnedOut, most] =
          /^3000 steps, \d+ accesses, (\d+) faults, (\d+) turned out, at most (\d+) under way/
            .exec(output)!
            .map(Number);
        expect(Math.min(faults!, turnedOut!)).toBeGreaterThan(0);
        expect(most).toBeGreaterThan(3);
        if (seed !== 1) continue;
        for (const [, latency, records, clocks] of output.matchAll(
          /latency (\d+): (\d+) records in (\d+) clocks/g,
        ))
          figures.push([
            ...['BEAT_BYTES', 'OUTSTANDING'].map((name) => Number(shape[name])),
            Number(latency),
            Number(records),
            Number(clocks),
          ]);
      }
    },
  );

  it('keeps the maximum number of records in flight: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(shapes.length * latencies.length);
    for (const [beatBytes, outstanding, latency, records, clocks] of figures) {
      // Bus cycles plus one clock between requests, or the host's latency; plus the reads of the host's head.
      const least = Math.max(64 / beatBytes!, 2, (latency! + 12) / outstanding!);
      expect(clocks! / records!).toBeLessThan(1.1 * least + (4 * (latency! + 20)) / records!);
    }
    const columns = ['BEAT_BYTES', 'OUTSTANDING', 'clocks to an answer', 'kick records', 'clocks'];
    await expectFigures(block, columns, figures);
  });
});
