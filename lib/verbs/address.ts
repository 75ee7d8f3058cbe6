import { wrongRange, wrongType } from '../driver/arguments.ts';

const rule = '0 to 2^53 - 1, or a bigint of 0 to 2^64 - 1';
const high = 2 ** 32;
const words = new BigUint64Array(1);
const halves = new Uint32Array(words.buffer);

/** A 64-bit address in two halves, as the data path uses it. */
export interface AddressHalves {
  readonly addressLow: number;
  readonly addressHigh: number;
}

/**
 * Splits an address.
 * @throws TypeError neither number nor bigint; RangeError: not an integer from 0 to 2^53 − 1, or not a bigint from 0 to 2^64 − 1
 */
export function splitAddress(address: number | bigint, path = 'address'): AddressHalves {
  if (typeof address === 'number') {
    if (!Number.isSafeInteger(address) || address < 0) throw wrongRange(path, rule, address);
    return { addressLow: address >>> 0, addressHigh: Math.floor(address / high) };
  }
  if (typeof address !== 'bigint') throw wrongType(path, rule, address);
  words[0] = address;
  if (words[0] !== address) throw wrongRange(path, rule, address);
  return { addressLow: halves[0]!, addressHigh: halves[1]! };
}

/** Joins two halves to an address. */
export function joinAddress({ addressLow, addressHigh }: AddressHalves): bigint {
  return BigInt(addressLow) | (BigInt(addressHigh) << 32n);
}

/**
 * Throws if a range is outside a memory.
 * @param what names the memory in the error
 * @throws RangeError
 */
export function checkRange(what: string, total: number, offset: number, length: number): void {
  const isWithin = (value: number, most: number): boolean =>
    Number.isSafeInteger(value) && value >= 0 && value <= most;
  if (!isWithin(offset, total)) throw wrongRange('offset', `0 to ${total}, within ${what}`, offset);
  if (isWithin(length, total - offset)) return;
  const expected = `0 to ${total - offset}, from offset ${offset} to the end of ${what}`;
  throw wrongRange('length', expected, length);
}
