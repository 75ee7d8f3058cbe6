import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { expectFigures } from './figures.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'receive';
const patient = { timeout: 600_000 };
// Few queue pairs and entries, so that packets wait for room; and full size.
const shapes: readonly Shape[] = [
  { CONTEXTS: 8, UNDERLYING_FUNCTIONS: 2, BUFFERS: 64, ENTRIES: 24, RECORD_READERS: 1 },
  { CONTEXTS: 256, UNDERLYING_FUNCTIONS: 8, BUFFERS: 128, ENTRIES: 256, RECORD_READERS: 3 },
];
const seeds = [1, 2, 3, 4];
const clocks = 100_000;

/** The counts of the bench, in its order: the minimum of each over all seeds together. */
const counted: Readonly<Record<string, number>> = {
  SEND: 2000,
  'RDMA WRITE': 1000,
  'RDMA READ': 100,
  atomic: 200,
  acknowledged: 300,
  refused: 1000,
  flushed: 20,
  dropped: 4000,
  lost: 1000, // Of an unreliable service.
  RNR: 80,
  'out of sequence': 80,
  invalid: 800,
  kept: 60, // Uses the receive work request of a message whose end was lost.
  passed: 4, // A failed queue pair took it from a shared queue.
  exposed: 500, // The addresses of a datagram.
  searched: 200, // Duplicate READs and atomics,
  repeated: 20, // and the number of them answered again.
  wanted: 4000,
  established: 60,
  ignored: 3, // Flushes of queue pairs that are not in ERR.
  'pins refused': 3,
  resets: 5,
};

describe('receive in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    const least = { CONTEXTS: 8, UNDERLYING_FUNCTIONS: 1, BUFFERS: 8, ENTRIES: 24, RECORD_READERS: 1 };
    for (const shape of [...shapes, least, {}]) expect(lint(verilator, block, shape)).toBe('');
  });

  const figures: (string | number)[][] = [];

  it.for(shapes)(
    'decides on packets of every opcode like the device model: $CONTEXTS queue pairs, $BUFFERS buffers, $ENTRIES entries',
    patient,
    (shape, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      const sums = new Map<string, number>();
      let most = 0;
      for (const seed of seeds) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [opcodes, counts] = /^\d+ packets in \d+ clocks, (\d+) opcodes: (.*)$/m.exec(output)!.slice(1);
        most = Math.max(most, Number(opcodes));
        for (const [, count, name] of counts!.matchAll(/(\d+) ([A-Za-z ]+)/g))
          sums.set(name!, (sums.get(name!) ?? 0) + Number(count));
        if (seed !== 1) continue;
        for (const [, packets, takes, queuePairs, spent] of output.matchAll(
          /^(\d+) packets (with|without) a receive work request to (\d+) queue pairs: (\d+) clocks$/gm,
        ))
          figures.push([shape['CONTEXTS'] as number, takes!, queuePairs!, packets!, Number(spent)]);
      }
      expect(most).toBe(46); // All opcodes of the three services.
      expect([...sums.keys()]).toEqual(Object.keys(counted));
      for (const [name, least] of Object.entries(counted))
        expect(sums.get(name), name).toBeGreaterThanOrEqual(least);
    },
  );

  it('accepts a SEND to one queue pair every 40 clocks, packets to many every few: figures', async (context) => {
    requireTool('verilator', context);
    expect(figures).toHaveLength(4 * shapes.length);
    for (const [, takes, queuePairs, packets, spent] of figures) {
      const most = queuePairs === '1' ? (takes === 'with' ? 40 : 16) : takes === 'with' ? 7 : 4;
      expect(spent).toBeLessThan(Number(packets) * most);
    }
    await expectFigures(
      block,
      ['CONTEXTS', 'receive work request', 'queue pairs', 'packets', 'clocks'],
      figures,
    );
  });
});
