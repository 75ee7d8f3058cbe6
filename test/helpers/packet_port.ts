import { encode, LinkLayer } from '../../lib/spec/index.ts';
import { loadTestAddon } from './test_addon.ts';
import { framings, type Framing } from './icrc_port.ts';

/** native/wire/packet_headers.h */
export interface PacketFields {
  opcode: number;
  solicitedEvent: boolean;
  acknowledgeRequest: boolean;
  packetSequenceNumber: number;
  virtualAddress: bigint;
  remoteKey: number;
  dmaLength: number;
  swapAdd: bigint;
  compare: bigint;
  originalData: bigint;
  messageSequenceNumber: number;
  syndrome: number;
  immediateData: number;
  queueKey: number;
  sourceQueuePair: number;
}

/** Source and destination of a packet; the GIDs decide between IPv4 and IPv6. */
export interface PacketPath {
  framing: Framing;
  sourceGid: Uint8Array;
  destinationGid: Uint8Array;
  sourceMac: Uint8Array;
  destinationMac: Uint8Array;
  sourceLid: number;
  sourcePathBits: number;
  destinationLid: number;
  serviceLevel: number;
  trafficClass: number;
  flowLabel: number;
  hopLimit: number;
  vlan: number;
  udpSourcePort: number;
  partitionKey: number;
  sourceQueuePair: number;
  destinationQueuePair: number;
}

/** native/wire/packet_parse.h */
export interface ParsedPacket {
  framing: Framing;
  forwardCongestion: boolean;
  backwardCongestion: boolean;
  networkOffset: number;
  transportOffset: number;
  partitionKey: number;
  destinationQueuePair: number;
  fields: PacketFields;
  payload: Uint8Array;
  sourceGid: Uint8Array;
  destinationGid: Uint8Array;
}

/** native/spec/packet_opcodes.h */
export interface PacketOpcodeTraits {
  isKnown: boolean;
  service: number;
  /** Bits, in the order of extendedHeaderFormats. */
  extendedHeaders: number;
  extendedBytes: number;
  hasPayload: boolean;
  beginsMessage: boolean;
  endsMessage: boolean;
  isResponse: boolean;
  completesReceive: boolean;
}

interface PacketPort {
  buildPacket(
    addressVector: Uint8Array,
    source: {
      linkLayer: number;
      mac: Uint8Array;
      localIdentifier: number;
      gid: Uint8Array;
      partitionKey: number;
    },
    sourceQueuePair: number,
    destinationQueuePair: number,
    fields: PacketFields,
    payload: Uint8Array,
  ): Uint8Array;
  parsePacket(
    linkLayer: number,
    packet: Uint8Array,
  ): (Omit<ParsedPacket, 'framing'> & { framing: number }) | string;
  packetOpcodes(): PacketOpcodeTraits[];
}

const port = loadTestAddon() as PacketPort;
export const packetOpcodes = port.packetOpcodes();

export function linkLayerOf(framing: Framing): number {
  return framing.startsWith('ethernet') ? LinkLayer.ethernet : LinkLayer.infiniband;
}

/** A whole packet, from its first link byte to its last check. */
export function buildPacket(path: PacketPath, fields: PacketFields, payload: Uint8Array): Uint8Array {
  const mac = new DataView(path.destinationMac.buffer, path.destinationMac.byteOffset);
  const addressVector = encode('address_vector', {
    service_level: path.serviceLevel,
    is_global: path.framing === 'infiniband_local' ? 0 : 1,
    source_path_bits: path.sourcePathBits,
    destination_local_identifier: path.destinationLid,
    hop_limit: path.hopLimit,
    traffic_class: path.trafficClass,
    flow_label: path.flowLabel,
    destination_mac_low: mac.getUint32(0, true),
    destination_mac_high: mac.getUint16(4, true),
    udp_source_port: path.udpSourcePort,
    vlan: path.vlan,
    destination_gid: path.destinationGid,
  });
  const source = {
    linkLayer: linkLayerOf(path.framing),
    mac: path.sourceMac,
    localIdentifier: path.sourceLid,
    gid: path.sourceGid,
    partitionKey: path.partitionKey,
  };
  return port.buildPacket(
    addressVector,
    source,
    path.sourceQueuePair,
    path.destinationQueuePair,
    fields,
    payload,
  );
}

/** The fields of a packet, or the reason for its drop. */
export function parsePacket(linkLayer: number, packet: Uint8Array): ParsedPacket | string {
  const parsed = port.parsePacket(linkLayer, packet);
  return typeof parsed === 'string' ? parsed : { ...parsed, framing: framings[parsed.framing]! };
}
