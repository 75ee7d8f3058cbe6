// From the JSON of the specification to one checked model, which every output is written from.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { layOut } from './layout.mjs';
import { pascalCase } from './names.mjs';
import { Faults, checkEntry, checkUnique, integer, kinds } from './schema.mjs';
import { enumsOfOperation } from './operations.mjs';
import { enumsOfPacketOpcode } from './packet_opcodes.mjs';
import { enumsOfTransition } from './queue_pair_transitions.mjs';

/**
 * @typedef {import('./layout.mjs').Field} Field
 * @typedef {{name: string, value: bigint, unit?: string, doc: string}} Parameter
 * @typedef {{name: string, width: number, doc: string, values: {name: string, value: bigint, doc: string}[]}} Enum
 * @typedef {{name: string, bytes: number, order: 'little' | 'big', kind?: string, source?: string, writer?: string, doc: string, fields: Field[]}} Format
 * @typedef {{stem: string, subject: string, formats: Format[]}} FormatFile
 * @typedef {{name: string, offset: number, access: string, reset: bigint, width: number, count: number, stride: number, array: boolean, unit?: string, doc: string, fields: Field[]}} Register
 * @typedef {{name: string, bytes: number, doc: string, registers: Register[]}} Block
 * @typedef {{name: string, vendor: number, device: number, subsystemVendor?: number, subsystemDevice?: number, doc: string}} PciFunction
 * @typedef {{pciFunctions: PciFunction[], parameters: Parameter[], enums: Enum[], files: FormatFile[], blocks: Block[]}} Model
 */

// Files of these names are written for other subjects.
const takenStems = new Set([
  'parameters',
  'enums',
  'registers',
  'descriptions',
  'description',
  'pci_functions',
  'operations',
  'packet_opcodes',
  'queue_pair_transitions',
  'codec',
  'index',
  'byte_order',
]);

/**
 * Reads and checks the specification.
 * @param {string} directory the folder that holds pci_functions.json, parameters.json, enums.json, registers.json, consumers.json,
 *   operations.json, packet_opcodes.json, queue_pair_transitions.json and formats/
 * @returns {Model}
 * @throws {Error} that lists every fault, with file, entry and what would be right
 */
export function readModel(directory) {
  const faults = new Faults();
  const pciFunctions = readPciFunctions(directory, faults);
  const parameters = readParameters(directory, faults);
  const enums = readEnums(directory, faults);
  const enumsByName = new Map(enums.map((each) => [each.name, each]));
  const files = readFormatFiles(directory, enumsByName, faults);
  const blocks = readBlocks(directory, enumsByName, faults);
  const flatFormats = readFlatFormats(directory, files, faults);
  const operations = readOperations(directory, enumsByName, faults);
  const packetOpcodes = readPacketOpcodes(directory, enumsByName, files, faults);
  const queuePairTransitions = readQueuePairTransitions(directory, enumsByName, faults);
  checkTypeNames(enums, files, faults);
  if (faults.list.length > 0) throw new Error(faults.list.join('\n'));
  return {
    pciFunctions,
    parameters,
    enums,
    files,
    blocks,
    flatFormats,
    operations,
    packetOpcodes,
    queuePairTransitions,
  };
}

/** Reads a JSON file whose one list stands under `key`; an unreadable file is a fault and an empty list. */
function readList(directory, file, kind, key, faults) {
  let content;
  try {
    content = JSON.parse(readFileSync(path.join(directory, file), 'utf8'));
  } catch (error) {
    faults.add(file, `must be a JSON file: ${error.message}`);
    return { content: {}, entries: [] };
  }
  if (!checkEntry(content, kind, file, faults)) return { content: {}, entries: [] };
  return { content, entries: content[key] };
}

const whereIn = (file, entry, index, listName) => `${file}: ${entry?.name ?? `${listName}[${index}]`}`;

function readParameters(directory, faults) {
  const file = 'parameters.json';
  const { entries } = readList(directory, file, kinds.parameterFile, 'parameters', faults);
  const parameters = entries.flatMap((entry, index) => {
    const where = whereIn(file, entry, index, 'parameters');
    if (!checkEntry(entry, kinds.parameter, where, faults)) return [];
    const value = integer(entry.value);
    if (value > 0xffffffffn)
      faults.add(where, `value ${value} is above 2^32 - 1, the most that a parameter holds`);
    return [{ ...entry, value }];
  });
  checkUnique(parameters, file, 'parameters', faults);
  return parameters;
}

