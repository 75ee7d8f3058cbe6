import { describe, expect, it } from 'vitest';

import { requireTool } from '../tools.ts';
import { root, rtlSources } from './blocks.ts';
import { expectFigures } from './figures.ts';
import { holds, type Proof } from './proof.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'hardware_linked_list_queue';
const patient = { timeout: 600_000 };

const odd: Shape = {
  ENTRIES: 13,
  LISTS: 5,
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
  it('has no warning', (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [odd, lanes, least, {}]) expect(lint(verilator, block, shape)).toBe('');
  });

  it.for([
    { name: 'content addressed', shape: odd, clocks: 60_000 },
    { name: 'direct, ready on push', shape: lanes, clocks: 20_000 },
  ])(
    'does every clock what the device model does: $name; figures',
    patient,
    async ({ shape, clocks }, context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      for (const seed of [1, 2, 3]) {
        const { output, ok } = bench.run(seed, clocks);
        expect(ok, output).toBe(true);
        const [, ...stream] = /(\d+) pushes and (\d+) pops in (\d+) clocks on end/.exec(output)!.map(Number);
        await expectFigures(block, ['pushes', 'pops', 'clocks'], [stream]);
        // Every result but those that the shape cannot have.
        const counts = /results (.*)$/m.exec(output)![1]!.split(' ').map(Number);
        const impossible = shape === lanes ? ['unknown list'] : [];
        const names =
          'ok,full,no entry credit,no list identifier,list full,closed,unknown list,empty,not ready,corrupted';
        names.split(',').forEach((name, result) => {
          if (!impossible.includes(name)) expect(counts[result], name).toBeGreaterThan(0);
        });
      }
    },
  );

  it.for(['joins_at_head', 'unready_head_leaves'])(
    'is caught by the bench with %s',
    patient,
    (fault, context) => {
      const bench = buildBench(requireTool('verilator', context), block, odd, fault);
      const { output, ok } = bench.run(1, 1000);
      expect(ok).toBe(false);
      expect(output).toMatch(/^seed 1, clock \d+: .*: RTL \w+, model \w+$/m);
    },
  );
});

describe('proofs of hardware_linked_list_queue', () => {
  const queue: Proof = {
    sources: rtlSources(block)
      .filter((source) => !source.includes('secded'))
      .map((source) => source.replace('rtl/data_memory.sv', 'formal/data_memory.sv')),
    top: block,
    parameters: { ENTRIES: 4, LISTS: 2, UNDERLYING_FUNCTIONS: 2, INDEX_WIDTH: 2, UNIT_WIDTH: 1 },
  };

  it('its lists neither lose, duplicate nor reorder, and credits are conserved', patient, (context) => {
    expect(holds(queue, 'from reset', 2, context)).toBe(true);
    expect(holds(queue, 'by induction', 1, context)).toBe(true);
  });

  it('fails with entry_credit_leaked', patient, (context) => {
    expect(holds(queue, 'from reset', 5, context, 'entry_credit_leaked')).toBe(false);
  });

  // The faults of a part are looked for in the part, for the time it takes.
  const list: Proof = {
    sources: rtlSources(block).filter((source) => /find_first|data_list/.test(source)),
    top: 'data_list',
    parameters: { ENTRIES: 3, LISTS: 2 },
    defines: ['FORMAL_DATA_LIST'],
  };

  it('its lists alone hold in the first clocks', patient, (context) => {
    expect(holds(list, 'from reset', 4, context)).toBe(true);
  });

  it.for(['tail_not_linked', 'joins_at_head', 'entry_given_twice'])(
    'fails with %s',
    patient,
    (mutant, context) => {
      expect(holds(list, 'from reset', 5, context, mutant)).toBe(false);
    },
  );

  const secded: Proof = {
    sources: [
      ...rtlSources(block).filter((source) => /secded|linked_list_queue_pkg/.test(source)),
      `${root}fpga/formal/secded_formal.sv`,
    ],
    top: 'secded_formal',
  };

  it('of any data one flipped bit is corrected and two are detected', patient, (context) => {
    expect(holds(secded, 'from reset', 1, context)).toBe(true);
    expect(holds(secded, 'from reset', 1, context, 'double_bit_error_missed')).toBe(false);
  });
});
