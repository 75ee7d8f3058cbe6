import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'packet_builder';
const patient = { timeout: 600_000 };
// As many lists as queue pairs need, and fewer, so that packets wait for one; as many entries as packets, and
// fewer.
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 64, ENTRIES: 64, LISTS: 64, BUFFERS: 32 },
  { BEAT_BYTES: 32, ENTRIES: 24, LISTS: 8, BUFFERS: 24 },
  { BEAT_BYTES: 8, ENTRIES: 16, LISTS: 16, BUFFERS: 16 },
];
// Even seeds are of InfiniBand, others of Ethernet; of those that 3 divides the link gives the UDP source port.
const seeds = [1, 2, 3, 4, 5, 6];
const clocks = 60_000;
const opcodes = 31; // of requests of RC, UC and UD

describe('packet_builder in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [...shapes, { BEAT_BYTES: 16 }, { BEAT_BYTES: 64 }])
      expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: (string | number)[][] = [];

  it.for(shapes)(
    'matches the device model: $BEAT_BYTES B per beat, $ENTRIES entries, $LISTS lists, $BUFFERS PCBs',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      const total: number[] = [];
      const most: [number, number] = [0, 0];
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const counts =
          /^(\d+) commands in \d+ clocks: (\d+) sent, (\d+) failed; (\d+) packets of (\d+) opcodes in (\d+) framings, (\d+) with a pad, (\d+) after others; (\d+) resumed, (\d+) stale, (\d+) without a queue pair, (\d+) rewinds, (\d+) flipped bits, (\d+) packets lost$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        for (const [at, count] of counts.entries()) total[at] = (total[at] ?? 0) + count;
        most[0] = Math.max(most[0], counts[4]!);
        most[1] = Math.max(most[1], counts[5]!);
        if (seed !== 1) continue;
        for (const [, what, packets, bytes, beats, spent, first] of output.matchAll(
          /^(.+): (\d+) packets of (\d+) bytes, (\d+) beats in (\d+) clocks, the first after (\d+)$/gm,
        ))
          figures.push([
            shape['BEAT_BYTES'] as number,
            what!,
            ...[packets, bytes, beats, spent, first].map(Number),
          ]);
      }
      expect(most).toEqual([opcodes, 4]);
      const [, sent, failed, packets, , , padded, waited, resumed, stale, absent, rewinds, flipped, lost] =
        total;
      for (const [count, least] of [
        [sent, 1000],
        [failed, 100],
        [packets, 1200],
        [padded, 500],
        [waited, 1000],
        [resumed, 100],
        [stale, 500],
        [absent, 50],
        [rewinds, 500],
        [flipped, 300],
        [lost, 40],
      ] as const)
        expect(count).toBeGreaterThan(least);
    },
  );

  it('sends a beat in each clock: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(6 * shapes.length);
    for (const [width, what, packets, , beats, spent] of figures as [
      number,
      string,
      number,
      number,
      number,
      number,
    ][]) {
      if (what.endsWith('long messages')) expect(beats / spent).toBeGreaterThan(0.99);
      // Of 64 B beats: short messages.
      if (width === 64 && packets === 200) expect(spent / packets).toBeLessThan(28);
    }
    await expectFigures(
      block,
      ['BEAT_BYTES', 'what', 'packets', 'bytes of payload', 'beats', 'clocks', 'clocks to the first'],
      figures,
    );
  });
});
