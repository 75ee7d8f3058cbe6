import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  PacketOpcode,
  PacketPosition,
  ServiceType,
  packetOpcodes as factsOfPackets,
  type FieldValue,
} from '../../lib/spec/index.ts';
import { bitwise, onWire } from '../helpers/icrc_reference.ts';
import { icrcOfHeaders } from '../helpers/icrc_port.ts';
import { decodePacket } from '../helpers/packet_decode.ts';
import { buildPacket, packetOpcodes, type PacketFields, type PacketPath } from '../helpers/packet_port.ts';
import {
  anyPacket,
  examplePath,
  extendedHeaderFormats,
  extendedHeadersOf,
  hasPayload,
  noFields,
  opcodes,
} from '../helpers/packets.ts';

const isEthernet = (path: PacketPath): boolean => path.framing.startsWith('ethernet');

describe('opcodes', () => {
  it('are those of the specification, and those reserved for reliable connections, and no others', () => {
    const known = packetOpcodes.flatMap(({ isKnown }, opcode) => (isKnown ? [opcode] : []));
    const reserved = [0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f];
    const all = [...reserved, ...opcodes.map(({ opcode }) => opcode)];
    expect(known).toEqual(all.toSorted((a, b) => a - b));
  });

  it('have the same facts in TypeScript', () => {
    const ofDevice = (opcode: PacketOpcode): object => {
      const { service, beginsMessage, endsMessage, extendedHeaders, ...others } = packetOpcodes[opcode]!;
      return { service, beginsMessage, endsMessage, extendedHeaders, hasPayload: others.hasPayload };
    };
    const ofFacts = (opcode: PacketOpcode): object => {
      const { service, position, headers, ...others } = factsOfPackets[opcode];
      const { first, last, only } = PacketPosition;
      return {
        service: service ?? ServiceType.reliableConnection,
        beginsMessage: position === first || position === only,
        endsMessage: position === last || position === only,
        extendedHeaders: headers.reduce<number>((bits, header) => bits | (1 << header), 0),
        hasPayload: others.hasPayload,
      };
    };
    const all = opcodes.map(({ opcode }) => opcode);
    expect(all.map((opcode) => ofFacts(opcode))).toEqual(all.map((opcode) => ofDevice(opcode)));
  });

  it.each(opcodes)('$name', ({ opcode, name }) => {
    const traits = packetOpcodes[opcode]!;
    const headers = extendedHeadersOf(name);
    const services = [/^(reliable|congestion)/, /^unreliable_connection/, /never/, /^unreliable_datagram/];
    const message = !/_(first|middle)$/.test(name);
    expect(traits).toEqual({
      isKnown: true,
      service: services.findIndex((service) => service.test(name)),
      extendedHeaders: extendedHeaderFormats.reduce(
        (mask, format, index) => (headers.includes(format) ? mask | (1 << index) : mask),
        0,
      ),
      extendedBytes: traits.extendedBytes,
      hasPayload: hasPayload(name),
      beginsMessage: !/_(middle|last)/.test(name),
      endsMessage: message,
      isResponse: /acknowledge|response/.test(name),
      completesReceive: message && /send|write.*immediate/.test(name),
    });
  });
});

