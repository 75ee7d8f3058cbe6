import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

interface Block {
  readonly rtl: readonly string[];
  readonly protocols?: readonly string[];
}

const blocks = JSON.parse(readFileSync(`${root}fpga/rtl/blocks.json`, 'utf8')) as Readonly<
  Record<string, Block>
>;

/** Names of all blocks that are linted, synthesized and measured separately. */
export const blockNames = Object.keys(blocks);

function blockOf(name: string): Block {
  const block = blocks[name];
  if (block === undefined) throw new Error(`fpga/rtl/blocks.json does not list ${name}`);
  return block;
}

/** The SystemVerilog sources of a block, itself last, in the order in which tools read them; absolute. */
export function rtlSources(block: string): string[] {
  return blockOf(block).rtl.map((name) => `${root}fpga/rtl/${name}.sv`);
}

const axiProtocols = ['channel', 'address', 'write', 'read', 'tagged_read', 'stream'].map(
  (name) => `axi/axi_${name}_protocol`,
);

/** The AXI protocol checkers of a block's ports in simulation, and their bindings; empty: the block has no AXI ports. */
export function protocolSources(block: string): string[] {
  const { protocols = [] } = blockOf(block);
  return protocols.length === 0
    ? []
    : [...axiProtocols, ...protocols.map((name) => `ports/${name}`)].map(
        (name) => `${root}fpga/formal/${name}.sv`,
      );
}
