import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { makeBitMask } from './bit_mask_port.ts';

// Around the boundaries of words, and of the summary word.
const sizes = fc.oneof(
  fc.integer({ min: 1, max: 200 }),
  fc.constantFrom(63, 64, 65, 127, 128, 4032, 4095, 4096),
);

describe('bit mask', () => {
  it('finds and takes bits like a plain array of bits', () => {
    const operation = fc.tuple(
      fc.constantFrom('set', 'clear', 'test', 'findFirst', 'findNext', 'takeFirst'),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    );
    fc.assert(
      fc.property(sizes, fc.boolean(), fc.array(operation, { maxLength: 200 }), (size, value, operations) => {
        const mask = makeBitMask(size, value);
        const bits = Array.from({ length: size }, () => value);
        const first = (): number | null => (bits.includes(true) ? bits.indexOf(true) : null);
        for (const [name, place] of operations) {
          const bit = Math.floor(place * size);
          if (name === 'set' || name === 'clear') {
            mask[name](bit);
            bits[bit] = name === 'set';
          } else if (name === 'test') {
            expect(mask.test(bit)).toBe(bits[bit]);
          } else if (name === 'findFirst') {
            expect(mask.findFirst()).toBe(first());
          } else if (name === 'findNext') {
            const behind = bits.indexOf(true, bit + 1);
            expect(mask.findNext(bit)).toBe(behind >= 0 ? behind : first());
          } else {
            const expected = first();
            expect(mask.takeFirst()).toBe(expected);
            if (expected !== null) bits[expected] = false;
          }
          expect(mask.any()).toBe(bits.includes(true));
        }
      }),
    );
  });

  it('gives every set bit its turn, in order', () => {
    fc.assert(
      fc.property(sizes, fc.infiniteStream(fc.boolean()), fc.nat(), (size, values, start) => {
        const mask = makeBitMask(size, false);
        const set = Array.from({ length: size }, (_, bit) => bit).filter(() => values.next().value === true);
        for (const bit of set) mask.set(bit);
        let turn = start % size;
        const turns = set.map(() => (turn = mask.findNext(turn) ?? -1));
        expect(turns.toSorted((a, b) => a - b)).toEqual(set);
        expect(turns.filter((bit, place) => place > 0 && bit < turns[place - 1]!).length).toBeLessThanOrEqual(
          1,
        );
      }),
    );
  });

  it('takes bits lowest first until it is empty', () => {
    const mask = makeBitMask(4096, true);
    for (let bit = 0; bit < 4096; bit++) expect(mask.takeFirst()).toBe(bit);
    expect(mask.any()).toBe(false);
    expect(mask.findNext(4095)).toBeNull();
  });
});
