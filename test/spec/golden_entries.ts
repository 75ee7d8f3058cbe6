import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  decode,
  formatDescriptions,
  type FieldDescription,
  type FieldInput,
  type FormatDescription,
} from '../../lib/spec/index.ts';

/** A structure whose fields and bytes are both in fpga/spec/golden.json. */
export interface GoldenEntry {
  readonly name: string;
  readonly format: FormatDescription;
  readonly bytes: Uint8Array;
  /** The given fields; the others are zero. */
  readonly fields: Readonly<Record<string, FieldInput>>;
}

interface WrittenEntry {
  name: string;
  format: string;
  fields: Record<string, number | string>;
  hex: string[];
}

const file = fileURLToPath(new URL('../../fpga/spec/golden.json', import.meta.url));

const bytesOf = (digits: string): Uint8Array =>
  Uint8Array.from(Buffer.from(digits.replaceAll(' ', ''), 'hex'));

/** A value as decode() returns it, except that an enum is given by name. */
function inputOf(field: FieldDescription, written: number | string): FieldInput {
  if (field.shape === 'bytes') return bytesOf(String(written));
  if (field.enumeration !== undefined) return written;
  return field.width > 53 ? BigInt(written) : Number(written);
}

function entryOf({ name, format: formatName, fields, hex }: WrittenEntry): GoldenEntry {
  const format = formatDescriptions.find((each) => each.name === formatName);
  if (format === undefined) throw new Error(`golden.json: ${name} has the unknown format ${formatName}`);
  const inputs = Object.entries(fields).map(([field, written]): [string, FieldInput] => {
    const description = format.fields.find((each) => each.name === field);
    if (description === undefined) throw new Error(`golden.json: ${name} has the unknown field ${field}`);
    return [field, inputOf(description, written)];
  });
  return { name, format, bytes: bytesOf(hex.join('')), fields: Object.fromEntries(inputs) };
}

/** All entries of fpga/spec/golden.json. */
export const goldenEntries: readonly GoldenEntry[] = (
  JSON.parse(readFileSync(file, 'utf8')) as WrittenEntry[]
).map(entryOf);

/**
 * The values of a structure's fields in order: one for a number, one per element of an array, one per byte of
 * a byte array.
 */
export function goldenElements({ format, bytes }: GoldenEntry): BigUint64Array {
  const values = decode(format.name, bytes);
  return BigUint64Array.from(
    format.fields.flatMap(({ name }) => {
      const value = values[name]!;
      return typeof value === 'object' ? [...value].map(BigInt) : [BigInt(value)];
    }),
  );
}
