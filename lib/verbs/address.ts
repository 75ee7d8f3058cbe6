const high = 2 ** 32;
const words = new BigUint64Array(1);
const halves = new Uint32Array(words.buffer);

/** A 64-bit address in two halves, as the data path takes it. */
export interface AddressHalves {
  readonly addressLow: number;
  readonly addressHigh: number;
}

/**
 * Splits an address.
 * @throws TypeError neither number nor bigint; RangeError: not a whole number from 0 to 2^53 − 1, or a bigint from 0 to 2^64 − 1
 */
export function splitAddress(address: number | bigint): AddressHalves {
  if (typeof address === 'number') {
    if (!Number.isSafeInteger(address) || address < 0) throw wrongAddress(address);
    return { addressLow: address >>> 0, addressHigh: Math.floor(address / high) };
  }
  if (typeof address !== 'bigint')
    throw new TypeError(`an address is a number or a bigint, not ${String(address)}`);
  words[0] = address;
  if (words[0] !== address) throw wrongAddress(address);
  return { addressLow: halves[0]!, addressHigh: halves[1]! };
}

/** The address of two halves. */
export function joinAddress({ addressLow, addressHigh }: AddressHalves): bigint {
  return BigInt(addressLow) | (BigInt(addressHigh) << 32n);
}

/**
 * Refuses a range that is not part of a memory.
 * @param what names the memory in the error
 * @throws RangeError
 */
export function checkRange(what: string, total: number, offset: number, length: number): void {
  const isWhole = Number.isSafeInteger(offset) && Number.isSafeInteger(length);
  if (isWhole && offset >= 0 && length >= 0 && offset + length <= total) return;
  throw new RangeError(
    `offset ${offset} and length ${length} must be whole numbers within the ${total} B of ${what}`,
  );
}

function wrongAddress(address: number | bigint): RangeError {
  return new RangeError(
    `an address is a whole number from 0 to 2^53 - 1, or a bigint from 0 to 2^64 - 1, not ${address}`,
  );
}
