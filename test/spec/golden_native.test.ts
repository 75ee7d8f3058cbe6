import { describe, expect, it } from 'vitest';
import { formatDescriptions } from '../../lib/spec/index.ts';
import { decodeFormat, encodeFormat, reservedIsZero } from './formats_port.ts';
import { goldenElements, goldenEntries } from './golden_entries.ts';

describe('golden bytes in C++', () => {
  for (const entry of goldenEntries) {
    const { name, format, bytes } = entry;
    it(`${name}: setters and getters`, () => {
      const elements = goldenElements(entry);
      expect(encodeFormat(format.name, elements)).toEqual(bytes);
      expect(decodeFormat(format.name, bytes)).toEqual(elements);
      expect(reservedIsZero(format.name, bytes)).toBe(true);
    });
  }

  it('a wrong field and a set reserved bit are detected', () => {
    const { format, bytes } = goldenEntries.find((entry) => entry.format.name === 'ring_head')!;
    const changed = (at: number): Uint8Array =>
      Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ 1 : byte));
    expect(decodeFormat(format.name, changed(3))).not.toEqual(decodeFormat(format.name, bytes));
    expect(decodeFormat(format.name, changed(7))).toEqual(decodeFormat(format.name, bytes));
    expect(reservedIsZero(format.name, changed(7))).toBe(false);
  });

  it('has the formats of TypeScript, and no others', () => {
    for (const { name, bytes } of formatDescriptions)
      expect(decodeFormat(name, new Uint8Array(bytes)).length).toBeGreaterThan(0);
    expect(() => decodeFormat('ring_hat', new Uint8Array(8))).toThrow('no format ring_hat');
  });
});
