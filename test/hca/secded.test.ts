import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { secdedDecode, secdedEncode } from './secded_port.ts';

const dataBits = 64;
const bits = 72;

const ones = (value: number): number => value.toString(2).replaceAll('0', '').length;

// The columns as native/hca/lists/secded.h states them.
const columns = [
  ...Array.from({ length: 256 }, (_, value) => value).filter((value) => ones(value) === 3),
  ...Array.from({ length: 8 }, (_, rotation) => ((0x1f << rotation) | (0x1f >> (8 - rotation))) & 0xff),
];

const plainEncode = (data: bigint): number =>
  columns.reduce((check, column, bit) => (((data >> BigInt(bit)) & 1n) === 1n ? check ^ column : check), 0);

// A stored word with some bits wrong: data bits first, then check bits.
const damage = (data: bigint, wrong: readonly number[]): [bigint, number] => {
  let check = secdedEncode(data);
  for (const bit of wrong) {
    if (bit < dataBits) data ^= 1n << BigInt(bit);
    else check ^= 1 << (bit - dataBits);
  }
  return [data, check];
};

const words = [0n, 2n ** 64n - 1n, 0x0123456789abcdefn, 0xaaaaaaaaaaaaaaaan, 0x8000000000000001n];
const word = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

describe('SECDED over 64 data and 8 check bits', () => {
  it('has distinct columns of odd weight, 26 data bits to a check bit', () => {
    expect(new Set(columns).size).toBe(dataBits);
    expect(columns.every((column) => ones(column) % 2 === 1 && ones(column) > 1)).toBe(true);
    for (let row = 0; row < 8; row++)
      expect(columns.filter((column) => (column >> row) & 1)).toHaveLength(26);
  });

  it('encodes by its columns', () => {
    fc.assert(fc.property(word, (data) => secdedEncode(data) === plainEncode(data)));
  });

  it('returns the written data', () => {
    for (const data of words)
      expect(secdedDecode(data, secdedEncode(data))).toEqual({ status: 'clean', data });
  });

  it('corrects every single-bit error', () => {
    for (const data of words)
      for (let bit = 0; bit < bits; bit++)
        expect(secdedDecode(...damage(data, [bit])), `bit ${bit}`).toEqual({ status: 'corrected', data });
  });

  it('detects every double-bit error, and returns the word as read', () => {
    for (const data of words)
      for (let first = 0; first < bits; first++)
        for (let second = first + 1; second < bits; second++) {
          const damaged = damage(data, [first, second]);
          const decoded = secdedDecode(...damaged);
          if (decoded.status !== 'uncorrectable' || decoded.data !== damaged[0])
            expect(decoded, `bits ${first} and ${second}`).toEqual({
              status: 'uncorrectable',
              data: damaged[0],
            });
        }
  });
});
