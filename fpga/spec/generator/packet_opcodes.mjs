// Packets by opcode of the BTH: properties of each, for the device and for packet dissectors.
import { header, inNamespace } from './cpp.mjs';
import { camelCase, pascalCase, upperCase } from './names.mjs';
import { notice } from './text.mjs';

/** The enums that each key of a packet opcode takes its values from. */
export const enumsOfPacketOpcode = {
  opcode: 'packet_opcode',
  service: 'service_type',
  operation: 'packet_operation',
  position: 'packet_position',
  headers: 'extended_header',
};

/** Number of a value of the enum of `key`. */
const valueOf = (enums, key, name) =>
  Number(
    enums.find((each) => each.name === enumsOfPacketOpcode[key]).values.find((each) => each.name === name)
      .value,
  );

/** Bytes of the extended headers of an opcode. */
const bytesOf = ({ headers }, files) =>
  headers.reduce((sum, name) => {
    const format = files
      .flatMap(({ formats }) => formats)
      .find((each) => each.name === `${name}_extended_transport_header`);
    return sum + format.bytes;
  }, 0);

/** packet_opcodes.h */
export function cppPacketOpcodes({ enums, files, packetOpcodes }) {
  const { doc, source, reserved, entries } = packetOpcodes;
  const named = (key, name) => `${pascalCase(enumsOfPacketOpcode[key])}::${name}`;
  const rows = entries.map((entry) => {
    const { opcode, service = 'reliable_connection', operation, position, headers, payload } = entry;
    const bits = headers.reduce((sum, name) => sum + (1 << valueOf(enums, 'headers', name)), 0);
    const members = [
      'true',
      named('service', service),
      named('operation', operation),
      named('position', position),
      `0x${bits.toString(16)}`,
      bytesOf(entry, files),
      payload,
    ];
    return `  table[${valueOf(enums, 'opcode', opcode)}] = {${members.join(', ')}};  // ${opcode}\n`;
  });
  return header(
    ['<array>', '<cstdint>', '"spec/enums.h"'],
    inNamespace(`/// Properties that all packets of an opcode share. 8 B each: found in the table by a scaled index.
struct alignas(8) PacketOpcodeTraits {
  bool is_known = false;
  ServiceType service = ServiceType::reliable_connection;  ///< a CNP has none
  PacketOperation operation = PacketOperation::send;
  PacketPosition position = PacketPosition::only;
  uint8_t extended_headers = 0;  ///< bits of ExtendedHeader
  uint8_t extended_bytes = 0;    ///< of these headers
  bool has_payload = false;      ///< may have one

  constexpr bool has(ExtendedHeader header) const {
    return (extended_headers >> static_cast<unsigned>(header) & 1) != 0;
  }
  /// First or only packet: starts a message.
  constexpr bool begins_message() const {
    return position == PacketPosition::first || position == PacketPosition::only;
  }
  /// Last or only packet: ends a message.
  constexpr bool ends_message() const {
    return position == PacketPosition::last || position == PacketPosition::only;
  }
  /// Answers a request; for the requester.
  constexpr bool is_response() const {
    return operation == PacketOperation::rdma_read_response || operation == PacketOperation::acknowledge ||
           operation == PacketOperation::atomic_acknowledge;
  }
  /// Consumes a receive work request: ends a SEND or an RDMA WRITE with immediate.
  constexpr bool completes_receive() const {
    return ends_message() && (operation == PacketOperation::send ||
                              (operation == PacketOperation::rdma_write && has(ExtendedHeader::immediate)));
  }
};

/// By opcode. ${doc} Source: ${source}.
inline constexpr std::array<PacketOpcodeTraits, 256> packet_opcodes = [] {
  std::array<PacketOpcodeTraits, 256> table{};
${rows.join('')}  for (const unsigned opcode : {${reserved.map((opcode) => `${opcode}u`).join(', ')}})
    table[opcode] = {.is_known = true, .operation = PacketOperation::reserved, .has_payload = true};
  return table;
}();

constexpr const PacketOpcodeTraits& traits_of(PacketOpcode opcode) {
  return packet_opcodes[static_cast<uint8_t>(opcode)];
}
`),
  );
}

/** packet_opcodes.ts */
export function tsPacketOpcodes({ packetOpcodes }) {
  const { doc, source, entries } = packetOpcodes;
  const named = (key, name) => `${pascalCase(enumsOfPacketOpcode[key])}.${camelCase(name)}`;
  const rows = entries.map(({ opcode, service, operation, position, headers, payload }) => {
    const lines = [
      ...(service === undefined ? [] : [`service: ${named('service', service)}`]),
      `operation: ${named('operation', operation)}`,
      `position: ${named('position', position)}`,
      `headers: [${headers.map((name) => named('headers', name)).join(', ')}]`,
      `hasPayload: ${payload}`,
    ];
    return `  [${named('opcode', opcode)}]: {\n${lines.map((line) => `    ${line},\n`).join('')}  },\n`;
  });
  return `// ${notice}
import { ExtendedHeader, PacketOpcode, PacketOperation, PacketPosition, ServiceType } from './enums.ts';

/** Properties of the packets of a BTH opcode. */
export interface PacketFacts {
  /** Undefined for a congestion notification. */
  readonly service?: ServiceType;
  readonly operation: PacketOperation;
  readonly position: PacketPosition;
  /** Extended transport headers, in wire order. */
  readonly headers: readonly ExtendedHeader[];
  readonly hasPayload: boolean;
}

/** By opcode. ${doc} Source: ${source}. */
export const packetOpcodes: Readonly<Record<PacketOpcode, PacketFacts>> = {
${rows.join('')}};
`;
}

/** Constants of hca_spec_pkg.sv: sets of opcodes, those of each extended header, of a payload, and of all that are known. */
export function svPacketOpcodes({ enums, packetOpcodes }) {
  const { source, entries, reserved } = packetOpcodes;
  const setOf = (opcodes) =>
    `256'h${opcodes.reduce((sum, opcode) => sum | (1n << BigInt(opcode)), 0n).toString(16)}`;
  const chosen = (holds) => entries.filter(holds).map(({ opcode }) => valueOf(enums, 'opcode', opcode));
  const sets = enums
    .find((each) => each.name === enumsOfPacketOpcode.headers)
    .values.map(({ name }) => [upperCase(name), setOf(chosen(({ headers }) => headers.includes(name)))]);
  const constant = (name, set) => `  localparam logic [255:0] PACKET_OPCODES_${name} = ${set};\n`;
  return `  // Opcodes whose packets have an extended transport header, a bit each. Source: ${source}.
${sets.map(([name, set]) => constant(`WITH_${name}`, set)).join('')}  // Opcodes whose packets may have a payload, and all known opcodes.
${constant('WITH_PAYLOAD', setOf([...chosen(({ payload }) => payload), ...reserved]))}${constant('KNOWN', setOf([...chosen(() => true), ...reserved]))}`;
}

/** The table of formats.md. */
export function packetOpcodesTable({ packetOpcodes }) {
  const { doc, source, reserved, entries } = packetOpcodes;
  const rows = entries.map(
    ({ opcode, service = '–', operation, position, headers, payload }) =>
      `| ${[opcode, service, operation, position, headers.join(', ') || '–', payload ? 'yes' : 'no'].join(' | ')} |\n`,
  );
  return `## Packet opcodes

${doc} Reserved: ${reserved.map((opcode) => `${opcode}u`).join(', ')}. Source: ${source}.

| opcode | service | operation | position | extended headers | payload |
| --- | --- | --- | --- | --- | --- |
${rows.join('')}`;
}
