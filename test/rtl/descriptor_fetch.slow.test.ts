import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'descriptor_fetch';
const patient = { timeout: 600_000 };
// Many queue pairs on few shared queues with the narrowest beat; and full size.
const shapes: readonly Shape[] = [
  { CONTEXTS: 16, SHARED: 8, BEAT_BYTES: 32 },
  { CONTEXTS: 32, SHARED: 4, BEAT_BYTES: 8 },
  { CONTEXTS: 256, SHARED: 256, BEAT_BYTES: 64 },
];
const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
const clocks = 100_000;

/** The counts of the bench, in its order: the minimum of each over all seeds together. */
const counted: Readonly<Record<string, number>> = {
  taken: 5000,
  none: 3000,
  shared: 800,
  waited: 40, // Questions for their turn at a shared queue,
  'after a wait': 30, // and those of them that took one.
  read: 3000,
  overtaken: 400, // Reads whose answer came before an older one's.
  unreadable: 4,
  failed: 100,
  'shared errors': 8,
  limits: 30,
  looks: 200,
  'stale looks': 15, // The limit was set again meanwhile.
  discarded: 10, // Reads for a queue pair that has failed since.
  doorbells: 8000,
  'put off': 300, // Until the question of their queue pair was answered,
  again: 200, // and looked at then.
  ring: 1500,
  told: 1500,
  unknown: 1000,
  destroyed: 200,
  resized: 60,
  ended: 40, // Shared queues.
  'bad objects': 100,
  'bad states': 30,
  wrapped: 200, // Past the highest sequence number.
};
/** At full size two events seldom meet at one of so many queue pairs. */
const countedAtFullSize = { ...counted, discarded: 5, 'put off': 40, again: 40, ended: 15 };

describe('descriptor_fetch in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    const least = { CONTEXTS: 8, SHARED: 2, BEAT_BYTES: 16 };
    for (const shape of [...shapes, least, {}]) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: (string | number)[][] = [];

  it.for(shapes)(
    'fetches like the device model: $CONTEXTS queue pairs, $SHARED shared receive queues, $BEAT_BYTES B per beat',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      const sums = new Map<string, number>();
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [, counts] = /^\d+ questions in \d+ clocks: (.*)$/m.exec(output)!;
        for (const [, count, name] of counts!.matchAll(/(\d+) ([A-Za-z ]+)/g))
          sums.set(name!, (sums.get(name!) ?? 0) + Number(count));
        if (seed !== 1) continue;
        for (const [, questions, queuePairs, spent] of output.matchAll(
          /^(\d+) questions of (\d+) queue pairs in (\d+) clocks$/gm,
        ))
          figures.push([shape['BEAT_BYTES'] as number, queuePairs!, questions!, Number(spent)]);
      }
      expect([...sums.keys()]).toEqual(Object.keys(counted));
      const minima = shape['CONTEXTS'] === 256 ? countedAtFullSize : counted;
      for (const [name, least] of Object.entries(minima))
        expect(sums.get(name), name).toBeGreaterThanOrEqual(least);
    },
  );

  it('answers a question of several queue pairs every 40 clocks at most: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(2 * shapes.length);
    for (const [, queuePairs, questions, spent] of figures)
      if (queuePairs !== '1') expect(spent).toBeLessThan(40 * Number(questions));
    await expectFigures(block, ['BEAT_BYTES', 'queue pairs', 'questions', 'clocks'], figures);
  });
});
