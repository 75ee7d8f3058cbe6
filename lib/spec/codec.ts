// Formats by name, for tools and tests. The data path uses the flat functions beside this file.
import type { FieldDescription, FormatDescription } from './description.ts';
import { enumDescriptions, formatDescriptions } from './descriptions.ts';

/** A number, or a bigint where the field is wider than 53 bits; the bytes of a byte array. */
export type FieldValue = number | bigint | Uint8Array | readonly (number | bigint)[];

/** Input of {@link encode}: a bigint fits any width, and a name of its enum any field that has one. */
export type FieldInput = FieldValue | string | readonly string[];

const formatsByName = new Map(formatDescriptions.map((format) => [format.name, format]));
const enumsByName = new Map(enumDescriptions.map((each) => [each.name, each]));

/**
 * The bytes of a structure. Fields that are not given are zero, and so are reserved bits.
 * @param formatName as in the specification, for example `command_header`
 * @throws TypeError for an unknown format, field or enum name, or a value of the wrong kind
 * @throws RangeError for a value that does not fit its field
 */
export function encode(formatName: string, fields: Readonly<Record<string, FieldInput>>): Uint8Array {
  const format = findFormat(formatName);
  const bytes = new Uint8Array(format.bytes);
  for (const [name, value] of Object.entries(fields)) {
    const field = format.fields.find((each) => each.name === name);
    if (field === undefined) {
      const known = format.fields.map((each) => each.name).join(', ');
      throw new TypeError(`${formatName} has no field ${name}; it has ${known}`);
    }
    writeField(bytes, format, field, value);
  }
  return bytes;
}

/**
 * The fields of a structure, by name.
 * @param formatName as in the specification
 * @param bytes exactly the bytes of the format
 * @throws TypeError for an unknown format
 * @throws RangeError for a wrong number of bytes
 */
export function decode(formatName: string, bytes: Uint8Array): Record<string, FieldValue> {
  const format = findFormat(formatName);
  if (bytes.length !== format.bytes) {
    throw new RangeError(`${formatName} has ${format.bytes} bytes, not ${bytes.length}`);
  }
  return Object.fromEntries(format.fields.map((field) => [field.name, readField(bytes, format, field)]));
}

function findFormat(name: string): FormatDescription {
  const format = formatsByName.get(name);
  if (format === undefined) {
    throw new TypeError(`no format ${name}; there are ${[...formatsByName.keys()].join(', ')}`);
  }
  return format;
}

function writeField(
  bytes: Uint8Array,
  format: FormatDescription,
  field: FieldDescription,
  value: FieldInput,
): void {
  const where = `${format.name}.${field.name}`;
  if (field.shape === 'bytes') {
    if (!(value instanceof Uint8Array)) throw new TypeError(`${where} takes a Uint8Array`);
    if (value.length !== field.count)
      throw new RangeError(`${where} has ${field.count} bytes, not ${value.length}`);
    bytes.set(value, field.bit / 8);
    return;
  }
  const elements: readonly unknown[] =
    field.shape === 'array' ? elementsOf(value, where, field.count) : [value];
  for (const [index, element] of elements.entries()) {
    writeBits(bytes, format, field.bit + index * field.width, field.width, numberOf(element, where, field));
  }
}

function elementsOf(value: FieldInput, where: string, count: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${where} takes a list of ${count}`);
  if (value.length !== count) throw new RangeError(`${where} has ${count} elements, not ${value.length}`);
  return value;
}

function numberOf(value: unknown, where: string, { width, enumeration }: FieldDescription): bigint {
  if (typeof value === 'string' && enumeration !== undefined) return enumValue(value, where, enumeration);
  const number = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof number !== 'bigint') throw new TypeError(`${where} takes a whole number, not ${String(value)}`);
  const limit = 1n << BigInt(width);
  if (number < 0n || number >= limit) throw new RangeError(`${where} is 0 to ${limit - 1n}, not ${number}`);
  return number;
}

function enumValue(name: string, where: string, enumeration: string): bigint {
  const values = enumsByName.get(enumeration)?.values ?? [];
  const found = values.find((each) => each.name === name);
  if (found === undefined) {
    throw new TypeError(
      `${where} has no value ${name}; there are ${values.map((each) => each.name).join(', ')}`,
    );
  }
  return BigInt(found.value);
}

function readField(bytes: Uint8Array, format: FormatDescription, field: FieldDescription): FieldValue {
  const { bit, width, count, shape } = field;
  if (shape === 'bytes') return bytes.slice(bit / 8, bit / 8 + count);
  const elements = Array.from({ length: count }, (_, index) => {
    const value = readBits(bytes, format, bit + index * width, width);
    return width > 53 ? value : Number(value);
  });
  return shape === 'array' ? elements : elements[0]!;
}

/** Place of the bit of weight 2^`weight` of a number that begins at `start` and is `width` bits wide. */
function bitPlace(
  { byteOrder }: FormatDescription,
  start: number,
  width: number,
  weight: number,
): [number, number] {
  const bit = byteOrder === 'little' ? start + weight : start + width - 1 - weight;
  return [bit >>> 3, byteOrder === 'little' ? bit & 7 : 7 - (bit & 7)];
}

// A number is moved in pieces, each as much as lies in one byte: places grow with weights in either byte order.

function writeBits(
  bytes: Uint8Array,
  format: FormatDescription,
  start: number,
  width: number,
  value: bigint,
): void {
  for (let weight = 0, piece = 0; weight < width; weight += piece) {
    const [byte, place] = bitPlace(format, start, width, weight);
    piece = Math.min(8 - place, width - weight);
    bytes[byte]! |= (Number((value >> BigInt(weight)) & 0xffn) & ((1 << piece) - 1)) << place;
  }
}

function readBits(bytes: Uint8Array, format: FormatDescription, start: number, width: number): bigint {
  let value = 0n;
  for (let weight = 0, piece = 0; weight < width; weight += piece) {
    const [byte, place] = bitPlace(format, start, width, weight);
    piece = Math.min(8 - place, width - weight);
    value |= BigInt((bytes[byte]! >>> place) & ((1 << piece) - 1)) << BigInt(weight);
  }
  return value;
}
