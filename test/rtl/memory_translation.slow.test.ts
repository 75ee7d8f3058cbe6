import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'memory_translation';
const patient = { timeout: 600_000 };
// Small caches, so that accesses evict each other; and many accesses in flight.
const shapes: readonly Shape[] = [
  { KEYS: 64, PAGE_TABLE_ENTRIES: 2048, SETS: 4, SLOTS: 8, UNITS: 16, BEAT_BYTES: 64 },
  { KEYS: 256, PAGE_TABLE_ENTRIES: 2048, SETS: 16, SLOTS: 16, UNITS: 64, BEAT_BYTES: 8 },
];
const seeds = [1, 2, 3];
const clocks = 100_000;

describe('memory_translation in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [...shapes, { BEAT_BYTES: 8 }, { BEAT_BYTES: 64 }])
      expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: (string | number)[][] = [];

  it.for(shapes)(
    'matches the device model: $KEYS keys, $SETS sets, $SLOTS accesses',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      const total: number[] = [];
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const counts =
          /^(\d+) accesses in \d+ clocks, (\d+) bursts, (\d+) refused, (\d+) of unknown keys, (\d+) of other domains, (\d+) without a right, (\d+) out of bounds, (\d+) unreachable, (\d+) changes, (\d+) reads$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        for (const [at, count] of counts.entries()) total[at] = (total[at] ?? 0) + count;
        if (seed !== 1) continue;
        for (const [, what, accesses, spent] of output.matchAll(/^(.+): (\d+) accesses in (\d+) clocks$/gm))
          figures.push([shape['SLOTS'] as number, what!, Number(accesses), Number(spent)]);
      }
      const [accesses, bursts, refused, unknown, others, rights, bounds, unreachable, changes, reads] = total;
      expect(accesses! - refused!).toBeGreaterThan(20_000);
      expect(bursts).toBeGreaterThan(25_000);
      for (const [count, least] of [
        [unknown, 500],
        [others, 100],
        [rights, 100],
        [bounds, 100],
        [unreachable, 300],
        [changes, 300],
        [reads, 5000],
      ] as const)
        expect(count).toBeGreaterThan(least);
    },
  );

  it('lets hits pass misses of other queue pairs: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(7 * shapes.length);
    for (const { SLOTS } of shapes as readonly { SLOTS: number }[]) {
      const spent = new Map(
        figures.filter(([slots]) => slots === SLOTS).map(([, what, , took]) => [what, took as number]),
      );
      const alone = spent.get('64 B, five queue pairs')!;
      expect(spent.get('64 B, five queue pairs beside one with misses')).toBeLessThan(alone + 16);
      expect(spent.get('4 KiB in two pages, one queue pair')).toBeLessThan(64 * 1000); // beats of 64 B
    }
    await expectFigures(block, ['SLOTS', 'what', 'accesses', 'clocks'], figures);
  });
});
