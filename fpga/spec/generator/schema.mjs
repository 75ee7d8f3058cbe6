// The shape of the specification's JSON: which keys an entry has and what stands in them.
import { nameFault } from './names.mjs';

/**
 * Collects what is wrong, each with the file and the entry it is in.
 */
export class Faults {
  /** @type {string[]} */
  list = [];

  /**
   * @param {string} where file and entry, for example `registers.json: identity.magic`
   * @param {string} what what is wrong and what would be right
   */
  add(where, what) {
    this.list.push(`${where}: ${what}`);
  }
}

/**
 * Reads a JSON number or a "0x…" string as a bigint; undefined when it is neither.
 * @returns {bigint | undefined}
 */
export function integer(value) {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value)) return BigInt(value);
  return undefined;
}

const text = (value) =>
  typeof value === 'string' && value.trim() !== ''
    ? undefined
    : 'must be a sentence (a string that is not empty)';
const natural = (value) =>
  integer(value) !== undefined && integer(value) >= 0n
    ? undefined
    : 'must be a whole number or a "0x…" string';
const positive = (value) =>
  Number.isSafeInteger(value) && value > 0 ? undefined : 'must be a whole number above 0';
const object = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'must be an object';
const flag = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');
const list = (value) => (Array.isArray(value) ? undefined : 'must be a list');
const oneOf =
  (...allowed) =>
  (value) =>
    allowed.includes(value) ? undefined : `must be one of ${allowed.map((each) => `"${each}"`).join(', ')}`;
const named = (use) => (value) => nameFault(value, use);

/** Per kind of entry: the checks of its keys. A "?" before a key makes it optional. */
export const kinds = {
  parameterFile: { parameters: list },
  parameter: { name: named('constant'), value: natural, '?unit': text, doc: text },
  pciFunctionFile: { pci_functions: list },
  pciFunction: {
    name: named('constant'),
    vendor: natural,
    device: natural,
    '?subsystem_vendor': natural,
    '?subsystem_device': natural,
    doc: text,
  },
  enumFile: { enums: list },
  enum: { name: named('constant'), width: positive, doc: text, values: list },
  enumValue: { name: named('constant'), value: natural, doc: text },
  operationsFile: { source: text, doc: text, operations: list },
  operation: {
    opcode: named('constant'),
    services: list,
    '?packets': named('constant'),
    data: named('constant'),
    '?remote_right': named('constant'),
    '?carries': named('constant'),
    ordering: named('constant'),
    completion: named('constant'),
  },
  packetOpcodesFile: { source: text, doc: text, reserved: list, packet_opcodes: list },
  packetOpcode: {
    opcode: named('constant'),
    '?service': named('constant'),
    operation: named('constant'),
    position: named('constant'),
    headers: list,
    payload: flag,
  },
  queuePairTransitionsFile: { source: text, doc: text, queue_pair_transitions: list },
  queuePairTransition: {
    service: named('constant'),
    from: named('constant'),
    to: named('constant'),
    required: list,
    optional: list,
  },
  consumersFile: { typescript_flat_functions: object },
  consumer: { doc: text, formats: list },
  formatFile: { subject: text, formats: list },
  format: {
    name: named('constant'),
    bytes: positive,
    byte_order: oneOf('little', 'big'),
    doc: text,
    fields: list,
    '?source': text,
    '?kind': named('constant'),
    '?writer': named('constant'),
  },
  reserved: { reserved: positive, '?doc': text },
  number: {
    name: named('member'),
    width: positive,
    doc: text,
    '?count': positive,
    '?enum': named('constant'),
    '?unit': text,
    '?writer': named('constant'),
  },
  byteArray: { name: named('member'), bytes: positive, doc: text, '?unit': text },
  golden: { name: named('constant'), format: named('constant'), fields: object, hex: list },
  registerFile: { blocks: list },
  block: { name: named('constant'), doc: text, bytes: positive, registers: list },
  register: {
    name: named('constant'),
    offset: natural,
    access: oneOf('ro', 'rw', 'wo', 'w1c', 'ro_side_effect'),
    doc: text,
    '?reset': natural,
    '?width': oneOf(32, 64),
    '?count': positive,
    '?stride': positive,
    '?unit': text,
    '?fields': list,
  },
};

/**
 * Checks one entry's keys against its kind.
 * @param {unknown} entry
 * @param {Record<string, (value: unknown) => string | undefined>} kind
 * @param {string} where
 * @param {Faults} faults
 * @returns {boolean} whether nothing was wrong
 */
export function checkEntry(entry, kind, where, faults) {
  const before = faults.list.length;
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    faults.add(where, `must be an object with ${Object.keys(kind).join(', ')}`);
    return false;
  }
  for (const [marked, check] of Object.entries(kind)) {
    const key = marked.replace('?', '');
    if (key in entry) {
      const fault = check(entry[key]);
      if (fault !== undefined) faults.add(where, fault.startsWith('name ') ? fault : `"${key}" ${fault}`);
    } else if (!marked.startsWith('?')) faults.add(where, `"${key}" is missing`);
  }
  const allowed = Object.keys(kind).map((key) => key.replace('?', ''));
  for (const key of Object.keys(entry)) {
    if (!allowed.includes(key)) faults.add(where, `unknown key "${key}"; allowed are ${allowed.join(', ')}`);
  }
  return faults.list.length === before;
}

/** Reports names that occur twice in a list of entries. */
export function checkUnique(entries, where, what, faults) {
  const seen = new Set();
  for (const { name } of entries) {
    if (name === undefined) continue;
    if (seen.has(name)) faults.add(where, `two ${what} are called "${name}"; names are unique`);
    seen.add(name);
  }
}
