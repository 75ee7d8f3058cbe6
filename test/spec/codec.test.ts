import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decode,
  encode,
  formatDescriptions,
  type FieldDescription,
  type FieldValue,
} from '../../lib/spec/index.ts';
import { flatFormats, getFlat, getFlatHalves, setFlat, setFlatHalves } from './flat_functions.ts';

function anyValue(field: FieldDescription): fc.Arbitrary<FieldValue> {
  if (field.shape === 'bytes') return fc.uint8Array({ minLength: field.count, maxLength: field.count });
  const most = (1n << BigInt(field.width)) - 1n;
  return fc.bigInt({ min: 0n, max: most }).map((value) => (field.width > 53 ? value : Number(value)));
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

describe('codec and flat functions', () => {
  for (const format of flatFormats) {
    it(`${format.name}: any values are restored, each from its own place`, () => {
      const record = Object.fromEntries(format.fields.map((field) => [field.name, anyValue(field)]));
      fc.assert(
        fc.property(fc.record(record), fc.record(record), (first, second) => {
          const bytes = encode(format.name, first);
          expect(decode(format.name, bytes)).toEqual(first);
          // Overwrites one field after the other: neither neighboring fields nor reserved bits change.
          const current = { ...first };
          for (const field of format.fields) {
            const value = second[field.name]!;
            current[field.name] = value;
            setFlat(format, field, viewOf(bytes), 0, value);
            expect(bytes).toEqual(encode(format.name, current));
            expect(getFlat(format, field, viewOf(bytes), 0)).toEqual(value);
          }
        }),
        { numRuns: 20 },
      );
    });

    for (const field of format.fields.filter(({ width }) => width > 32)) {
      it(`${format.name}.${field.name}: halves`, () => {
        const most = (1n << BigInt(field.width)) - 1n;
        fc.assert(
          fc.property(fc.bigInt({ min: 0n, max: most }), (value) => {
            const bytes = new Uint8Array(format.bytes);
            setFlatHalves(format, field, viewOf(bytes), 0, value);
            expect(bytes).toEqual(encode(format.name, { [field.name]: value }));
            expect(getFlatHalves(format, field, viewOf(bytes), 0)).toBe(value);
          }),
          { numRuns: 20 },
        );
      });
    }
  }

  it('a setter keeps the low bits of a value that is too large', () => {
    const format = formatDescriptions.find(({ name }) => name === 'command_header')!;
    const field = format.fields.find(({ name }) => name === 'version')!;
    const bytes = new Uint8Array(format.bytes);
    setFlat(format, field, viewOf(bytes), 0, 0x1f);
    expect(bytes).toEqual(encode('command_header', { version: 0xf }));
  });

  it('names a nonexistent format', () => {
    expect(() => encode('comand_header', {})).toThrow(
      'no format comand_header; there are command_header, gather_entry',
    );
    expect(() => decode('comand_header', new Uint8Array(64))).toThrow('no format comand_header');
  });

  it('names a nonexistent field, and the existing ones', () => {
    expect(() => encode('ring_head', { tail: 1 })).toThrow('ring_head has no field tail; it has head');
  });

  it('names a value out of range', () => {
    const version = 'command_header.version is 0 to 15, not';
    expect(() => encode('command_header', { version: 16 })).toThrow(`${version} 16`);
    expect(() => encode('command_header', { version: -1 })).toThrow(`${version} -1`);
    expect(() => encode('command_header', { version: 1.5 })).toThrow('takes a whole number, not 1.5');
    expect(() => encode('command_header', { remote_address: 1n << 64n })).toThrow(RangeError);
    expect(() => encode('command_header', { remote_address: 2 ** 53 })).toThrow('takes a whole number');
  });

  it("accepts names of the field's enum, and no others", () => {
    expect(encode('command_header', { opcode: 'rdma_read' })[0]).toBe(6);
    expect(() => encode('command_header', { opcode: 'read' })).toThrow(
      'command_header.opcode has no value read; there are send,',
    );
    expect(() => encode('command_header', { version: 'send' })).toThrow(
      'command_header.version takes a whole number, not send',
    );
  });

  it('accepts exactly the bytes of a byte array or structure', () => {
    expect(() => encode('global_route_header', { source_gid: new Uint8Array(15) })).toThrow(
      'has 16 bytes, not 15',
    );
    expect(() => encode('global_route_header', { source_gid: 1 })).toThrow(
      'global_route_header.source_gid takes a Uint8Array',
    );
    expect(() => decode('ring_head', new Uint8Array(9))).toThrow('ring_head has 8 bytes, not 9');
  });
});
