import { decode, packetOpcodeNames, type FieldValue } from '../../lib/spec/index.ts';
import type { Framing } from './icrc_port.ts';
import { extendedHeadersOf } from './packets.ts';
import { specificationNames } from './specification_names.ts';

const specifiedPacketOpcodeNames = specificationNames(packetOpcodeNames);

/** The headers of a packet by their formats, read with the specification's own field positions, one after the other. */
export interface DecodedPacket {
  headers: Record<string, Record<string, FieldValue>>;
  /** Where each begins. */
  offsets: Record<string, number>;
  /** Behind the last header. */
  payloadOffset: number;
}

const formatBytes: Readonly<Record<string, number>> = {
  ethernet_header: 14,
  virtual_lan_header: 4,
  ipv4_header: 20,
  ipv6_header: 40,
  udp_header: 8,
  local_route_header: 8,
  global_route_header: 40,
  base_transport_header: 12,
  datagram_extended_transport_header: 8,
  rdma_extended_transport_header: 16,
  atomic_extended_transport_header: 28,
  acknowledge_extended_transport_header: 4,
  atomic_acknowledge_extended_transport_header: 8,
  immediate_extended_transport_header: 4,
  invalidate_extended_transport_header: 4,
};

export function decodePacket(framing: Framing, tagged: boolean, packet: Uint8Array): DecodedPacket {
  const headers: DecodedPacket['headers'] = {};
  const offsets: DecodedPacket['offsets'] = {};
  let at = 0;
  const take = (format: string): void => {
    offsets[format] = at;
    const bytes = packet.slice(at, (at += formatBytes[format]!));
    // The Ethernet header of the specification has two bytes of padding before it.
    headers[format] = decode(format, format === 'ethernet_header' ? Uint8Array.of(0, 0, ...bytes) : bytes);
  };
  const ethernet = tagged ? ['ethernet_header', 'virtual_lan_header'] : ['ethernet_header'];
  const before: Readonly<Record<Framing, readonly string[]>> = {
    ethernet_ipv4: [...ethernet, 'ipv4_header', 'udp_header'],
    ethernet_ipv6: [...ethernet, 'ipv6_header', 'udp_header'],
    infiniband_local: ['local_route_header'],
    infiniband_global: ['local_route_header', 'global_route_header'],
  };
  for (const format of before[framing]) take(format);
  take('base_transport_header');
  const opcode = Number(headers['base_transport_header']!['opcode']);
  for (const format of extendedHeadersOf(specifiedPacketOpcodeNames[opcode]!)) take(format);
  return { headers, offsets, payloadOffset: at };
}
