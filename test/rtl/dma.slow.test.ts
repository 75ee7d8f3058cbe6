import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'dma';
const patient = { timeout: 600_000 };
// As many lists as queue pairs need, and fewer, so that commands wait for one; few commands and reads in
// flight.
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 64, ENTRIES: 32, LISTS: 64, BUFFERS: 32, TAGS: 32 },
  { BEAT_BYTES: 32, ENTRIES: 24, LISTS: 8, BUFFERS: 24, TAGS: 16 },
  { BEAT_BYTES: 8, ENTRIES: 16, LISTS: 16, BUFFERS: 16, TAGS: 8 },
];
const seeds = [1, 2, 3, 4];
const clocks = 60_000;

describe('dma in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [...shapes, { BEAT_BYTES: 16 }, { BEAT_BYTES: 64 }])
      expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: (string | number)[][] = [];

  it.for(shapes)(
    'matches the device model for any host timing: $BEAT_BYTES B per beat, $BUFFERS PCBs, $LISTS lists',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      const total: number[] = [];
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const counts =
          /^(\d+) commands in \d+ clocks, (\d+) packets, (\d+) ended without one: (\d+) of protection, (\d+) flushed, (\d+) of windows, (\d+) came failed, (\d+) abandoned; (\d+) faults, \d+ accesses, (\d+) dropped, (\d+) beats out of turn$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        for (const [at, count] of counts.entries()) total[at] = (total[at] ?? 0) + count;
        if (seed !== 1) continue;
        for (const [, what, packets, bytes, spent] of output.matchAll(
          /^(.+): (\d+) packets of (\d+) bytes in (\d+) clocks$/gm,
        ))
          figures.push([shape['BEAT_BYTES'] as number, what!, Number(packets), Number(bytes), Number(spent)]);
      }
      const [commands, packets, , protection, flushed, windows, failed, abandoned, faults, dropped, late] =
        total;
      for (const [count, least] of [
        [commands, 2000],
        [packets, 3000],
        [protection, 100],
        [flushed, 100],
        [windows, 20],
        [failed, 5],
        [abandoned, 50],
        [faults, 5],
        [dropped, 20],
        [late, 5000],
      ] as const)
        expect(count).toBeGreaterThan(least);
    },
  );

  it('keeps the beats of packets close behind each other: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(9 * shapes.length);
    const of = (beatBytes: number, what: string): number => {
      const [, , packets, bytes, spent] = figures.find((row) => row[0] === beatBytes && row[1] === what) as [
        number,
        string,
        number,
        number,
        number,
      ];
      return bytes >= 4096 ? (packets * bytes) / beatBytes / spent : spent / packets;
    };
    // For 64 B beats: beats per clock of long messages; clocks of a short one. A waiting queue pair costs the
    // others little.
    expect(of(64, 'one queue pair, messages of 120 packets')).toBeGreaterThan(0.9);
    expect(of(64, 'five queue pairs, messages of 15 packets')).toBeGreaterThan(0.9);
    expect(of(64, 'ten queue pairs, messages of a packet')).toBeLessThan(40);
    expect(of(64, 'ten queue pairs, inline messages')).toBeLessThan(40);
    expect(of(64, 'nine queue pairs, messages of a packet, beside one that waits')).toBeLessThan(40);
    await expectFigures(block, ['BEAT_BYTES', 'what', 'packets', 'bytes', 'clocks'], figures);
  });
});
