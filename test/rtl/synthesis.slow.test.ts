import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { leaveOut, requireTool } from '../helpers/tools.ts';
import { root } from './blocks.ts';

const script = `${root}fpga/scripts/synthesis.mjs`;

interface Cell {
  readonly type: string;
  readonly port_directions: Readonly<Record<string, 'input' | 'output'>>;
  readonly connections: Readonly<Record<string, readonly number[]>>;
}
const { longestPath, worstEnds } = (await import(`${root}fpga/scripts/longest_path.mjs`)) as {
  longestPath(cells: readonly Cell[]): { luts: number; carries: number; weight: number };
  worstEnds(
    cells: readonly Cell[],
    names: Readonly<Record<string, { readonly bits: readonly number[] }>>,
    count: number,
  ): { end: string; weight: number }[];
};
interface LookUpTable extends Cell {
  readonly parameters: { INIT: string };
}
const { delaysOf, orderInputs } = (await import(`${root}fpga/scripts/input_order.mjs`)) as {
  delaysOf(library: string): unknown;
  orderInputs(cells: readonly Cell[], delays: unknown): Map<number, number>;
};
const { fullDesignsOf } = (await import(`${root}fpga/scripts/blocks.mjs`)) as {
  fullDesignsOf(names: readonly string[]): {
    block: string;
    size: string;
    budget: { luts: number; levels: number; period: number };
  }[];
};

function cell(type: string, inputs: Record<string, number[]>, outputs: Record<string, number[]>): Cell {
  const directions = [inputs, outputs].flatMap((ports, isOutput) =>
    Object.keys(ports).map((port) => [port, isOutput === 1 ? 'output' : 'input'] as const),
  );
  return {
    type,
    port_directions: Object.fromEntries(directions),
    connections: { ...inputs, ...outputs },
  };
}

