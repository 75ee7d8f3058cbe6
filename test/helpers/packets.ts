import fc from 'fast-check';

import { PacketOpcode, packetOpcodeNames } from '../../lib/spec/index.ts';
import { framings, type Framing } from './icrc_port.ts';
import type { PacketFields, PacketPath } from './packet_port.ts';
import { specificationNames } from './specification_names.ts';

const specifiedPacketOpcodeNames = specificationNames(packetOpcodeNames);

/** Every opcode, with its name in the specification. */
export const opcodes = Object.values(PacketOpcode).map((opcode) => ({
  opcode,
  name: specifiedPacketOpcodeNames[opcode]!,
}));

/** The formats of the extended headers, in wire order. */
export const extendedHeaderFormats = [
  'datagram_extended_transport_header',
  'rdma_extended_transport_header',
  'atomic_extended_transport_header',
  'acknowledge_extended_transport_header',
  'atomic_acknowledge_extended_transport_header',
  'immediate_extended_transport_header',
  'invalidate_extended_transport_header',
] as const;
export type ExtendedHeaderFormat = (typeof extendedHeaderFormats)[number];

/** The opcodes of each extended header: InfiniBand volume 1, table 38. */
const havingHeader: Readonly<Record<ExtendedHeaderFormat, RegExp>> = {
  datagram_extended_transport_header: /datagram/,
  rdma_extended_transport_header: /rdma_write_(first|only)|rdma_read_request/,
  atomic_extended_transport_header: /compare_and_swap|fetch_and_add/,
  acknowledge_extended_transport_header: /acknowledge|rdma_read_response_(first|last|only)/,
  atomic_acknowledge_extended_transport_header: /atomic_acknowledge/,
  immediate_extended_transport_header: /with_immediate/,
  invalidate_extended_transport_header: /with_invalidate/,
};

/** The extended headers of an opcode, in wire order. */
export function extendedHeadersOf(name: string): ExtendedHeaderFormat[] {
  return extendedHeaderFormats.filter((format) => havingHeader[format].test(name));
}

export function hasPayload(name: string): boolean {
  return /send|rdma_write|read_response|congestion/.test(name);
}

export const noFields: Omit<PacketFields, 'opcode'> = {
  solicitedEvent: false,
  acknowledgeRequest: false,
  packetSequenceNumber: 0,
  virtualAddress: 0n,
  remoteKey: 0,
  dmaLength: 0,
  swapAdd: 0n,
  compare: 0n,
  originalData: 0n,
  messageSequenceNumber: 0,
  syndrome: 0,
  immediateData: 0,
  queueKey: 0,
  sourceQueuePair: 0,
};

const bits = (width: number): fc.Arbitrary<number> => fc.nat(2 ** width - 1);
const long = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const byteArray = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length });

/** ::ffff:a.b.c.d */
export const ipv4Gid = (address: Uint8Array): Uint8Array =>
  Uint8Array.of(...Array.from({ length: 10 }, () => 0), 0xff, 0xff, ...address);

const gidFor = (framing: Framing): fc.Arbitrary<Uint8Array> =>
  framing === 'ethernet_ipv4' ? byteArray(4).map(ipv4Gid) : byteArray(16).map((gid) => gid.fill(0xfd, 0, 1));

/** Any path. */
export const anyPath: fc.Arbitrary<PacketPath> = fc.constantFrom(...framings).chain((framing) =>
  fc.record({
    framing: fc.constant(framing),
    sourceGid: gidFor(framing),
    destinationGid: gidFor(framing),
    sourceMac: byteArray(6),
    destinationMac: byteArray(6),
    sourceLid: bits(15),
    sourcePathBits: bits(3),
    destinationLid: bits(16),
    serviceLevel: bits(4),
    trafficClass: bits(8),
    flowLabel: bits(20),
    hopLimit: bits(8),
    vlan: fc.oneof(fc.constant(0), bits(16)),
    udpSourcePort: fc.oneof(fc.constant(0), bits(16)),
    partitionKey: bits(16),
    sourceQueuePair: bits(24),
    destinationQueuePair: bits(24),
  }),
);

/** Any fields of an opcode; those of headers that it does not have are zero. */
export function anyFields(opcode: number, name: string): fc.Arbitrary<PacketFields> {
  const headers = extendedHeadersOf(name);
  const of = <Value>(arbitrary: fc.Arbitrary<Value>, none: Value, ...formats: ExtendedHeaderFormat[]) =>
    formats.some((format) => headers.includes(format)) ? arbitrary : fc.constant(none);
  const [datagram, rdma, atomic, acknowledge, atomicAcknowledge, immediate, invalidate] =
    extendedHeaderFormats;
  return fc.record({
    opcode: fc.constant(opcode),
    solicitedEvent: fc.boolean(),
    acknowledgeRequest: fc.boolean(),
    packetSequenceNumber: bits(24),
    virtualAddress: of(long, 0n, rdma, atomic),
    remoteKey: of(bits(32), 0, rdma, atomic, invalidate),
    dmaLength: of(bits(32), 0, rdma),
    swapAdd: of(long, 0n, atomic),
    compare: of(long, 0n, atomic),
    originalData: of(long, 0n, atomicAcknowledge),
    messageSequenceNumber: of(bits(24), 0, acknowledge),
    syndrome: of(bits(8), 0, acknowledge),
    immediateData: of(bits(32), 0, immediate),
    queueKey: of(bits(32), 0, datagram),
    sourceQueuePair: of(bits(24), 0, datagram),
  });
}

/** Any payload that an opcode may have. */
export function anyPayload(name: string, maxLength = 4096): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ maxLength: hasPayload(name) ? maxLength : 0, size: 'max' });
}

/** Any packet: its path, fields and payload. */
export const anyPacket = fc
  .constantFrom(...opcodes)
  .chain(({ opcode, name }) =>
    fc.record({ path: anyPath, fields: anyFields(opcode, name), payload: anyPayload(name) }),
  );

/** A plain path for tests of single things. */
export function examplePath(framing: Framing, changes: Partial<PacketPath> = {}): PacketPath {
  const isIpv4 = framing === 'ethernet_ipv4';
  return {
    framing,
    sourceGid: isIpv4 ? ipv4Gid(Uint8Array.of(10, 0, 0, 1)) : exampleIpv6(1),
    destinationGid: isIpv4 ? ipv4Gid(Uint8Array.of(10, 0, 0, 2)) : exampleIpv6(2),
    sourceMac: Uint8Array.of(2, 0, 0, 0, 0, 1),
    destinationMac: Uint8Array.of(2, 0, 0, 0, 0, 2),
    sourceLid: 0x10,
    sourcePathBits: 0,
    destinationLid: 0x20,
    serviceLevel: 3,
    trafficClass: 0x6a,
    flowLabel: 0x12345,
    hopLimit: 64,
    vlan: 0,
    udpSourcePort: 0,
    partitionKey: 0xffff,
    sourceQueuePair: 0x000011,
    destinationQueuePair: 0x010203,
    ...changes,
  };
}

function exampleIpv6(last: number): Uint8Array {
  return Uint8Array.of(0xfd, ...Array.from({ length: 14 }, () => 0), last);
}
