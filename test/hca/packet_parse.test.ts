import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { LinkLayer, PacketOpcode } from '../../lib/spec/index.ts';
import { bitwise, onWire } from '../helpers/icrc_reference.ts';
import { framings, icrcOfHeaders, type Framing } from '../helpers/icrc_port.ts';
import { decodePacket } from '../helpers/packet_decode.ts';
import { buildPacket, linkLayerOf, parsePacket, type PacketFields } from '../helpers/packet_port.ts';
import { anyPacket, examplePath, ipv4Gid, noFields, opcodes } from '../helpers/packets.ts';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const none = new Uint8Array(16);

describe('parsing', () => {
  it('returns the built packet', () => {
    fc.assert(
      fc.property(anyPacket, ({ path, fields, payload }) => {
        const parsed = parsePacket(linkLayerOf(path.framing), buildPacket(path, fields, payload));
        const isEthernet = path.framing.startsWith('ethernet');
        const isGlobal = path.framing !== 'infiniband_local';
        const networkOffset = isEthernet ? (path.vlan === 0 ? 14 : 18) : 0;
        const networkBytes = {
          ethernet_ipv4: 28,
          ethernet_ipv6: 48,
          infiniband_local: 8,
          infiniband_global: 48,
        };
        expect(parsed).toEqual({
          framing: path.framing,
          forwardCongestion: isEthernet && (path.trafficClass & 3) === 3,
          backwardCongestion: fields.opcode === PacketOpcode.congestionNotification,
          networkOffset,
          transportOffset: networkOffset + networkBytes[path.framing],
          partitionKey: path.partitionKey,
          destinationQueuePair: path.destinationQueuePair,
          fields,
          payload,
          sourceGid: isGlobal ? path.sourceGid : none,
          destinationGid: isGlobal ? path.destinationGid : none,
        });
      }),
    );
  });

  it('handles any bytes safely', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(LinkLayer.ethernet, LinkLayer.infiniband),
        fc.uint8Array({ maxLength: 200 }),
        (linkLayer, packet) => {
          expect(parsePacket(linkLayer, packet)).toBeTypeOf('string');
        },
      ),
    );
  });

  it('accepts an Ethernet frame longer than its packet', () => {
    const packet = build('ethernet_ipv4', PacketOpcode.reliableConnectionSendOnly, 0);
    expect(packet).toHaveLength(58);
    const frame = new Uint8Array(60);
    frame.set(packet);
    expect(parsePacket(LinkLayer.ethernet, frame)).toMatchObject({ payload: new Uint8Array(0) });
  });
});

function build(framing: Framing, opcode: number, length: number, vlan = 0): Uint8Array {
  const fields: PacketFields = { ...noFields, opcode, packetSequenceNumber: 201 };
  return buildPacket(examplePath(framing, { vlan }), fields, new Uint8Array(length).fill(0xa5));
}

// Bits that may change without the packet being dropped: addresses below IP, which the frame check sequence
// covers, and bits that the ICRC omits and no other check covers.
const macs = 'ffffffff ffffffff ffffffff 0000';
const transport = '00000000 ff';
const variant: Readonly<Record<Framing, { plain: string; tagged?: string }>> = {
  ethernet_ipv4: {
    plain: `${macs} ${'00'.repeat(28)} ${transport}`,
    tagged: `${macs} ffff0000 ${'00'.repeat(28)} ${transport}`,
  },
  ethernet_ipv6: {
    plain: `${macs} 0fffffff 000000ff ${'00'.repeat(40)} ${transport}`,
    tagged: `${macs} ffff0000 0fffffff 000000ff ${'00'.repeat(40)} ${transport}`,
  },
  infiniband_local: { plain: '' },
  infiniband_global: { plain: '' },
};

