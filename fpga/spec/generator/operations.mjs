// Operations of send work requests: properties of each command opcode, for the device and the driver.
import { header, inNamespace } from './cpp.mjs';
import { camelCase, pascalCase, upperCase } from './names.mjs';
import { notice } from './text.mjs';

/** The enums that each key of an operation takes its values from. */
export const enumsOfOperation = {
  opcode: 'opcode',
  services: 'service_type',
  packets: 'packet_operation',
  data: 'operation_data',
  remote_right: 'access_flag',
  carries: 'operation_carries',
  ordering: 'operation_ordering',
  completion: 'completion_opcode',
};

/** operations.h */
export function cppOperations({ enums, operations }) {
  const { doc, source, entries } = operations;
  const valueOf = (key, name) =>
    enums.find((each) => each.name === enumsOfOperation[key]).values.find((each) => each.name === name).value;
  const named = (key, name) => `${pascalCase(enumsOfOperation[key])}::${name}`;
  const rows = entries.map((entry) => {
    const members = [
      'true',
      `0x${entry.services.reduce((bits, name) => bits | (1n << valueOf('services', name)), 0n).toString(16)}`,
      named('packets', entry.packets ?? 'send'),
      named('data', entry.data),
      named('carries', entry.carries ?? 'nothing'),
      named('ordering', entry.ordering),
      named('completion', entry.completion),
    ];
    return `  table[${valueOf('opcode', entry.opcode)}] = {${members.join(', ')}};  // ${entry.opcode}\n`;
  });
  const size = entries.reduce((most, { opcode }) => Math.max(most, Number(valueOf('opcode', opcode))), 0) + 1;
  return header(
    ['<array>', '<cstddef>', '<cstdint>', '"spec/enums.h"'],
    inNamespace(`/// Properties of an operation of a send work request. 8 B each: found in the table by a scaled index.
struct alignas(8) Operation {
  bool exists = false;
  uint8_t services = 0;                              ///< bits of ServiceType
  PacketOperation packets = PacketOperation::send;   ///< of its request; a local operation has none
  OperationData data = OperationData::none;
  OperationCarries carries = OperationCarries::nothing;
  OperationOrdering ordering = OperationOrdering::write;
  CompletionOpcode completion = CompletionOpcode::send;

  constexpr bool is_of(ServiceType service) const { return (services >> static_cast<unsigned>(service) & 1) != 0; }
};

inline constexpr size_t operation_opcodes = ${size};

/// By opcode. ${doc} Source: ${source}.
inline constexpr std::array<Operation, size_t{1} << 8 * sizeof(Opcode)> operations = [] {
  std::array<Operation, size_t{1} << 8 * sizeof(Opcode)> table{};
${rows.join('')}  return table;
}();

/// Operation of any opcode value; for an unknown opcode, exists is false.
constexpr const Operation& operation_of(Opcode opcode) { return operations[static_cast<size_t>(opcode)]; }
`),
  );
}

/** operations.ts */
export function tsOperations({ operations }) {
  const { doc, source, entries } = operations;
  const named = (key, name) => `${pascalCase(enumsOfOperation[key])}.${camelCase(name)}`;
  const rows = entries.map((entry) => {
    const lines = [
      `services: [${entry.services.map((name) => named('services', name)).join(', ')}]`,
      `data: ${named('data', entry.data)}`,
      ...(entry.remote_right === undefined
        ? []
        : [`remoteRight: ${named('remote_right', entry.remote_right)}`]),
      `carries: ${named('carries', entry.carries ?? 'nothing')}`,
      `ordering: ${named('ordering', entry.ordering)}`,
      `completion: ${named('completion', entry.completion)}`,
    ];
    return `  [${named('opcode', entry.opcode)}]: {\n${lines.map((line) => `    ${line},\n`).join('')}  },\n`;
  });
  return `// ${notice}
import {
  AccessFlag,
  CompletionOpcode,
  Opcode,
  OperationCarries,
  OperationData,
  OperationOrdering,
  ServiceType,
} from './enums.ts';

/** Properties of an operation of a send work request. */
export interface Operation {
  /** Transport services that support the operation. */
  readonly services: readonly ServiceType[];
  readonly data: OperationData;
  /** Remote right that the operation requires; none: it does not access remote memory. */
  readonly remoteRight?: AccessFlag;
  readonly carries: OperationCarries;
  readonly ordering: OperationOrdering;
  readonly completion: CompletionOpcode;
}

/** By opcode. ${doc} Source: ${source}. */
export const operations: Readonly<Record<Opcode, Operation>> = {
${rows.join('')}};
`;
}

/** Constants of hca_spec_pkg.sv: sets of command opcodes, a bit each: those of each service, local ones, those whose data return, atomics. */
export function svOperations({ enums, operations }) {
  const { source, entries } = operations;
  const valuesOf = (key) => enums.find(({ name }) => name === enumsOfOperation[key]).values;
  const setOf = (holds) =>
    entries
      .filter(holds)
      .map(({ opcode }) => valuesOf('opcode').find(({ name }) => name === opcode).value)
      .reduce((set, opcode) => set | (1n << BigInt(opcode)), 0n);
  const sets = [
    ...valuesOf('services').map(({ name }) => [
      `OF_${upperCase(name)}`,
      setOf(({ services }) => services.includes(name)),
    ]),
    ['LOCAL', setOf(({ ordering }) => ordering === 'local')],
    ['RETURNED', setOf(({ data }) => data === 'returned')],
    ['ATOMIC', setOf(({ ordering }) => ordering === 'atomic')],
  ];
  const lines = sets.map(
    ([name, set]) => `  localparam logic [255:0] OPCODES_${name} = 256'h${set.toString(16)};\n`,
  );
  return `  // Command opcodes of each transport service, of local operations, of operations whose data return, and of atomics, a bit each. Source:\n  // ${source}.\n${lines.join('')}`;
}

/** The table of formats.md. */
export function operationsTable({ operations }) {
  const { doc, source, entries } = operations;
  const rows = entries.map(
    ({
      opcode,
      services,
      packets = '–',
      data,
      remote_right: right = '–',
      carries = '–',
      ordering,
      completion,
    }) =>
      `| ${[opcode, services.join(', '), packets, data, right, carries, ordering, completion].join(' | ')} |\n`,
  );
  return `## Operations

${doc} Source: ${source}.

| opcode | services | packets | data | right at the peer | carries | ordering | completion |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('')}`;
}
