import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { root, rtlSources } from './blocks.ts';
import { expectFigures } from './figures.ts';
import { holds, type Proof } from './proof.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'virtual_kick';
const patient = { timeout: 600_000 };

/** Few lanes, credits and entries, so that all run out. */
const small: Shape = {
  UNDERLYING_FUNCTIONS: 3,
  TRANSMIT_VIRTUAL_LANES: 7,
  ENTRIES: 14,
  QUEUE_PAIRS: 16,
  EXECUTION_CREDITS_PER_LANE: 1,
  COMPLETION_CREDITS_PER_LANE: 2,
  SHARED_EXECUTION_CREDITS: 3,
  SHARED_COMPLETION_CREDITS: 5,
  SHARED_EXECUTION_CREDITS_CAP: 2,
  SHARED_COMPLETION_CREDITS_CAP: 3,
};
/** Credits for the commands between start and finish; more than the queue of started commands has room for. */
const roomy: Shape = { ...small, ENTRIES: 56, EXECUTION_CREDITS_PER_LANE: 8, COMPLETION_CREDITS_PER_LANE: 8 };
const least: Shape = {
  UNDERLYING_FUNCTIONS: 1,
  TRANSMIT_VIRTUAL_LANES: 1,
  ENTRIES: 1,
  QUEUE_PAIRS: 2,
  FINISHES: 1,
};

/** Faults that can be built into the sources, by name; the proofs look for others. */
const faults = ['lane_left_early', 'load_ignored', 'list_size_ignored', 'dropped_waits_for_credit'];

describe('virtual_kick in SystemVerilog', () => {
  it('passes lint without warnings', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [small, least, {}]) expect(lint(verilator, block, shape)).toBe('');
  });

  it('starts a command per clock: figures', patient, async (context) => {
    const { output, ok } = buildBench(requireTool('verilator', context), block, roomy).run(1, 2000);
    expect(ok, output).toBe(true);
    const [, ...stream] = /(\d+) started in (\d+) clocks on end, (\d+) clocks from a kick/
      .exec(output)!
      .map(Number);
    await expectFigures(block, ['commands started', 'clocks', 'clocks from a kick to its start'], [stream]);
  });

  it('matches the device model', patient, (context) => {
    const bench = buildBench(requireTool('verilator', context), block, small);
    for (const seed of [1, 2, 3]) {
      const { output, ok } = bench.run(seed, 30_000);
      expect(ok, output).toBe(true);
      const [, started, ...others] =
        /(\d+) started, (\d+) with shared credits, (\d+) refused, (\d+) stale, (\d+) full lists, (\d+) clocks for entries, (\d+) dropped/
          .exec(output)!
          .map(Number);
      expect(started).toBeGreaterThan(1000);
      expect(Math.min(...others)).toBeGreaterThan(50);
    }
  });

  it.for(faults)('fails its bench with the fault %s', patient, (fault, context) => {
    const { output, ok } = buildBench(requireTool('verilator', context), block, small, fault).run(1, 30_000);
    expect(ok).toBe(false);
    expect(output).toMatch(/^seed 1, clock \d+: .*RTL/m);
  });
});

describe('proofs of virtual_kick', () => {
  const pool: Proof = {
    sources: ['linked_list_queue_pkg', 'credit_pool'].map((name) => `${root}fpga/rtl/lists/${name}.sv`),
    top: 'credit_pool',
    // The caps exceed the shared total, so the total runs out before the caps are reached.
    parameters: { OWNERS: 2, OWN: 1, SHARED: 3, SHARED_CAP: 2, SETTABLE: 0, CREDIT_WIDTH: 3 },
    defines: ['FORMAL_CREDIT_POOL'],
  };

  it('a pool grants only existing credits, and loses none', patient, (context) => {
    expect(holds(pool, 'from reset', 4, context)).toBe(true);
    expect(holds(pool, 'by induction', 1, context)).toBe(true);
  });

  it.for(['shared_credit_cap_ignored', 'entry_credit_leaked'])(
    'a fault in a pool fails the proof: %s',
    patient,
    (mutant, context) => {
      expect(holds(pool, 'from reset', 13, context, mutant)).toBe(false);
    },
  );

  it('a pool that grants one shared credit too many fails the proof', patient, (context) => {
    const fault = {
      source: 'credit_pool',
      from: "assign has_shared = !shared_left[CREDIT_WIDTH] && shared_left[CREDIT_WIDTH-1:0] != '0;",
      to: 'assign has_shared = !shared_left[CREDIT_WIDTH];',
    };
    expect(holds({ ...pool, fault }, 'from reset', 10, context)).toBe(false);
  });

  const laneHolds: Proof = {
    sources: ['base/hca_spec_pkg', 'kick/lane_holds'].map((name) => `${root}fpga/rtl/${name}.sv`),
    top: 'lane_holds',
    parameters: { QUEUE_PAIRS: 4, LANES: 3, COUNT_WIDTH: 3 },
  };

  it('a queue pair stays on its lane while it has commands there', patient, (context) => {
    expect(holds(laneHolds, 'from reset', 8, context)).toBe(true);
    expect(holds(laneHolds, 'by induction', 2, context)).toBe(true);
    expect(holds(laneHolds, 'by induction', 2, context, 'lane_left_early')).toBe(false);
  });

  const whole: Proof = {
    sources: rtlSources(block)
      .filter((source) => !source.includes('secded'))
      .map((source) => source.replace('rtl/lists/data_memory.sv', 'formal/data_memory.sv')),
    top: block,
    parameters: {
      UNDERLYING_FUNCTIONS: 1,
      TRANSMIT_VIRTUAL_LANES: 2,
      ENTRIES: 2,
      QUEUE_PAIRS: 2,
      EXECUTION_CREDITS_PER_LANE: 1,
      COMPLETION_CREDITS_PER_LANE: 1,
      SHARED_EXECUTION_CREDITS: 2,
      SHARED_COMPLETION_CREDITS: 2,
      SHARED_EXECUTION_CREDITS_CAP: 1,
      SHARED_COMPLETION_CREDITS_CAP: 1,
      FINISHES: 2,
      DIVISIBLE: 0,
    },
  };

  it('a lane holds the credits of its started commands', patient, (context) => {
    expect(holds(whole, 'from reset', 2, context)).toBe(true);
    expect(holds(whole, 'by induction', 1, context)).toBe(true);
    for (const mutant of ['credit_leaked', 'started_without_completion_credit'])
      expect(holds(whole, 'by induction', 1, context, mutant), mutant).toBe(false);
  });
});