/** The fields that the headers of a packet must have, except lengths and checksums. */
function expectedHeaders(path: PacketPath, fields: PacketFields): Record<string, Record<string, FieldValue>> {
  const ip = { hop: path.hopLimit, protocol: isEthernet(path) ? 17 : 27 };
  const ipv4 = (gid: Uint8Array): number => Buffer.from(gid).readUInt32BE(12);
  return {
    ethernet_header: { destination: path.destinationMac, source: path.sourceMac },
    virtual_lan_header: { tag_control: path.vlan },
    ipv4_header: {
      version: 4,
      header_length: 5,
      differentiated_services: path.trafficClass >> 2,
      congestion_notification: path.trafficClass & 3,
      identification: 0,
      do_not_fragment: 1,
      more_fragments: 0,
      fragment_offset: 0,
      time_to_live: ip.hop,
      protocol: ip.protocol,
      source_address: ipv4(path.sourceGid),
      destination_address: ipv4(path.destinationGid),
    },
    ipv6_header: {
      version: 6,
      traffic_class: path.trafficClass,
      flow_label: path.flowLabel,
      next_header: ip.protocol,
      hop_limit: ip.hop,
      source_address: path.sourceGid,
      destination_address: path.destinationGid,
    },
    udp_header: { destination_port: 4791, checksum: 0 },
    local_route_header: {
      virtual_lane: 0,
      link_version: 0,
      service_level: path.serviceLevel,
      link_next_header: path.framing === 'infiniband_local' ? 2 : 3,
      destination_local_identifier: path.destinationLid,
      source_local_identifier: path.sourceLid + path.sourcePathBits,
    },
    global_route_header: {
      ip_version: 6,
      traffic_class: path.trafficClass,
      flow_label: path.flowLabel,
      next_header: ip.protocol,
      hop_limit: ip.hop,
      source_gid: path.sourceGid,
      destination_gid: path.destinationGid,
    },
    base_transport_header: {
      opcode: fields.opcode,
      solicited_event: Number(fields.solicitedEvent),
      migration_request: 1,
      transport_header_version: 0,
      partition_key: path.partitionKey,
      forward_congestion: 0,
      backward_congestion: Number(fields.opcode === PacketOpcode.congestionNotification),
      destination_queue_pair: path.destinationQueuePair,
      acknowledge_request: Number(fields.acknowledgeRequest),
      packet_sequence_number: fields.packetSequenceNumber,
    },
    datagram_extended_transport_header: {
      queue_key: fields.queueKey,
      source_queue_pair: fields.sourceQueuePair,
    },
    rdma_extended_transport_header: {
      virtual_address: fields.virtualAddress,
      remote_key: fields.remoteKey,
      dma_length: fields.dmaLength,
    },
    atomic_extended_transport_header: {
      virtual_address: fields.virtualAddress,
      remote_key: fields.remoteKey,
      swap_add: fields.swapAdd,
      compare: fields.compare,
    },
    acknowledge_extended_transport_header: {
      syndrome: fields.syndrome,
      message_sequence_number: fields.messageSequenceNumber,
    },
    atomic_acknowledge_extended_transport_header: { original_data: fields.originalData },
    immediate_extended_transport_header: { immediate_data: fields.immediateData },
    invalidate_extended_transport_header: { remote_key: fields.remoteKey },
  };
}

/** The ones' complement sum of big-endian 16-bit words: FFFFh if the included checksum is right. */
function internetSum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes[at]! * 256 + bytes[at + 1]!;
  return (sum % 0xffff) + (sum !== 0 && sum % 0xffff === 0 ? 0xffff : 0);
}