describe.each(framings)('a packet with one wrong bit: %s', (framing) => {
  const tags = variant[framing].tagged === undefined ? [0] : [0, 5];
  it.each(tags.flatMap((vlan) => opcodes.map((each) => ({ ...each, vlan }))))(
    '$name, VLAN $vlan',
    ({ opcode, name, vlan }) => {
      const length = /acknowledge|request|compare|fetch/.test(name) ? 0 : 13;
      const packet = build(framing, opcode, length, vlan);
      const mask = bytes((vlan === 0 ? variant[framing].plain : variant[framing].tagged) ?? '');
      for (let bit = 0; bit < packet.length * 8; bit++) {
        const damaged = packet.slice();
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        const mayPass = (((mask[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
        const outcome = typeof parsePacket(linkLayerOf(framing), damaged) === 'string' ? 'dropped' : 'taken';
        if (outcome !== (mayPass ? 'taken' : 'dropped'))
          expect(outcome, `byte ${bit >> 3}, bit ${bit & 7}`).toBe(mayPass ? 'taken' : 'dropped');
      }
    },
  );

  it('and every packet cut short', () => {
    const packet = build(framing, PacketOpcode.reliableConnectionRdmaWriteOnly, 13);
    for (let length = 0; length < packet.length; length++)
      expect(parsePacket(linkLayerOf(framing), packet.slice(0, length)), `${length} B`).toBeTypeOf('string');
  });
});

/** Changes a packet, and corrects its checksums. */
function changed(framing: Framing, packet: Uint8Array, change: (bytes: DataView) => void): Uint8Array {
  const result = packet.slice();
  const view = new DataView(result.buffer);
  change(view);
  const { offsets, payloadOffset } = decodePacket(framing, false, packet);
  const ipv4 = offsets['ipv4_header'];
  if (ipv4 !== undefined) {
    view.setUint16(ipv4 + 10, 0);
    let sum = 0;
    for (let at = 0; at < 20; at += 2) sum += view.getUint16(ipv4 + at);
    view.setUint16(ipv4 + 10, 0xffff - (sum % 0xffff));
  }
  const end = result.length - (framing.startsWith('ethernet') ? 0 : 2);
  const network = ipv4 ?? offsets['ipv6_header'] ?? 0;
  const headers = icrcOfHeaders(framing, result.slice(network, payloadOffset));
  result.set(onWire('icrc', bitwise('icrc', headers, result.slice(payloadOffset, end - 4))), end - 4);
  if (end !== result.length) result.set(onWire('vcrc', bitwise('vcrc', 0xffff, result.slice(0, end))), end);
  return result;
}

// Offsets of the fields, without a tag.
const ip = 14;
const udp = { ethernet_ipv4: ip + 20, ethernet_ipv6: ip + 40 };
const bth = { ethernet_ipv4: ip + 28, ethernet_ipv6: ip + 48, infiniband_local: 8, infiniband_global: 48 };

const drops: readonly (readonly [
  reason: string,
  what: string,
  framing: Framing,
  change: (view: DataView) => void,
])[] = [
  ['unknown_ether_type', 'ARP', 'ethernet_ipv4', (view) => view.setUint16(12, 0x0806)],
  ['bad_ip_header', 'IPv4 with version 5', 'ethernet_ipv4', (view) => view.setUint8(ip, 0x55)],
  ['bad_ip_header', 'IPv4 with options', 'ethernet_ipv4', (view) => view.setUint8(ip, 0x46)],
  ['bad_ip_header', 'IPv6 with version 4', 'ethernet_ipv6', (view) => view.setUint8(ip, 0x46)],
  ['ip_fragment', 'more fragments', 'ethernet_ipv4', (view) => view.setUint16(ip + 6, 0x2000)],
  ['ip_fragment', 'a fragment offset', 'ethernet_ipv4', (view) => view.setUint16(ip + 6, 0x0001)],
  ['unknown_ip_protocol', 'TCP in IPv4', 'ethernet_ipv4', (view) => view.setUint8(ip + 9, 6)],
  ['unknown_ip_protocol', 'TCP in IPv6', 'ethernet_ipv6', (view) => view.setUint8(ip + 6, 6)],
  ['unknown_ip_protocol', 'UDP behind a GRH', 'infiniband_global', (view) => view.setUint8(8 + 6, 17)],
  ['wrong_udp_port', 'VXLAN', 'ethernet_ipv4', (view) => view.setUint16(udp.ethernet_ipv4 + 2, 4789)],
  ['udp_checksum_mismatch', 'IPv4', 'ethernet_ipv4', (view) => view.setUint16(udp.ethernet_ipv4 + 6, 1)],
  ['udp_checksum_mismatch', 'IPv6', 'ethernet_ipv6', (view) => view.setUint16(udp.ethernet_ipv6 + 6, 1)],
  ['length_mismatch', 'IPv4 total length', 'ethernet_ipv4', (view) => view.setUint16(ip + 2, 60)],
  [
    'length_mismatch',
    'an IPv4 total length of less than its header',
    'ethernet_ipv4',
    (view) => view.setUint16(ip + 2, 19),
  ],
  [
    'length_mismatch',
    'an IPv4 total length beyond the packet',
    'ethernet_ipv4',
    (view) => view.setUint16(ip + 2, 1500),
  ],
  ['length_mismatch', 'IPv6 payload length', 'ethernet_ipv6', (view) => view.setUint16(ip + 4, 36)],
  [
    'length_mismatch',
    'an IPv6 payload length beyond the packet',
    'ethernet_ipv6',
    (view) => view.setUint16(ip + 4, 1500),
  ],
  ['length_mismatch', 'UDP length', 'ethernet_ipv4', (view) => view.setUint16(udp.ethernet_ipv4 + 4, 36)],
  ['length_mismatch', 'PktLen', 'infiniband_local', (view) => view.setUint16(4, 10)],
  ['length_mismatch', 'PayLen', 'infiniband_global', (view) => view.setUint16(8 + 4, 36)],
  ['length_mismatch', 'pad without payload', 'infiniband_local', (view) => view.setUint8(9, 0x70)],
  ['unknown_link_version', 'LVer 1', 'infiniband_local', (view) => view.setUint8(0, 0x01)],
  ['raw_packet', 'LNH 0', 'infiniband_local', (view) => view.setUint8(1, 0x30)],
  ['raw_packet', 'LNH 1', 'infiniband_local', (view) => view.setUint8(1, 0x31)],
  ['bad_global_route_header', 'IPVer 4', 'infiniband_global', (view) => view.setUint8(8, 0x46)],
  [
    'unknown_transport_version',
    'TVer 1',
    'ethernet_ipv4',
    (view) => view.setUint8(bth.ethernet_ipv4 + 1, 0x41),
  ],
  ['unknown_opcode', 'reliable datagram', 'ethernet_ipv6', (view) => view.setUint8(bth.ethernet_ipv6, 0x44)],
];

describe('the reason to drop a packet', () => {
  it.each(drops)('%s: %s', (reason, _what, framing, change) => {
    const packet = build(framing, PacketOpcode.reliableConnectionSendOnly, 0);
    expect(
      parsePacket(
        linkLayerOf(framing),
        changed(framing, packet, () => {}),
      ),
    ).toBeTypeOf('object');
    expect(parsePacket(linkLayerOf(framing), changed(framing, packet, change))).toBe(reason);
  });

  it('accepts an IPv4 header with any identification that its ICRC covers', () => {
    const packet = build('ethernet_ipv4', PacketOpcode.reliableConnectionSendOnly, 8);
    for (const identification of [1, 0x8000, 0xffff]) {
      const other = changed('ethernet_ipv4', packet, (view) => view.setUint16(ip + 4, identification));
      expect(parsePacket(LinkLayer.ethernet, other)).toBeTypeOf('object');
      other.set(packet.subarray(-4), other.length - 4);
      expect(parsePacket(LinkLayer.ethernet, other)).toBe('icrc_mismatch');
    }
  });

  it('ip_checksum_mismatch', () => {
    const packet = build('ethernet_ipv4', PacketOpcode.reliableConnectionSendOnly, 0);
    packet[ip + 8]! ^= 1;
    expect(parsePacket(LinkLayer.ethernet, packet)).toBe('ip_checksum_mismatch');
  });

  it('icrc_mismatch: payload, of all framings', () => {
    for (const framing of framings) {
      const packet = build(framing, PacketOpcode.reliableConnectionSendOnly, 8);
      const end = packet.length - (framing.startsWith('ethernet') ? 4 : 6);
      packet[end - 1]! ^= 0x80;
      if (!framing.startsWith('ethernet'))
        packet.set(onWire('vcrc', bitwise('vcrc', 0xffff, packet.slice(0, -2))), packet.length - 2);
      expect(parsePacket(linkLayerOf(framing), packet), framing).toBe('icrc_mismatch');
    }
  });

  it('vcrc_mismatch', () => {
    const packet = build('infiniband_local', PacketOpcode.reliableConnectionSendOnly, 8);
    packet[packet.length - 1]! ^= 1;
    expect(parsePacket(LinkLayer.infiniband, packet)).toBe('vcrc_mismatch');
  });

  it('unexpected_payload: an acknowledgement with payload', () => {
    const packet = build('ethernet_ipv4', PacketOpcode.reliableConnectionAcknowledge, 4);
    expect(parsePacket(LinkLayer.ethernet, packet)).toBe('unexpected_payload');
  });

  it('too_long: 4097 B of payload', () => {
    const opcode = PacketOpcode.reliableConnectionSendOnly;
    expect(parsePacket(LinkLayer.ethernet, build('ethernet_ipv6', opcode, 4096))).toBeTypeOf('object');
    expect(parsePacket(LinkLayer.ethernet, build('ethernet_ipv6', opcode, 4097))).toBe('too_long');
  });

  it('too_short: no room for the headers of its opcode', () => {
    const packet = build('infiniband_local', PacketOpcode.reliableConnectionSendOnly, 0);
    const write = changed('infiniband_local', packet, (view) => view.setUint8(8, 0x0a));
    expect(parsePacket(LinkLayer.infiniband, write)).toBe('too_short');
  });
});

describe('packets built by other implementations', () => {
  it('the sample local packet of InfiniBand volume 1, 7.8.3', () => {
    const sample = bytes(
      '7012375c 000e17d2 0a202487 0087b1b3 000dec2a 01710a1c 015d4002 38f27a05 0000000e bb884d85 fd5cfba4 728bc069 0ed40000 9625b75a',
    );
    const vcrc = onWire('vcrc', bitwise('vcrc', 0xffff, sample));
    expect(parsePacket(LinkLayer.infiniband, Uint8Array.of(...sample, ...vcrc))).toMatchObject({
      framing: 'infiniband_local',
      partitionKey: 0x2487,
      destinationQueuePair: 0x87b1b3,
      fields: {
        ...noFields,
        opcode: PacketOpcode.reliableConnectionRdmaWriteOnly,
        packetSequenceNumber: 0x0dec2a,
        virtualAddress: 0x01710a1c015d4002n,
        remoteKey: 0x38f27a05,
        dmaLength: 14,
      },
      payload: bytes('bb884d85 fd5cfba4 728bc069 0ed4'),
    });
  });

  it('a congestion notification by a ConnectX-4 Lx, captured for the RoCE tests of Scapy', () => {
    const frame = bytes(
      'e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a',
    );
    expect(parsePacket(LinkLayer.ethernet, frame)).toMatchObject({
      framing: 'ethernet_ipv4',
      backwardCongestion: true,
      destinationQueuePair: 0x000118,
      fields: { ...noFields, opcode: PacketOpcode.congestionNotification },
      sourceGid: ipv4Gid(Uint8Array.of(10, 0, 17, 1)),
      destinationGid: ipv4Gid(Uint8Array.of(10, 0, 18, 1)),
    });
  });

  it('an unreliable SEND Only with a UDP checksum, of the RoCE tests of Scapy', () => {
    const frame = bytes(
      '248a07a8fa22248a07a8fa220800 45010040047840004011b4d5c0a80007c0a80007 c00012b7002caca2 2460ffff000000d300cf1710 4630818be28935d90e9a95505401be885e500000 78f353f3',
    );
    expect(parsePacket(LinkLayer.ethernet, frame)).toMatchObject({
      destinationQueuePair: 211,
      fields: {
        ...noFields,
        opcode: PacketOpcode.unreliableConnectionSendOnly,
        packetSequenceNumber: 13571856,
      },
      payload: bytes('4630818be28935d90e9a95505401be885e50'),
    });
  });
});
