// Golden bytes: structures whose fields and bytes are both written down, for every language to reproduce.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Faults, checkEntry, integer, kinds } from './schema.mjs';
import { namedFields, ones } from './text.mjs';

const file = 'golden.json';

/**
 * @typedef {import('./layout.mjs').Field} Field
 * @typedef {object} GoldenEntry
 * @property {string} name
 * @property {import('./model.mjs').Format} format
 * @property {Uint8Array} bytes
 * @property {{field: Field, value: bigint | bigint[] | Uint8Array, enumValue?: string}[]} fields every named field, those that
 *   are not given as zero
 */

/**
 * Reads and checks golden.json.
 * @returns {GoldenEntry[]}
 * @throws {Error} that lists every fault
 */
export function readGolden(directory, model) {
  const faults = new Faults();
  let entries = [];
  try {
    entries = JSON.parse(readFileSync(path.join(directory, file), 'utf8'));
  } catch (error) {
    faults.add(file, `must be a JSON file: ${error.message}`);
  }
  const formats = new Map(model.files.flatMap((each) => each.formats).map((format) => [format.name, format]));
  const enums = new Map(model.enums.map((each) => [each.name, each]));
  const golden = entries.flatMap((entry, index) => {
    const where = `${file}: ${entry?.name ?? `[${index}]`}`;
    if (!checkEntry(entry, kinds.golden, where, faults)) return [];
    const format = formats.get(entry.format);
    if (format === undefined) {
      faults.add(where, `no format "${entry.format}"; there are ${[...formats.keys()].join(', ')}`);
      return [];
    }
    const bytes = bytesOf(entry.hex.join(''));
    if (bytes?.length !== format.bytes) {
      faults.add(where, `"hex" must hold ${format.bytes} bytes, two hexadecimal digits each`);
      return [];
    }
    return [
      { name: entry.name, format, bytes, fields: readFields(entry.fields, format, enums, where, faults) },
    ];
  });
  if (faults.list.length > 0) throw new Error(faults.list.join('\n'));
  return golden;
}

/** The bytes of hexadecimal digits, in which spaces do not count; undefined when something else stands there. */
function bytesOf(digits) {
  const packed = typeof digits === 'string' ? digits.replaceAll(' ', '') : '-';
  if (!/^([0-9a-f]{2})*$/.test(packed)) return undefined;
  return Uint8Array.from(packed.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function readFields(given, format, enums, where, faults) {
  const fields = namedFields(format);
  for (const name of Object.keys(given)) {
    if (fields.some((field) => field.name === name)) continue;
    faults.add(
      where,
      `${format.name} has no field "${name}"; it has ${fields.map((field) => field.name).join(', ')}`,
    );
  }
  return fields.map((field) => readValue(field, given[field.name], enums, `${where}.${field.name}`, faults));
}

function readValue(field, given, enums, where, faults) {
  if (field.shape === 'bytes') {
    const value = given === undefined ? new Uint8Array(field.count) : bytesOf(given);
    if (value?.length !== field.count)
      faults.add(where, `must hold ${field.count} bytes, two hexadecimal digits each`);
    return { field, value };
  }
  if (field.array) {
    const list = given ?? Array(field.count).fill(0);
    if (!Array.isArray(list) || list.length !== field.count)
      faults.add(where, `must be a list of ${field.count}`);
    return { field, value: [list].flat().map((each) => readNumber(field, each, where, faults)) };
  }
  if (field.enum === undefined) return { field, value: readNumber(field, given ?? 0, where, faults) };
  const { values } = enums.get(field.enum);
  const found = values.find((each) => (given === undefined ? each.value === 0n : each.name === given));
  if (found === undefined)
    faults.add(where, `must be one of ${values.map((each) => `"${each.name}"`).join(', ')}`);
  return { field, value: found?.value, enumValue: found?.name };
}

function readNumber({ width }, given, where, faults) {
  const value = integer(given);
  if (value === undefined || value < 0n || value > ones(width)) {
    faults.add(where, `must be a whole number or "0x…" string up to 0x${ones(width).toString(16)}`);
  }
  return value;
}