describe('headers of a packet', () => {
  it('have every field and header at its specified place', () => {
    fc.assert(
      fc.property(anyPacket, ({ path, fields, payload }) => {
        const packet = buildPacket(path, fields, payload);
        const tagged = isEthernet(path) && path.vlan !== 0;
        const { headers, payloadOffset } = decodePacket(path.framing, tagged, packet);
        const expected = expectedHeaders(path, fields);
        for (const [format, decoded] of Object.entries(headers))
          expect(decoded, format).toMatchObject(expected[format]!);
        expect(packet.slice(payloadOffset, payloadOffset + payload.length)).toEqual(payload);
      }),
    );
  });

  it('have the right lengths, and zero padding', () => {
    fc.assert(
      fc.property(anyPacket, ({ path, fields, payload }) => {
        const packet = buildPacket(path, fields, payload);
        const tagged = isEthernet(path) && path.vlan !== 0;
        const { headers, offsets, payloadOffset } = decodePacket(path.framing, tagged, packet);
        const end = packet.length - (isEthernet(path) ? 0 : 2);
        const pad = (4 - (payload.length % 4)) % 4;
        expect(end).toBe(payloadOffset + payload.length + pad + 4);
        expect(headers['base_transport_header']!['pad_count']).toBe(pad);
        expect(packet.slice(end - 4 - pad, end - 4)).toEqual(new Uint8Array(pad));
        const transport = end - offsets['base_transport_header']!;
        const lengths: Record<string, FieldValue | undefined> = {
          ipv4: headers['ipv4_header']?.['total_length'],
          ipv6: headers['ipv6_header']?.['payload_length'],
          udp: headers['udp_header']?.['length'],
          localRoute: headers['local_route_header']?.['packet_length'],
          globalRoute: headers['global_route_header']?.['payload_length'],
        };
        const none = { ipv4: undefined, ipv6: undefined, udp: undefined };
        const noRoute = { localRoute: undefined, globalRoute: undefined };
        expect(lengths).toEqual(
          {
            ethernet_ipv4: { ...none, ...noRoute, ipv4: transport + 28, udp: transport + 8 },
            ethernet_ipv6: { ...none, ...noRoute, ipv6: transport + 8, udp: transport + 8 },
            infiniband_local: { ...none, ...noRoute, localRoute: end / 4 },
            infiniband_global: { ...none, localRoute: end / 4, globalRoute: transport },
          }[path.framing],
        );
      }),
    );
  });

  it('have right checksums: IPv4, ICRC and VCRC', () => {
    fc.assert(
      fc.property(anyPacket, ({ path, fields, payload }) => {
        const packet = buildPacket(path, fields, payload);
        const tagged = isEthernet(path) && path.vlan !== 0;
        const { offsets, payloadOffset } = decodePacket(path.framing, tagged, packet);
        const ipv4 = offsets['ipv4_header'];
        if (ipv4 !== undefined) expect(internetSum(packet.slice(ipv4, ipv4 + 20))).toBe(0xffff);
        const network = ipv4 ?? offsets['ipv6_header'] ?? 0;
        const end = packet.length - (isEthernet(path) ? 0 : 2);
        const headers = icrcOfHeaders(path.framing, packet.slice(network, payloadOffset));
        const icrc = bitwise('icrc', headers, packet.slice(payloadOffset, end - 4));
        expect(packet.slice(end - 4, end)).toEqual(onWire('icrc', icrc));
        if (!isEthernet(path))
          expect(packet.slice(end)).toEqual(onWire('vcrc', bitwise('vcrc', 0xffff, packet.slice(0, end))));
      }),
    );
  });

  it('have the EtherType of the next header', () => {
    const etherTypes = (packet: Uint8Array, count: number): string[] =>
      Array.from({ length: count }, (_, index) =>
        Buffer.from(packet.slice(12 + 4 * index, 14 + 4 * index)).toString('hex'),
      );
    const fields = { ...noFields, opcode: PacketOpcode.reliableConnectionSendOnly };
    const build = (framing: 'ethernet_ipv4' | 'ethernet_ipv6', vlan: number): Uint8Array =>
      buildPacket(examplePath(framing, { vlan }), fields, new Uint8Array(0));
    expect(etherTypes(build('ethernet_ipv4', 0), 1)).toEqual(['0800']);
    expect(etherTypes(build('ethernet_ipv6', 0), 1)).toEqual(['86dd']);
    expect(etherTypes(build('ethernet_ipv4', 5), 2)).toEqual(['8100', '0800']);
    expect(etherTypes(build('ethernet_ipv6', 5), 2)).toEqual(['8100', '86dd']);
  });
});

describe('UDP source port', () => {
  const portOf = (path: PacketPath): number => {
    const packet = buildPacket(
      path,
      { ...noFields, opcode: PacketOpcode.reliableConnectionSendOnly },
      new Uint8Array(0),
    );
    return Number(decodePacket(path.framing, false, packet).headers['udp_header']!['source_port']);
  };

  it('is that of the address vector', () => {
    expect(portOf(examplePath('ethernet_ipv6', { udpSourcePort: 49999 }))).toBe(49999);
  });

  it('otherwise follows from both queue pair numbers, spread over C000h to FFFFh', () => {
    const ports = Array.from({ length: 4096 }, (_, index) =>
      portOf(
        examplePath('ethernet_ipv4', {
          sourceQueuePair: 2 + (index >> 6),
          destinationQueuePair: 0x010002 + (index & 63),
        }),
      ),
    );
    expect(ports.every((port) => port >= 0xc000 && port <= 0xffff)).toBe(true);
    // 4096 balls in 16384 urns hit 3624 different ones on average.
    expect(new Set(ports).size).toBeGreaterThan(3400);
  });
});
