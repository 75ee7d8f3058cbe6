import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'completion_queue';
const patient = { timeout: 600_000 };
// Many entries in flight, and few, so that entries wait for each other.
const shapes: readonly Shape[] = [
  { BEAT_BYTES: 64, QUEUES: 16, ENTRIES: 64 },
  { BEAT_BYTES: 32, QUEUES: 64, ENTRIES: 16 },
];
const seeds = [1, 2, 3];
const clocks = 40_000;

describe('completion_queue in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [...shapes, { BEAT_BYTES: 64 }, { BEAT_BYTES: 8, QUEUES: 8, ENTRIES: 16 }])
      expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: number[][] = [];

  it.for(shapes)(
    'matches the device model: $BEAT_BYTES B per beat, $QUEUES queues, $ENTRIES entries',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      const total: number[] = [];
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const counts =
          /^(\d+) entries in \d+ clocks, (\d+) dropped, (\d+) waited, (\d+) armings, (\d+) events, (\d+) moderated, (\d+) failures, (\d+) commands, (\d+) not done, (\d+) in use$/m
            .exec(output)!
            .slice(1)
            .map(Number);
        for (const [at, count] of counts.entries()) total[at] = (total[at] ?? 0) + count;
        if (seed !== 1) continue;
        for (const [, entries, queues, spent, first] of output.matchAll(
          /^(\d+) entries to (\d+) queues: (\d+) clocks, the first after (\d+)$/gm,
        ))
          figures.push([shape['BEAT_BYTES'], shape['ENTRIES'], queues, entries, spent, first].map(Number));
      }
      const [entries, dropped, waited, armings, events, moderated, failures, commands, notDone, inUse] =
        total;
      expect(entries! - dropped!).toBeGreaterThan(1000);
      expect(dropped).toBeGreaterThan(500);
      expect(waited).toBeGreaterThan(100);
      expect(armings).toBeGreaterThan(500);
      expect(events).toBeGreaterThan(100);
      expect(moderated).toBeGreaterThan(10);
      expect(failures).toBeGreaterThan(30);
      expect(commands! - notDone!).toBeGreaterThan(100);
      expect(notDone).toBeGreaterThan(20);
      expect(inUse).toBeGreaterThan(2);
    },
  );

  it('writes an entry every few clocks: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(2 * shapes.length);
    for (const [, , , , , first] of figures) expect(first).toBeLessThan(32);
    await expectFigures(
      block,
      ['BEAT_BYTES', 'ENTRIES', 'queues', 'entries', 'clocks', 'clocks to the first write'],
      figures,
    );
  });
});
