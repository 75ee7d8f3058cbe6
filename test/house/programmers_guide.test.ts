import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { DOORBELL_SLOTS_OFFSET, DOORBELL_SLOT_WRITE_BYTES, DoorbellSlot } from '../../lib/spec/index.ts';
import { blockDescriptions, enumDescriptions, formatDescriptions } from '../../lib/spec/descriptions.ts';
import { quoted, read, root, rowsOf } from '../helpers/documents.ts';

const file = 'fpga/doc/programmers-guide.md';
const text = read(file);

describe("programmer's guide", () => {
  it('gives the offset of every register that it names', () => {
    const names = [
      ...new Set(quoted(text).filter((name) => /^(identity|control|underlying_function)\./.test(name))),
    ];
    expect(names.length).toBeGreaterThan(35);
    // Next to its name, in a table or in parentheses.
    const told = [...text.matchAll(/`(\w+\.\w+)`(?: \||\s\()\s?(0x[0-9a-f]{4})\b/g)];
    const offsets = new Map(told.map(([, name, offset]) => [name!, Number(offset)]));
    expect(Object.fromEntries(names.map((name) => [name, offsets.get(name)]))).toEqual(
      Object.fromEntries(names.map((name) => [name, offsetOf(name)])),
    );
  });

  it('gives the doorbell slots their offsets', () => {
    const rows = rowsOf(text, '5. Write a command').map(([slot, offset]) => [
      quoted(slot!)[0],
      Number(offset),
    ]);
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(
        Object.entries(DoorbellSlot).map(([slot, value]) => [
          slot,
          DOORBELL_SLOTS_OFFSET + value * DOORBELL_SLOT_WRITE_BYTES,
        ]),
      ),
    );
  });

  it('names only existing formats and enums', () => {
    const known = [...formatDescriptions, ...enumDescriptions].map(({ name }) => name);
    const named = [
      'management_command',
      'management_completion',
      'management_opcode',
      'mailbox_header',
      'command_header',
      'work_queue_reference',
      'doorbell_slot_write',
      'refusal',
      'kick_record',
      'ring_head',
      'region_type',
    ];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
    expect(named.filter((name) => !quoted(text).includes(name))).toEqual([]);
  });

  it('has only working links', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link]) => link!);
    const directory = path.join(root, path.dirname(file));
    expect(links.length).toBeGreaterThan(4);
    expect(links.filter((link) => !existsSync(path.join(directory, link)))).toEqual([]);
  });
});

function offsetOf(name: string): number {
  const [block, register] = name.split('.');
  const found = blockDescriptions
    .find((each) => each.name === block)
    ?.registers.find((each) => each.name === register);
  if (found === undefined) throw new Error(`the specification has no register ${name}`);
  return found.offset;
}
