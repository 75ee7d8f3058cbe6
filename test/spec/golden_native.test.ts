import { describe, expect, it } from 'vitest';
import { goldenEntries } from './golden_entries.ts';
import { encodeGolden, goldenMismatch } from './golden_port.ts';

describe('golden bytes in C++', () => {
  for (const { name, bytes } of goldenEntries) {
    it(`${name}: setters and getters`, () => {
      expect(encodeGolden(name)).toEqual(bytes);
      expect(goldenMismatch(name, bytes)).toBe('');
    });
  }

  it('a difference is named by its field', () => {
    const { name, bytes } = goldenEntries.find(({ format }) => format.name === 'ring_head')!;
    expect(
      goldenMismatch(
        name,
        Uint8Array.from(bytes, (byte, index) => (index === 3 ? byte ^ 1 : byte)),
      ),
    ).toBe('head');
    expect(
      goldenMismatch(
        name,
        Uint8Array.from(bytes, (byte, index) => (index === 7 ? byte ^ 1 : byte)),
      ),
    ).toBe('reserved');
  });

  it('an unknown name has no bytes', () => {
    expect(encodeGolden('ring_hat')).toEqual(new Uint8Array(0));
    expect(goldenMismatch('ring_hat', new Uint8Array(8))).toBe('name');
  });
});
