import { describe, expect, it } from 'vitest';

import { requireTool } from '../tools.ts';
import { root } from './blocks.ts';
import { holds, type Proof } from './proof.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'virtual_kick';
const patient = { timeout: 600_000 };

/** Few lanes, credits and entries, so that all of them run out. */
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
const least: Shape = {
  UNDERLYING_FUNCTIONS: 1,
  TRANSMIT_VIRTUAL_LANES: 1,
  ENTRIES: 1,
  QUEUE_PAIRS: 2,
  FINISHES: 1,
};

/** Faults that can be built into the sources, by name; the proofs look for others. */
const faults = ['lane_left_early', 'load_ignored'];

describe('virtual_kick in SystemVerilog', () => {
  it('has no warning', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const shape of [small, least, {}]) expect(lint(verilator, block, shape)).toBe('');
  });

  it('does every clock what the device model does', patient, (context) => {
    const bench = buildBench(requireTool('verilator', context), block, small);
    for (const seed of [1, 2, 3]) {
      const { output, ok } = bench.run(seed, 30_000);
      expect(ok, output).toBe(true);
      const [, started, shared, refused, stale] =
        /(\d+) started, (\d+) with shared credits, (\d+) refused, (\d+) stale/.exec(output)!.map(Number);
      expect(started).toBeGreaterThan(3000);
      expect(Math.min(shared!, refused!, stale!)).toBeGreaterThan(100);
      expect(output).toContain('1000 started in 1000 clocks on end, 4 clocks from a kick to its start');
    }
  });

  it.for(faults)('is caught by the bench with a fault built in: %s', patient, (fault, context) => {
    const { output, ok } = buildBench(requireTool('verilator', context), block, small, fault).run(1, 30_000);
    expect(ok).toBe(false);
    expect(output).toMatch(/^seed 1, clock \d+: .*RTL/m);
  });
});

describe('proofs of virtual_kick', () => {
  const laneHolds: Proof = {
    sources: ['hca_spec_pkg', 'lane_holds'].map((name) => `${root}fpga/rtl/${name}.sv`),
    top: 'lane_holds',
    parameters: { QUEUE_PAIRS: 4, LANES: 3, COUNT_WIDTH: 3 },
  };

  it('a queue pair stays on its lane as long as it has commands there', patient, (context) => {
    expect(holds(laneHolds, 'from reset', 6, context)).toBe(true);
    expect(holds(laneHolds, 'by induction', 2, context)).toBe(true);
    expect(holds(laneHolds, 'from reset', 10, context, 'lane_left_early')).toBe(false);
  });
});
