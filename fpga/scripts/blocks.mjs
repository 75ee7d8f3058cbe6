// Reads the blocks of fpga/rtl from fpga/rtl/blocks.json, for commands that pass them to a tool.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');

/** By name: `rtl`, the sources, the block last; `protocols`, the rules bound to its ports; `synthesis`, small sizes; `full`, card sizes and budgets. */
export const blocks = JSON.parse(readFileSync(path.join(root, 'fpga/rtl/blocks.json'), 'utf8'));

/** The SystemVerilog sources of a block, packages first, the block last; paths from the root of the repository. */
export function sourcesOf(block) {
  return blocks[block].rtl.map((name) => `fpga/rtl/${name}.sv`);
}

const axiProtocols = ['channel', 'address', 'write', 'read', 'tagged_read', 'stream'].map(
  (name) => `axi/axi_${name}_protocol`,
);

/** The protocol checkers of a block's ports in simulation (fpga/formal/axi); paths from the root of the repository. */
export function protocolsOf(block) {
  const { protocols = [] } = blocks[block];
  return protocols.length === 0
    ? []
    : [...axiProtocols, ...protocols.map((name) => `ports/${name}`)].map((name) => `fpga/formal/${name}.sv`);
}

/**
 * Blocks at their small sizes, at each supported beat width.
 * @param names of blocks; none: all
 * @returns for each: block, beatBytes (undefined: it has no beats), parameters by name, sources
 * @throws Error a block does not exist
 */
export function designsOf(names) {
  for (const name of names)
    if (!(name in blocks))
      throw new Error(`there is no block ${name}; there are ${Object.keys(blocks).join(', ')}`);
  return (names.length > 0 ? names : Object.keys(blocks)).flatMap((block) =>
    widths(block).map((beatBytes) => ({
      block,
      beatBytes,
      parameters: {
        ...blocks[block].synthesis,
        ...(beatBytes === undefined ? {} : { BEAT_BYTES: beatBytes }),
      },
      sources: sourcesOf(block),
    })),
  );
}

/**
 * Blocks at their full sizes, if they have any.
 * @param names of blocks; none: all
 * @returns for each: block, size (in words), parameters by name, sources, budget (luts; levels of look-up tables; period, ns)
 */
export function fullDesignsOf(names) {
  return (names.length > 0 ? names : Object.keys(blocks)).flatMap((block) =>
    (blocks[block].full ?? []).map((each) => ({ block, sources: sourcesOf(block), ...each })),
  );
}

function widths(block) {
  const source = readFileSync(path.join(root, sourcesOf(block).at(-1)), 'utf8');
  return /parameter int unsigned BEAT_BYTES/.test(source) ? [8, 16, 32, 64] : [undefined];
}
