import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decode, encode, formatDescriptions, type FieldValue } from '../../lib/spec/index.ts';
import { flatFormats, getFlat, setFlat } from './flat_functions.ts';
import { goldenEntries } from './golden_entries.ts';

const isZero = (value: FieldValue): boolean =>
  value instanceof Uint8Array ? value.every((byte) => byte === 0) : Number(value) === 0;

const consumers = JSON.parse(
  readFileSync(new URL('../../fpga/spec/consumers.json', import.meta.url), 'utf8'),
) as { readonly typescript_flat_functions: { readonly formats: readonly string[] } };

/** Bytes before and after the structure, which reveal a write beyond it. */
const margin = 8;

describe('golden bytes', () => {
  for (const { name, format, bytes, fields } of goldenEntries) {
    it(`${name}: encode and decode`, () => {
      expect(encode(format.name, fields)).toEqual(bytes);
      const decoded = decode(format.name, bytes);
      expect(encode(format.name, decoded)).toEqual(bytes);
      const numbers = Object.entries(fields).filter(([, value]) => typeof value !== 'string');
      expect(decoded).toMatchObject(Object.fromEntries(numbers));
    });

    if (!flatFormats.includes(format)) continue;
    it(`${name}: flat functions`, () => {
      const decoded = decode(format.name, bytes);
      const room = new Uint8Array(format.bytes + 2 * margin).fill(0xff);
      room.fill(0, margin, margin + format.bytes);
      const view = new DataView(room.buffer);
      for (const field of format.fields) {
        setFlat(format, field, view, margin, decoded[field.name]!);
      }
      expect(room.subarray(margin, margin + format.bytes)).toEqual(bytes);
      expect(room.subarray(0, margin).every((byte) => byte === 0xff)).toBe(true);
      expect(room.subarray(margin + format.bytes).every((byte) => byte === 0xff)).toBe(true);
      const read = format.fields.map((field) => [field.name, getFlat(format, field, view, margin)]);
      expect(Object.fromEntries(read)).toEqual(decoded);
    });
  }

  it('formats have flat functions according to fpga/spec/consumers.json', () => {
    const { formats } = consumers.typescript_flat_functions;
    expect(flatFormats.map(({ name }) => name).sort()).toEqual([...formats].sort());
  });

  it('every format has an entry, and every field is set in one', () => {
    const bare = formatDescriptions.flatMap((format) => {
      const decoded = goldenEntries
        .filter((entry) => entry.format === format)
        .map((entry) => decode(format.name, entry.bytes));
      return format.fields
        .filter((field) => decoded.every((each) => isZero(each[field.name]!)))
        .map((field) => `${format.name}.${field.name}`);
    });
    expect(bare).toEqual([]);
  });
});