describe('synthesis of the blocks', () => {
  // Yosys 0.23 parses ~12'(x) as (~12)'(x); IEEE 1800 defines it as ~(12'(x)).
  it('gets no unary operator before a size cast', () => {
    const sources = readdirSync(`${root}fpga`, { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.svh?$/.test(name) && !name.startsWith('slang/'),
    );
    expect(sources.length).toBeGreaterThan(50);
    const found = sources.flatMap((name) =>
      readFileSync(`${root}fpga/${name}`, 'utf8')
        .split('\n')
        .filter((line) => /([~!]|[=(,?:{] *[-&|^]) *(\w+|\([^()]*\))'\(/.test(line.replace(/\/\/.*/, '')))
        .map((line) => `${name}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });

  it('reads every block at every width and finds no undriven wire', { timeout: 600_000 }, (context) => {
    requireTool('yosys', context);
    // These contain the other blocks.
    const blocks = [
      'hardware_linked_list_queue',
      'burst_reader',
      'burst_writer',
      'packet_headers',
      'packet_receiver',
      'queue_pair_directory',
      'queue_pair_contexts',
      'destination_check',
      'receive',
      'descriptor_fetch',
      'manager_port',
      'completion_queue',
      'memory_translation',
      'queue_pair_fetch',
      'dma',
      'packet_builder',
      'queue_pairs',
      'hca_front',
    ];
    const said = execFileSync(process.execPath, [script, '--check', ...blocks], { encoding: 'utf8' });
    expect(said.match(/nothing wrong/g)).toHaveLength(54);
  });

  it('reads every block at every width with slang', { timeout: 600_000 }, (context) => {
    const slang = `${root}fpga/scripts/slang.mjs`;
    // slang is not a Debian package: a machine that cannot download it skips the test.
    if (spawnSync(process.execPath, [slang, '--install']).status !== 0)
      leaveOut('the packages of fpga/slang cannot be installed: see npm ci --prefix fpga/slang', context);
    // These contain the other blocks.
    const said = execFileSync(
      process.execPath,
      [
        slang,
        'burst_reader',
        'burst_writer',
        'packet_headers',
        'packet_receiver',
        'queue_pair_directory',
        'queue_pair_contexts',
        'destination_check',
        'receive',
        'descriptor_fetch',
        'manager_port',
        'completion_queue',
        'memory_translation',
        'queue_pair_fetch',
        'dma',
        'packet_builder',
        'queue_pairs',
        'hca_front',
      ],
      {
        encoding: 'utf8',
      },
    );
    expect(said.match(/^\w+, \d+ B a beat: nothing wrong$/gm)).toHaveLength(48);
    expect(said).not.toContain('warning');
  });

  it.each(['Xilinx 7-series', 'UltraScale+', 'ECP5'])(
    'is documented with a row for every block and width, for %s',
    (family) => {
      const rows = readFileSync(`${root}fpga/doc/synthesis.md`, 'utf8')
        .split('\n')
        .map((line) => line.split(' | '))
        .filter(([, , ofFamily, luts]) => ofFamily === family && Number(luts) > 0);
      const widths: Record<string, string> = {};
      for (const [block, width] of rows)
        widths[block!.slice(2)] = `${widths[block!.slice(2)] ?? ''} ${width!}`.trim();
      expect(widths).toEqual({
        hardware_linked_list_queue: '–',
        virtual_kick: '–',
        collect_buffer: '8 16 32 64',
        host_memory: '8 16 32 64',
        burst_reader: '8 16 32 64',
        burst_writer: '8 16 32 64',
        icrc_append: '8 16 32 64',
        icrc_check: '8 16 32 64',
        packet_headers: '8 16 32 64',
        packet_memory: '8 16 32 64',
        packet_parse: '8 16 32 64',
        packet_receiver: '8 16 32 64',
        queue_pair_directory: '–',
        queue_pair_contexts: '–',
        manager_port: '–',
        destination_check: '–',
        receive: '–',
        descriptor_fetch: '8 16 32 64',
        completion_queue: '8 16 32 64',
        memory_translation: '8 16 32 64',
        queue_pair_fetch: '8 16 32 64',
        hca_front: '8 16 32 64',
      });
    },
  );

  it.each(fullDesignsOf([]))(
    'keeps $block within its budget at full size: $size',
    ({ block, size, budget }) => {
      const rows = readFileSync(`${root}fpga/doc/synthesis.md`, 'utf8')
        .split('\n')
        .map((line) => line.slice(2, -2).split(' | '))
        .filter((row) => row.length === 10 && row[0] === block && row[1] === size);
      expect(rows).toHaveLength(1);
      expect(Number(rows[0]![2])).toBeGreaterThan(0);
      expect(Number(rows[0]![2])).toBeLessThanOrEqual(budget.luts);
      expect(Number(rows[0]!.at(-2))).toBeGreaterThan(0);
      expect(Number(rows[0]!.at(-2))).toBeLessThanOrEqual(budget.period);
      expect(Number(rows[0]!.at(-1))).toBeLessThanOrEqual(budget.levels);
    },
  );

  it('reports where the longest paths end', () => {
    const cells = [
      cell('FDRE', { D: [9] }, { Q: [2] }),
      cell('LUT2', { I0: [2] }, { O: [4] }),
      cell('FDRE', { D: [4] }, { Q: [5] }),
      cell('CARRY4', { S: [4] }, { CO: [6] }),
      cell('FDRE', { D: [6] }, { Q: [7] }),
    ];
    const names = { begun: { bits: [2] }, near: { bits: [5] }, far: { bits: [7] }, a$1: { bits: [7] } };
    expect(worstEnds(cells, names, 2)).toEqual([
      { end: 'far', weight: 11 },
      { end: 'near', weight: 10 },
    ]);
  });

  it('puts the latest signal on the fastest input of a look-up table without changing its function', () => {
    const library = `
module LUT1(output O, input I0);
  specify
    (I0 => O) = 100;
  endspecify
endmodule
module LUT3(output O, input I0, I1, I2);
  specify
    (I0 => O) = 300; // the slowest
    (I1 => O) = 200;
    (I2 => O) = 100;
  endspecify
endmodule
module CARRY(input [1:0] S, output [1:0] O);
  specify
    (S[0] => O[1]) = 50;
    (S[1] => O[1]) = 7;
  endspecify
endmodule`;
    // Signals 1 (late), 2 (immediate) and 3 (a little late): (1 and not 3) or 2.
    const says = (late: number, once: number, little: number): number => (late & ~little) | once;
    const contents = Array.from({ length: 8 }, (_, at) =>
      says((7 - at) & 1, (7 - at) & 2 ? 1 : 0, (7 - at) & 4 ? 1 : 0),
    );
    const table: LookUpTable = {
      ...cell('LUT3', { I0: [11], I1: [2], I2: [12] }, { O: [20] }),
      parameters: { INIT: contents.join('') },
    };
    const arrivals = orderInputs(
      [
        table,
        { ...cell('LUT1', { I0: [1] }, { O: [10] }), parameters: { INIT: '10' } } as Cell,
        { ...cell('LUT1', { I0: [10] }, { O: [11] }), parameters: { INIT: '10' } } as Cell,
        { ...cell('LUT1', { I0: [3] }, { O: [12] }), parameters: { INIT: '10' } } as Cell,
        cell('CARRY', { S: [20, 2] }, { O: [30, 31] }),
      ],
      delaysOf(library),
    );
    expect(['I0', 'I1', 'I2'].map((input) => table.connections[input]![0])).toEqual([2, 12, 11]);
    expect([11, 12, 20, 31].map((net) => arrivals.get(net))).toEqual([200, 100, 300, 350]);
    for (let number = 0; number < 8; number++) {
      const [once, little, late] = [number & 1, (number >> 1) & 1, number >> 2];
      expect(Number(table.parameters.INIT[7 - number])).toBe(says(late, once, little));
    }
  });

  it('counts the longest path between registers, through memories made of look-up tables', () => {
    const cells = [
      cell('FDRE', { C: [1], D: [9] }, { Q: [2] }),
      cell('LUT2', { I0: [2], I1: [3] }, { O: [4] }),
      cell('CARRY4', { S: [4] }, { CO: [5] }),
      cell('LUT6', { I0: [5] }, { O: [6] }),
      // Read at address A; D is clocked, so it is not part of the path.
      cell('RAM32M', { ADDRA: [6], ADDRB: [7], DIA: [8] }, { DOA: [7], DOB: [8] }),
      cell('FDRE', { C: [1], D: [8] }, { Q: [3] }),
    ];
    expect(longestPath(cells)).toEqual({ luts: 4, carries: 1, weight: 41 });
    expect(() => longestPath([cell('LUT1', { I0: [1] }, { O: [1] })])).toThrow('combinational loop');
    expect(() => longestPath([cell('XYZ', {}, { O: [1] })])).toThrow('XYZ');
  });
});
