import { loadTestAddon } from '../helpers/test_addon.ts';

/**
 * native/test/spec_formats_port.h: formats by name, through the setters and getters of C++. Elements are the
 * values of the fields in order: one for a number, one per element of an array, one per byte of a byte array.
 */
interface SpecFormats {
  encodeFormat(format: string, elements: BigUint64Array): Uint8Array;
  decodeFormat(format: string, bytes: Uint8Array): BigUint64Array;
  reservedIsZero(format: string, bytes: Uint8Array): boolean;
}

export const { encodeFormat, decodeFormat, reservedIsZero } = loadTestAddon() as SpecFormats;
