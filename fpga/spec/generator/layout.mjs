// Where each field lies. Bits count from 0 in the order in which a format is drawn: from the least
// significant bit of the first byte in little-endian formats, from the most significant bit of the first byte
// (first on the wire) in big-endian formats.
import { checkEntry, kinds } from './schema.mjs';

/**
 * A field that has its place.
 * @typedef {object} Field
 * @property {string} name empty for reserved bits
 * @property {number} bit first bit
 * @property {number} width bits of one element
 * @property {number} count elements; 1 unless it is an array
 * @property {boolean} array whether an index selects an element
 * @property {'number' | 'bytes' | 'reserved'} shape
 * @property {string} [enum]
 * @property {string} [unit]
 * @property {string} [writer] the block that writes it, where that is not the writer of its format
 * @property {string} doc
 */

const shapeOf = (entry) => {
  if (entry !== null && typeof entry === 'object') {
    if ('reserved' in entry) return 'reserved';
    if ('bytes' in entry) return 'bytes';
  }
  return 'number';
};

const kindOf = { reserved: kinds.reserved, bytes: kinds.byteArray, number: kinds.number };

/**
 * Places the fields of a format or register one after the other and checks the rules of alignment.
 * @param {unknown[]} entries the JSON list
 * @param {{bits: number, order: 'little' | 'big', where: string, enums: Map<string, {width: number}>}} container
 * @param {import('./schema.mjs').Faults} faults
 * @returns {Field[]}
 */
export function layOut(entries, { bits, order, where, enums }, faults) {
  const fields = [];
  let bit = 0;
  for (const [index, entry] of entries.entries()) {
    const shape = shapeOf(entry);
    const here = `${where}.${entry?.name ?? `fields[${index}]`}`;
    if (!checkEntry(entry, kindOf[shape], here, faults)) return fields;
    const field = place(entry, shape, bit);
    for (const fault of placeFaults(field, order)) faults.add(here, fault);
    for (const fault of enumFaults(field, enums)) faults.add(here, fault);
    bit += field.width * field.count;
    fields.push(field);
  }
  if (bit !== bits) {
    const [difference, cure] =
      bit < bits ? [bits - bit, 'add fields or reserved bits'] : [bit - bits, 'remove them'];
    faults.add(
      where,
      `fields fill ${bit} of ${bits} bits: ${difference} bits ${bit < bits ? 'are missing' : 'too many'}; ${cure}`,
    );
  }
  return fields;
}

function place(entry, shape, bit) {
  const { doc = '', unit } = entry;
  if (shape === 'reserved')
    return { name: '', bit, width: entry.reserved, count: 1, array: false, shape, doc };
  const { name } = entry;
  if (shape === 'bytes') return { name, bit, width: 8, count: entry.bytes, array: false, shape, unit, doc };
  const { width, count = 1 } = entry;
  return {
    name,
    bit,
    width,
    count,
    array: 'count' in entry,
    shape,
    enum: entry.enum,
    unit,
    writer: entry.writer,
    doc,
  };
}

function* placeFaults({ bit, width, array, shape }, order) {
  if (shape === 'reserved') return;
  const at = `starts at bit ${bit}`;
  if (shape === 'bytes') {
    if (bit % 8 !== 0) yield `${at}; a byte array starts at a multiple of 8`;
    return;
  }
  if (width > 64) yield `is ${width} bits wide; at most 64, or a byte array ("bytes")`;
  if (array && !Number.isInteger(Math.log2(width))) {
    yield `is an array of ${width}-bit elements; their width must be a power of two`;
  }
  if (array && bit % width !== 0) yield `${at}; an array starts at a multiple of its width ${width}`;
  if (width <= 32) {
    if ((bit % 32) + width > 32 && !array) {
      yield `${at} and is ${width} bits wide, so it crosses a 32-bit boundary; move it to bit ${Math.ceil(bit / 32) * 32}`;
    }
    return;
  }
  const alignment = order === 'big' ? 32 : 64;
  if (bit % alignment !== 0) {
    yield `${at}; a field of ${width} bits starts at a multiple of ${alignment}`;
  }
  if (order === 'big' && width !== 64)
    yield `is ${width} bits wide; above 32 a big-endian field has 64, or is a byte array`;
}

function* enumFaults(field, enums) {
  if (field.enum === undefined) return;
  if (field.array) yield 'is an array of an enum; an array holds numbers';
  const known = enums.get(field.enum);
  if (known === undefined)
    yield `enum "${field.enum}" is not in enums.json; there are ${[...enums.keys()].join(', ')}`;
  else if (known.width !== field.width) {
    yield `is ${field.width} bits wide but enum "${field.enum}" has ${known.width}; they must agree`;
  }
}
