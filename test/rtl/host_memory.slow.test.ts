import { describe, expect, it } from 'vitest';

import { requireTool } from '../tools.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'host_memory';
const patient = { timeout: 600_000 };
const shape: Shape = {
  BEAT_BYTES: 64, // Of hca_front's bench 16, of hca_board's 8.
  UNDERLYING_FUNCTIONS: 2,
  VIRTUAL_COLLECT_BUFFERS: 8,
  QUEUE_PAIRS: 32,
};

describe('host_memory in SystemVerilog', () => {
  it('has no warning at any width of a beat', patient, (context) => {
    const verilator = requireTool('verilator', context);
    for (const BEAT_BYTES of [8, 16, 32, 64])
      expect(lint(verilator, block, { ...shape, BEAT_BYTES })).toBe('');
  });

  it('does to host memory what the device model does, whatever the host answers', patient, (context) => {
    const bench = buildBench(requireTool('verilator', context), block, shape);
    for (const seed of [1, 2, 3]) {
      const { output, ok } = bench.run(seed, 3000);
      expect(ok, output).toBe(true);
      expect(output).toMatch(/^3000 steps, \d+ accesses, [1-9]\d* faults, [1-9]\d* turned out/);
    }
  });
});
