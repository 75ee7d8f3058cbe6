// TypeScript: the whole specification as data, for tools that work by name.
import { namedFields, notice } from './text.mjs';

const withoutUndefined = (object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

const fieldDescription = ({ name, bit, width, count, array, shape, enum: enumeration, unit, doc }) =>
  withoutUndefined({ name, bit, width, count, shape: array ? 'array' : shape, enumeration, unit, doc });

const formatDescription = ({ name, bytes, order, kind, source, doc, ...rest }) =>
  withoutUndefined({
    name,
    bytes,
    byteOrder: order,
    kind,
    source,
    doc,
    fields: namedFields(rest).map(fieldDescription),
  });

const registerDescription = ({ name, offset, access, reset, width, count, stride, unit, doc, ...rest }) =>
  withoutUndefined({
    name,
    offset,
    access,
    reset,
    width,
    count,
    stride,
    unit,
    doc,
    fields: namedFields(rest).map(fieldDescription),
  });

/** A value as the formatter writes it, except that an object without objects in it stands in one line. */
function literal(value, indent) {
  const deeper = `${indent}  `;
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `0x${value.toString(16)}n`;
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((each) => `${deeper}${literal(each, deeper)},\n`).join('')}${indent}]`;
  }
  const entries = Object.entries(value);
  if (entries.every(([, each]) => typeof each !== 'object')) {
    return `{ ${entries.map(([key, each]) => `${key}: ${literal(each, '')}`).join(', ')} }`;
  }
  return `{\n${entries.map(([key, each]) => `${deeper}${key}: ${literal(each, deeper)},\n`).join('')}${indent}}`;
}

const quoted = (text) => (text.includes("'") ? JSON.stringify(text) : `'${text.replaceAll('\\', '\\\\')}'`);

/** descriptions.ts */
export function tsDescriptions({ parameters, enums, files, blocks }) {
  const lists = [
    [
      'parameterDescriptions',
      'ParameterDescription',
      parameters.map((each) => withoutUndefined({ ...each, value: Number(each.value) })),
    ],
    [
      'enumDescriptions',
      'EnumDescription',
      enums.map((each) => ({
        ...each,
        values: each.values.map(({ name, value, doc }) => ({ name, value: Number(value), doc })),
      })),
    ],
    [
      'formatDescriptions',
      'FormatDescription',
      files.flatMap(({ formats }) => formats).map(formatDescription),
    ],
    [
      'blockDescriptions',
      'BlockDescription',
      blocks.map(({ name, bytes, doc, registers }) => ({
        name,
        bytes,
        doc,
        registers: registers.map(registerDescription),
      })),
    ],
  ];
  const types = lists.map(([, type]) => type).toSorted();
  const parts = lists.map(
    ([name, type, value]) => `export const ${name}: readonly ${type}[] = ${literal(value, '')};\n`,
  );
  return `// ${notice}
import type { ${types.join(', ')} } from './description.ts';

${parts.join('\n')}`;
}

/** index.ts */
export function tsIndex({ files }) {
  const modules = [
    'codec',
    'description',
    'descriptions',
    'enums',
    'parameters',
    'pci_functions',
    'operations',
    'packet_opcodes',
    'queue_pair_transitions',
    'registers',
    ...files.map(({ stem }) => stem),
  ];
  const lines = modules.toSorted().map((each) => `export * from './${each}.ts';\n`);
  return `// ${notice}\n${lines.join('')}`;
}