function readPciFunctions(directory, faults) {
  const file = 'pci_functions.json';
  const { entries } = readList(directory, file, kinds.pciFunctionFile, 'pci_functions', faults);
  const functions = entries.flatMap((entry, index) => {
    const where = whereIn(file, entry, index, 'pci_functions');
    if (!checkEntry(entry, kinds.pciFunction, where, faults)) return [];
    const number = (key) => {
      const value = integer(entry[key] ?? 0);
      if (value > 0xffffn) faults.add(where, `"${key}" is above 0xffff, the most that 16 bits hold`);
      return Number(value);
    };
    if ('subsystem_vendor' in entry !== 'subsystem_device' in entry) {
      faults.add(where, 'one of "subsystem_vendor" and "subsystem_device"; give both or neither');
    }
    const subsystem =
      'subsystem_vendor' in entry
        ? { subsystemVendor: number('subsystem_vendor'), subsystemDevice: number('subsystem_device') }
        : {};
    const { name, doc } = entry;
    return [{ name, vendor: number('vendor'), device: number('device'), ...subsystem, doc }];
  });
  checkUnique(functions, file, 'PCI functions', faults);
  return functions;
}

function readEnums(directory, faults) {
  const file = 'enums.json';
  const { entries } = readList(directory, file, kinds.enumFile, 'enums', faults);
  const enums = entries.flatMap((entry, index) => {
    const where = whereIn(file, entry, index, 'enums');
    if (!checkEntry(entry, kinds.enum, where, faults)) return [];
    if (entry.width > 32) faults.add(where, `is ${entry.width} bits wide; an enum has at most 32`);
    return [{ ...entry, values: readEnumValues(entry, where, faults) }];
  });
  checkUnique(enums, file, 'enums', faults);
  return enums;
}

function readEnumValues(entry, where, faults) {
  if (entry.values.length === 0) faults.add(where, '"values" is empty; an enum has at least one value');
  const values = entry.values.flatMap((each, index) => {
    const here = `${where}.${each?.name ?? `values[${index}]`}`;
    if (!checkEntry(each, kinds.enumValue, here, faults)) return [];
    const value = integer(each.value);
    if (value >> BigInt(entry.width) !== 0n) {
      faults.add(
        here,
        `value ${value} does not fit ${entry.width} bits; at most ${(1n << BigInt(entry.width)) - 1n}`,
      );
    }
    return [{ ...each, value }];
  });
  checkUnique(values, where, 'values', faults);
  const names = new Map();
  for (const { name, value } of values) {
    if (names.has(value))
      faults.add(`${where}.${name}`, `value ${value} is also "${names.get(value)}"; values are unique`);
    names.set(value, name);
  }
  return values;
}

function readFormatFiles(directory, enums, faults) {
  const names = readdirSync(path.join(directory, 'formats'))
    .filter((name) => name.endsWith('.json'))
    .toSorted();
  const files = names.map((name) => {
    const file = `formats/${name}`;
    const stem = name.replace(/\.json$/, '');
    if (takenStems.has(stem))
      faults.add(file, `the name "${stem}" is taken by another output; rename the file`);
    const { content, entries } = readList(directory, file, kinds.formatFile, 'formats', faults);
    const formats = entries.flatMap((entry, index) => readFormat(entry, file, index, enums, faults));
    return { stem, subject: content.subject, formats };
  });
  checkUnique(
    files.flatMap(({ formats }) => formats),
    'formats',
    'formats',
    faults,
  );
  return files;
}

function readQueuePairTransitions(directory, enums, faults) {
  const file = 'queue_pair_transitions.json';
  const key = 'queue_pair_transitions';
  const { content, entries } = readList(directory, file, kinds.queuePairTransitionsFile, key, faults);
  const seen = new Set();
  const checked = entries.filter((entry, index) => {
    const where = `${file}: ${key}[${index}]`;
    if (!checkEntry(entry, kinds.queuePairTransition, where, faults)) return false;
    for (const [member, name] of Object.entries(enumsOfTransition))
      for (const value of [entry[member]].flat()) checkEnumValue(value, enums.get(name), where, faults);
    const change = `${entry.service}: ${entry.from} to ${entry.to}`;
    if (seen.has(change)) faults.add(where, `is the second of ${change}; a transition stands once`);
    seen.add(change);
    return true;
  });
  return { source: content.source, doc: content.doc, entries: checked };
}

