import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { root, rtlSources } from './blocks.ts';
import { expectFigures } from './figures.ts';
import { holds, type Proof } from './proof.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'hardware_linked_list_queue';
const patient = { timeout: 1_200_000 };

const odd: Shape = {
  ENTRIES: 13,
  LISTS: 8,
  UNDERLYING_FUNCTIONS: 3,
  CONTENT_ADDRESSED: true,
  READY_ON_PUSH: false,
};
const lanes: Shape = {
  ENTRIES: 24,
  LISTS: 16,
  UNDERLYING_FUNCTIONS: 8,
  CONTENT_ADDRESSED: false,
  READY_ON_PUSH: true,
};
const least: Shape = {
  ENTRIES: 1,
  LISTS: 1,
  UNDERLYING_FUNCTIONS: 1,
  CONTENT_ADDRESSED: true,
  READY_ON_PUSH: false,
};

describe('hardware_linked_list_queue in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    const large = { ENTRIES: 256, LISTS: 1024 };
    const some = { LISTS: 5, CONTENT_ADDRESSED: false, UNIT_WIDTH: 70 };
    for (const shape of [odd, lanes, least, large, some, {}]) expect(lint(verilator, block, shape)).toBe('');
  });

  it.for([
    { name: 'content addressed', shape: odd, clocks: 60_000, stream: true },
    { name: 'direct, ready on push', shape: lanes, clocks: 20_000, stream: true },
    { name: 'one entry', shape: least, clocks: 20_000, stream: false },
  ])('matches the device model: $name; figures', patient, async ({ shape, clocks, stream }, context) => {
    const bench = buildBench(requireTool('verilator', context), block, shape);
    for (const seed of [1, 2, 3]) {
      const { output, ok } = bench.run(seed, clocks);
      expect(ok, output).toBe(true);
      if (!stream) continue;
      const rows = [
        ...output.matchAll(/^(\d+) pushes and (\d+) pops in (\d+) clocks on end( on one list)?$/gm),
      ];
      await expectFigures(
        block,
        ['lists', 'pushes', 'pops', 'clocks'],
        rows.map(([, pushes, pops, of, one]) => [one === undefined ? 3 : 1, pushes!, pops!, of!]),
      );
      // Every result that is possible with this shape.
      const counts = /results (.*)$/m.exec(output)![1]!.split(' ').map(Number);
      const impossible = shape === lanes ? ['unknown list'] : [];
      const names =
        'ok,full,no entry credit,no list identifier,list full,closed,unknown list,empty,not ready,corrupted,ready';
      names.split(',').forEach((name, result) => {
        if (!impossible.includes(name)) expect(counts[result], name).toBeGreaterThan(0);
      });
    }
  });

  it.for(['push_with_last_removal_lost', 'unready_head_leaves'])(
    'fails its bench with the fault %s',
    patient,
    (fault, context) => {
      const bench = buildBench(requireTool('verilator', context), block, odd, fault);
      const { output, ok } = bench.run(1, 20_000);
      expect(ok).toBe(false);
      expect(output).toMatch(/^seed 1, clock \d+: .*: RTL \w+, model \w+$/m);
    },
  );
});

describe('proofs of hardware_linked_list_queue', () => {
  const queue: Proof = {
    sources: [
      ...rtlSources(block)
        .filter((source) => !source.includes('secded'))
        .map((source) => source.replace('rtl/lists/data_memory.sv', 'formal/data_memory.sv')),
      `${root}fpga/formal/linked_list_queue_ports.sv`,
    ],
    top: 'linked_list_queue_ports',
    parameters: { ENTRIES: 2, LISTS: 2 },
    gates: true,
  };
  const clocks = 18;

  it(
    'each pushed entry leaves once, in order, when it is ready, and each push is accepted',
    patient,
    (context) => {
      expect(holds(queue, 'from reset', clocks, context)).toBe(true);
    },
  );

  it.for(['push_with_last_removal_lost', 'first_not_seen', 'unready_head_leaves', 'does_nothing'])(
    'a fault fails the proof: %s',
    patient,
    (mutant, context) => {
      expect(holds(queue, 'from reset', clocks, context, mutant)).toBe(false);
    },
  );

  const secded: Proof = {
    sources: [
      ...rtlSources(block).filter((source) => /secded|linked_list_queue_pkg/.test(source)),
      `${root}fpga/formal/secded_formal.sv`,
    ],
    top: 'secded_formal',
    gates: true,
  };

  it('one flipped bit of any data is corrected, and two are detected', patient, (context) => {
    expect(holds(secded, 'from reset', 0, context)).toBe(true);
    expect(holds(secded, 'from reset', 0, context, 'double_bit_error_missed')).toBe(false);
  });
});
