import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { root } from './blocks.ts';

interface Structure {
  readonly groups: readonly {
    readonly said: string;
    readonly ports: readonly {
      readonly direction: string;
      readonly name: string;
      readonly width: string;
    }[];
  }[];
  readonly parts: readonly { readonly name: string; readonly times: number }[];
  readonly memories: readonly { readonly name: string; readonly words: string; readonly width: string }[];
  readonly registers: readonly string[];
}
const { draw, drawingOf, structureOf } = (await import(`${root}fpga/scripts/drawings.mjs`)) as {
  draw(block: string): string;
  drawingOf(block: string): string;
  structureOf(block: string): Structure;
};
const blocks = Object.keys(
  JSON.parse(readFileSync(`${root}fpga/rtl/blocks.json`, 'utf8')) as Readonly<Record<string, unknown>>,
);

describe('drawings of the blocks', () => {
  it.for(blocks)('match the sources (npm run fpga:drawings): %s', (block) => {
    expect(existsSync(drawingOf(block))).toBe(true);
    expect(readFileSync(drawingOf(block), 'utf8')).toBe(draw(block));
    const document = readFileSync(`${root}fpga/doc/theory-of-operation.md`, 'utf8');
    expect(document).toContain(`(figures/${block}_block.svg)`);
  });

  it('show the ports in groups, the parts, the memories and the registers', () => {
    const { groups, parts, registers } = structureOf('virtual_kick');
    const kicks = groups.find(({ ports }) => ports.some(({ name }) => name === 'kick_collected'))!;
    expect(kicks.said).toContain('send_queue_scheduler');
    expect(kicks.ports).toContainEqual({ direction: 'output', name: 'kick_collected_ready', width: '' });
    expect(parts).toContainEqual(expect.objectContaining({ name: 'lane_credits', times: 1 }));
    expect(parts).toContainEqual(expect.objectContaining({ name: 'unit_queue', times: 2 }));
    expect(registers).toEqual(expect.arrayContaining(['valid_1', 'is_tried', 'has_ended']));
    const receiver = structureOf('packet_receiver');
    expect(receiver.memories).toContainEqual({
      name: 'facts',
      words: 'BUFFERS',
      width: '[FIELDS+12:0]',
    });
    expect(receiver.registers).not.toContain('facts');
  });
});
