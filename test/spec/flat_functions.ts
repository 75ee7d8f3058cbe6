import * as spec from '../../lib/spec/index.ts';
import type { FieldDescription, FieldValue, FormatDescription } from '../../lib/spec/index.ts';

const pascalCase = (name: string): string =>
  name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const exported: Readonly<Record<string, unknown>> = spec;

type Single = number | bigint | Uint8Array;
type Accessor = (view: DataView, base: number, value?: Single) => Single;

function named(name: string): Accessor {
  const found = exported[name];
  if (typeof found !== 'function') throw new Error(`lib/spec exports no function ${name}`);
  return found as Accessor;
}

/** Formats whose fields have functions of their own. */
export const flatFormats: readonly FormatDescription[] = spec.formatDescriptions.filter(
  ({ name, fields }) => {
    const functions = fields.map((field) => `get${pascalCase(name)}${pascalCase(field.name)}` in exported);
    if (functions.every(Boolean)) return true;
    if (functions.some(Boolean)) throw new Error(`only some fields of ${name} have functions`);
    return false;
  },
);

const nameOf = (format: FormatDescription, field: FieldDescription): string =>
  pascalCase(format.name) + pascalCase(field.name);

/** Reads a field with the generated function of its name. */
export function getFlat(
  format: FormatDescription,
  field: FieldDescription,
  view: DataView,
  base: number,
): FieldValue {
  const value = named(`get${nameOf(format, field)}`)(view, base);
  return field.width <= 53 && typeof value === 'bigint' ? Number(value) : value;
}

/** Reads the two halves of a field over 32 bits. */
export function getFlatHalves(
  format: FormatDescription,
  field: FieldDescription,
  view: DataView,
  base: number,
): bigint {
  const half = (name: string): bigint =>
    BigInt(Number(named(`get${nameOf(format, field)}${name}`)(view, base)));
  return (half('High') << 32n) | half('Low');
}

/** Writes a field with the generated function of its name. */
export function setFlat(
  format: FormatDescription,
  field: FieldDescription,
  view: DataView,
  base: number,
  value: FieldValue,
): void {
  const single = value as Single;
  const written =
    field.shape === 'bytes' ? single : field.width > 32 ? BigInt(single as number) : Number(single);
  named(`set${nameOf(format, field)}`)(view, base, written);
}

/** Writes the two halves of a field over 32 bits. */
export function setFlatHalves(
  format: FormatDescription,
  field: FieldDescription,
  view: DataView,
  base: number,
  value: bigint,
): void {
  const half = (name: string): Accessor => named(`set${nameOf(format, field)}${name}`);
  half('Low')(view, base, Number(value & 0xffffffffn));
  half('High')(view, base, Number(value >> 32n));
}