function readOperations(directory, enums, faults) {
  const file = 'operations.json';
  const { content, entries } = readList(directory, file, kinds.operationsFile, 'operations', faults);
  const checked = entries.filter((entry, index) => {
    const where = `${file}: ${entry?.opcode ?? `operations[${index}]`}`;
    if (!checkEntry(entry, kinds.operation, where, faults)) return false;
    for (const [member, name] of Object.entries(enumsOfOperation))
      for (const value of [entry[member] ?? []].flat()) checkEnumValue(value, enums.get(name), where, faults);
    return true;
  });
  const opcodes = (enums.get('opcode')?.values ?? []).map(({ name }) => name);
  for (const name of opcodes) {
    const count = checked.filter(({ opcode }) => opcode === name).length;
    if (count !== 1) faults.add(file, `has ${count} operations for the opcode "${name}"; each has one`);
  }
  return { source: content.source, doc: content.doc, entries: checked };
}

function readPacketOpcodes(directory, enums, files, faults) {
  const file = 'packet_opcodes.json';
  const { content, entries } = readList(directory, file, kinds.packetOpcodesFile, 'packet_opcodes', faults);
  const formats = new Set(files.flatMap((each) => each.formats).map(({ name }) => name));
  const checked = entries.filter((entry, index) => {
    const where = `${file}: ${entry?.opcode ?? `packet_opcodes[${index}]`}`;
    if (!checkEntry(entry, kinds.packetOpcode, where, faults)) return false;
    for (const [member, name] of Object.entries(enumsOfPacketOpcode))
      for (const value of [entry[member] ?? []].flat()) checkEnumValue(value, enums.get(name), where, faults);
    for (const name of entry.headers)
      if (!formats.has(`${name}_extended_transport_header`))
        faults.add(where, `carries "${name}", and there is no format ${name}_extended_transport_header`);
    return true;
  });
  for (const { name, value } of enums.get('packet_opcode')?.values ?? []) {
    const count = checked.filter(({ opcode }) => opcode === name).length;
    if (count !== 1) faults.add(file, `has ${count} entries for the opcode "${name}"; each has one`);
    if (content.reserved?.includes(Number(value)))
      faults.add(file, `says that ${value} is reserved, which is the opcode "${name}"`);
  }
  return { source: content.source, doc: content.doc, reserved: content.reserved ?? [], entries: checked };
}

function checkEnumValue(value, enumeration, where, faults) {
  const known = (enumeration?.values ?? []).map(({ name }) => name);
  if (!known.includes(value))
    faults.add(where, `${enumeration?.name} has no value "${value}"; it has ${known.join(', ')}`);
}

/** Names of the formats whose fields TypeScript reads and writes with a function each. */
function readFlatFormats(directory, files, faults) {
  const file = 'consumers.json';
  const key = 'typescript_flat_functions';
  const { entries: consumer } = readList(directory, file, kinds.consumersFile, key, faults);
  if (Array.isArray(consumer) || !checkEntry(consumer, kinds.consumer, `${file}: ${key}`, faults))
    return new Set();
  const known = files.flatMap(({ formats }) => formats).map(({ name }) => name);
  for (const name of consumer.formats)
    if (!known.includes(name))
      faults.add(`${file}: ${key}`, `no format "${name}"; there are ${known.join(', ')}`);
  return new Set(consumer.formats);
}

function readFormat(entry, file, index, enums, faults) {
  const where = whereIn(file, entry, index, 'formats');
  if (!checkEntry(entry, kinds.format, where, faults)) return [];
  const { name, bytes, byte_order: order, kind, source, writer, doc } = entry;
  if (bytes % 4 !== 0) faults.add(where, `is ${bytes} bytes long; a format is a multiple of 4 bytes long`);
  if (kind === 'data_unit' && bytes > 16)
    faults.add(where, `is ${bytes} bytes long; a data unit has at most 16`);
  const fields = layOut(entry.fields, { bits: bytes * 8, order, where, enums }, faults);
  checkUnique(
    fields.filter((field) => field.shape !== 'reserved'),
    where,
    'fields',
    faults,
  );
  if (writer === undefined && fields.some((field) => field.writer !== undefined))
    faults.add(where, 'has a field with a "writer"; then it needs a "writer" of the others');
  return [{ name, bytes, order, kind, source, writer, doc, fields }];
}

