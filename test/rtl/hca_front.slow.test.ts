import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { buildBench, lint, type Shape } from './verilator.ts';

const block = 'hca_front';
const patient = { timeout: 600_000 };
const shape: Shape = {
  BEAT_BYTES: 16,
  UNDERLYING_FUNCTIONS: 2,
  VIRTUAL_COLLECT_BUFFERS: 8,
  PHYSICAL_COLLECT_BUFFERS: 4,
  DEDICATED_PHYSICAL_COLLECT_BUFFERS: 2,
  MANAGEMENT_PHYSICAL_COLLECT_BUFFERS: 1,
  TRANSMIT_VIRTUAL_LANES: 4,
  QUEUE_PAIRS: 16,
  FINISHES: 1,
};

describe('hca_front in SystemVerilog', () => {
  it(
    'passes lint without warnings at every beat width, with one function and with many',
    patient,
    (context) => {
      const verilator = requireTool('verilator', context);
      for (const BEAT_BYTES of [8, 16, 32, 64])
        expect(lint(verilator, block, { ...shape, BEAT_BYTES })).toBe('');
      for (const UNDERLYING_FUNCTIONS of [1, 8])
        expect(lint(verilator, block, { ...shape, UNDERLYING_FUNCTIONS, TRANSMIT_VIRTUAL_LANES: 64 })).toBe(
          '',
        );
    },
  );

  it(
    'is identified, set up and written to over AXI, and streams the started commands',
    patient,
    (context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape);
      for (const seed of [1, 2, 3]) {
        const { output, ok } = bench.run(seed, 500);
        expect(ok, output).toBe(true);
        expect(output).toMatch(/^500 commands/);
      }
    },
  );
});
