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

/** Cases of the rules of the ports that the bench does not reach. */
const notReached = [
  /^i_collect(_buffer\.i)?_read_protocol/, // It reads no VCB page.
  /^i_register_(read|write)_protocol\.i_address\.i_channel\.waits/, // One access at a time.
  /^i_register_write_protocol\.i_data\.waits/,
  // Beats are accepted at once.
  /^i_collect(_buffer\.i)?_write_protocol\.(i_address\.i_channel|i_data)\.waits/,
  /^i_collect_buffer\.i_write_protocol\.i_response\.waits/, // page_writes accepts these at once, and
  /^i_(host_memory\.i_host_port\.i|memory)_write_protocol\.i_response\.waits/, // host_port those of the host.
  /^i_register_(read|write)_protocol\.ends_several/, // AXI4-Lite.
  /^i_(host_memory\.i_host_port\.i|memory)_read_protocol\.ends_several/, // Reads are of words.
  /^i_(command|management)_protocol\.ends_one/, // A header has several beats.
  /^i_(collect|register|collect_buffer\.i)_write_protocol\.answers/, // One burst is answered before the next ends.
];

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

  it('works over AXI: identification, setup, commands; streams the started commands', patient, (context) => {
    const bench = buildBench(requireTool('verilator', context), block, shape);
    for (const seed of [1, 2, 3]) {
      const { output, ok } = bench.run(seed, 500);
      expect(ok, output).toBe(true);
      expect(output).toMatch(/^500 commands/);
    }
  });

  it(
    'reaches all covers of the rules of its AXI ports, except those that its host never causes',
    patient,
    (context) => {
      const bench = buildBench(requireTool('verilator', context), block, shape, undefined, block, true);
      const reaches = [1, 2, 3].map((seed) => {
        const { output, ok } = bench.run(seed, 500);
        expect(ok, output).toBe(true);
        return bench.reached();
      });
      const names = [...reaches[0]!.keys()];
      expect(names.length).toBeGreaterThan(50);
      const unreached = names.filter((name) => reaches.every((reached) => reached.get(name) === 0));
      expect(unreached.filter((name) => !notReached.some((reason) => reason.test(name)))).toEqual([]);
      expect(notReached.filter((reason) => !unreached.some((name) => reason.test(name)))).toEqual([]);
    },
  );
});
