import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'queue_pair_fetch';
const patient = { timeout: 600_000 };
// Few places, so that several queue pairs compete for one; the narrowest beat; and full size.
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 32, UNDERLYING_FUNCTIONS: 4, CONTEXTS: 8, BUFFERS: 16, ENTRIES: 12, HANDLES: 16 },
  { BEAT_BYTES: 8, UNDERLYING_FUNCTIONS: 3, CONTEXTS: 16, BUFFERS: 12, ENTRIES: 12, HANDLES: 8 },
  { BEAT_BYTES: 64, UNDERLYING_FUNCTIONS: 8, CONTEXTS: 256, BUFFERS: 72, ENTRIES: 192, HANDLES: 1024 },
];
const seeds = [1, 2, 3, 4];
const clocks = 80_000;

describe('queue_pair_fetch in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of shapes) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: number[][] = [];

  it.for(shapes)(
    'decides like the device model: $BEAT_BYTES B per beat, $CONTEXTS queue pairs',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      const held = Array<number>(8).fill(0);
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const found =
          /^(?<units>\d+) units in \d+ clocks, (?<notPinned>\d+) not pinned, (?<executed>\d+) executed, (?<flushed>\d+) flushed, (?<failed>\d+) failed, (?<handedBack>\d+) handed back, (?<stale>\d+) stale, (?<refused>\d+) refused, (?<rewound>\d+) rewound, (?<scheduled>\d+) scheduled, holds (?<holds>[\d ]+)$/m.exec(
            output,
          )!.groups!;
        const count = (name: string): number => Number(found[name]);
        expect(count('units')).toBeGreaterThan(3000);
        expect(count('executed')).toBeGreaterThan(900);
        expect(count('flushed')).toBeGreaterThan(100);
        expect(count('handedBack')).toBeGreaterThan(300);
        expect(count('scheduled')).toBeGreaterThan(200);
        for (const name of ['notPinned', 'failed', 'stale', 'refused', 'rewound'])
          expect(count(name), name).toBeGreaterThan(20);
        for (const [hold, times] of found['holds']!.split(' ').entries()) held[hold]! += Number(times);
        if (seed !== 1) continue;
        const streams = [...output.matchAll(/^(\d+) commands of (\d+) queue pairs in (\d+) clocks$/gm)];
        expect(streams).toHaveLength(2);
        const alone = Number(/^one alone after (\d+) clocks$/m.exec(output)![1]);
        for (const [, commands, queuePairs, spent] of streams)
          figures.push([
            shape['BEAT_BYTES'] as number,
            Number(queuePairs),
            Number(commands),
            Number(spent),
            alone,
          ]);
      }
      // Fence, initiator depth, PSN window, RNR, local operation: all but end-to-end credits, which no queue
      // pair here uses.
      for (const hold of [1, 2, 3, 4, 6]) expect(held[hold], `hold ${hold}`).toBeGreaterThan(20);
      expect([held[0], held[5], held[7]]).toEqual([0, 0, 0]);
    },
  );

  it('decides on a command in few clocks: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(2 * shapes.length);
    const [, queuePairs, commands, spent] = figures.at(-1)!;
    expect(queuePairs).toBe(128);
    expect(spent).toBeLessThan(2.7 * commands!);
    await expectFigures(
      block,
      ['BEAT_BYTES', 'queue pairs', 'commands', 'clocks', 'one alone after'],
      figures,
    );
  });
});