function readBlocks(directory, enums, faults) {
  const file = 'registers.json';
  const { entries } = readList(directory, file, kinds.registerFile, 'blocks', faults);
  const blocks = entries.flatMap((entry, index) => {
    const where = whereIn(file, entry, index, 'blocks');
    if (!checkEntry(entry, kinds.block, where, faults)) return [];
    const registers = entry.registers.flatMap((each, place) =>
      readRegister(each, where, place, enums, faults),
    );
    checkUnique(registers, where, 'registers', faults);
    checkOverlaps(registers, entry.bytes, where, faults);
    checkDerivedNames(registers, where, faults);
    return [{ ...entry, registers }];
  });
  checkUnique(blocks, file, 'blocks', faults);
  return blocks;
}

function readRegister(entry, blockWhere, index, enums, faults) {
  const where = `${blockWhere}.${entry?.name ?? `registers[${index}]`}`;
  if (!checkEntry(entry, kinds.register, where, faults)) return [];
  const { name, access, doc, unit, width = 32, count = 1, fields = [] } = entry;
  const offset = Number(integer(entry.offset));
  const stride = entry.stride ?? width / 8;
  const reset = integer(entry.reset ?? 0);
  const register = { name, offset, access, reset, width, count, stride, array: 'count' in entry, unit, doc };
  if (offset % (width / 8) !== 0) {
    faults.add(
      where,
      `offset 0x${offset.toString(16)} is not a multiple of ${width / 8}, the register's size`,
    );
  }
  if ('stride' in entry && !register.array)
    faults.add(where, '"stride" without "count"; give both or neither');
  if (stride < width / 8 || stride % (width / 8) !== 0) {
    faults.add(where, `stride ${stride} is not a multiple of ${width / 8}, the register's size`);
  }
  if (reset >> BigInt(width) !== 0n)
    faults.add(where, `reset 0x${reset.toString(16)} does not fit ${width} bits`);
  if (fields.length === 0) return [{ ...register, fields: [] }];
  const placed = layOut(fields, { bits: width, order: 'little', where, enums }, faults);
  for (const { name: field, shape } of placed) {
    if (shape === 'bytes') faults.add(`${where}.${field}`, 'is a byte array; a register field has a width');
  }
  return [{ ...register, fields: placed }];
}

function checkOverlaps(registers, bytes, where, faults) {
  const taken = new Map();
  for (const { name, offset, width, count, stride } of registers) {
    for (let index = 0; index < count; index += 1) {
      const start = offset + index * stride;
      if (start + width / 8 > bytes) {
        faults.add(`${where}.${name}`, `ends at byte ${start + width / 8}, beyond the block's ${bytes}`);
        return;
      }
      for (let byte = start; byte < start + width / 8; byte += 4) {
        if (taken.has(byte)) {
          faults.add(`${where}.${name}`, `overlaps "${taken.get(byte)}" at offset 0x${byte.toString(16)}`);
          return;
        }
        taken.set(byte, name);
      }
    }
  }
}

/** A register has constants of its own name with a suffix, which no other register may be called. */
function checkDerivedNames(registers, where, faults) {
  const names = new Set(registers.map(({ name }) => name));
  for (const { name, array } of registers) {
    for (const suffix of array ? ['count', 'stride', 'reset'] : ['reset']) {
      if (!names.has(`${name}_${suffix}`)) continue;
      faults.add(
        `${where}.${name}_${suffix}`,
        `this is also what the ${suffix} of "${name}" is called; rename one of the two`,
      );
    }
  }
}

/** Enums and formats become types, so they share one set of names. */
function checkTypeNames(enums, files, faults) {
  const formatNames = new Set(files.flatMap(({ formats }) => formats).map(({ name }) => pascalCase(name)));
  for (const { name } of enums) {
    if (formatNames.has(pascalCase(name))) {
      faults.add(
        `enums.json: ${name}`,
        `a format has this name too; enums and formats share one set of names`,
      );
    }
  }
}
