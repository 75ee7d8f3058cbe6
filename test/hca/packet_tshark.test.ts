import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { framings } from '../helpers/icrc_port.ts';
import { buildPacket, type PacketFields, type PacketPath } from '../helpers/packet_port.ts';
import { anyFields, anyPath, extendedHeadersOf, hasPayload, opcodes } from '../helpers/packets.ts';
import { ethernetCapture, infinibandCapture } from '../helpers/pcap.ts';
import { dissect } from '../helpers/tshark.ts';

type Decoded = Record<string, string | number | bigint>;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const mac = (bytes: Uint8Array): string => hex(bytes).match(/../g)!.join(':');
const ipv4 = (gid: Uint8Array): string => gid.slice(12).join('.');
/** An IPv6 address as URLs write it. */
const ipv6 = (text: string): string => new URL(`http://[${text}]`).hostname.slice(1, -1);
const gidText = (gid: Uint8Array): string => ipv6(hex(gid).match(/..../g)!.join(':'));

/**
 * The fields of the headers before the BTH that tshark must print; `bytes` run from there through the ICRC.
 */
function expectedPath(path: PacketPath, bytes: number): Decoded {
  const ethernet = (etherType: number): Decoded => ({
    'eth.dst': mac(path.destinationMac),
    'eth.src': mac(path.sourceMac),
    'eth.type': path.vlan === 0 ? etherType : 0x8100,
    ...(path.vlan !== 0 && {
      'vlan.priority': path.vlan >> 13,
      'vlan.id': path.vlan & 0xfff,
      'vlan.etype': etherType,
    }),
    'udp.srcport': path.udpSourcePort,
    'udp.dstport': 4791,
    'udp.length': bytes + 8,
  });
  const localRoute: Decoded = {
    'infiniband.lrh.vl': 0,
    'infiniband.lrh.lver': 0,
    'infiniband.lrh.sl': path.serviceLevel,
    'infiniband.lrh.dlid': path.destinationLid,
    'infiniband.lrh.slid': path.sourceLid + path.sourcePathBits,
  };
  switch (path.framing) {
    case 'ethernet_ipv4':
      return {
        ...ethernet(0x0800),
        'ip.src': ipv4(path.sourceGid),
        'ip.dst': ipv4(path.destinationGid),
        'ip.dsfield': path.trafficClass,
        'ip.ttl': path.hopLimit,
        'ip.len': bytes + 28,
        'ip.flags.df': 1,
        'ip.checksum.status': 1, // good
      };
    case 'ethernet_ipv6':
      return {
        ...ethernet(0x86dd),
        'ipv6.src': gidText(path.sourceGid),
        'ipv6.dst': gidText(path.destinationGid),
        'ipv6.tclass': path.trafficClass,
        'ipv6.flow': path.flowLabel,
        'ipv6.hlim': path.hopLimit,
        'ipv6.plen': bytes + 8,
      };
    case 'infiniband_local':
      return { ...localRoute, 'infiniband.lrh.lnh': 2, 'infiniband.lrh.pktlen': (bytes + 8) / 4 };
    case 'infiniband_global':
      return {
        ...localRoute,
        'infiniband.lrh.lnh': 3,
        'infiniband.lrh.pktlen': (bytes + 48) / 4,
        'infiniband.grh.ipver': 6,
        'infiniband.grh.tclass': path.trafficClass,
        'infiniband.grh.flowlabel': path.flowLabel,
        'infiniband.grh.paylen': bytes,
        'infiniband.grh.nxthdr': 27,
        'infiniband.grh.hoplmt': path.hopLimit,
        'infiniband.grh.sgid': gidText(path.sourceGid),
        'infiniband.grh.dgid': gidText(path.destinationGid),
      };
  }
}

/** The fields of the transport headers that it must print. */
function expectedTransport(path: PacketPath, fields: PacketFields, name: string, pad: number): Decoded {
  const word = (value: number): string => value.toString(16).padStart(8, '0');
  const extended: Record<string, Decoded> = {
    datagram_extended_transport_header: {
      'infiniband.deth.q_key': fields.queueKey,
      'infiniband.deth.srcqp': fields.sourceQueuePair,
    },
    rdma_extended_transport_header: {
      'infiniband.reth.va': fields.virtualAddress,
      'infiniband.reth.r_key': fields.remoteKey,
      'infiniband.reth.dmalen': fields.dmaLength,
    },
    atomic_extended_transport_header: {
      'infiniband.reth.va': fields.virtualAddress,
      'infiniband.reth.r_key': fields.remoteKey,
      'infiniband.atomiceth.swapdt': fields.swapAdd,
      'infiniband.atomiceth.cmpdt': fields.compare,
    },
    acknowledge_extended_transport_header: {
      'infiniband.aeth.syndrome': fields.syndrome,
      'infiniband.aeth.msn': fields.messageSequenceNumber,
    },
    atomic_acknowledge_extended_transport_header: {
      'infiniband.atomicacketh.origremdt': fields.originalData,
    },
    // tshark prints these twice, because header and field have the same name.
    immediate_extended_transport_header: {
      'infiniband.immdt': `${word(fields.immediateData)},${word(fields.immediateData)}`,
    },
    invalidate_extended_transport_header: {
      'infiniband.ieth': `${word(fields.remoteKey)},${word(fields.remoteKey)}`,
    },
  };
  return Object.assign(
    {
      'infiniband.bth.opcode': fields.opcode,
      'infiniband.bth.se': Number(fields.solicitedEvent),
      'infiniband.bth.m': 1,
      'infiniband.bth.padcnt': pad,
      'infiniband.bth.tver': 0,
      'infiniband.bth.p_key': path.partitionKey,
      'infiniband.bth.destqp': path.destinationQueuePair,
      'infiniband.bth.a': Number(fields.acknowledgeRequest),
      'infiniband.bth.psn': fields.packetSequenceNumber,
    },
    ...extendedHeadersOf(name).map((format) => extended[format]),
  ) as Decoded;
}

const perOpcode = 4;
const seed = 20;
// tshark dissects a congestion notification differently.
const dissected = opcodes.filter(({ name }) => name !== 'congestion_notification');

/** Packets of every opcode in one framing, with the expected output of tshark. */
function packetsOf(framing: (typeof framings)[number]): { packet: Uint8Array; expected: Decoded }[] {
  const isEthernet = framing.startsWith('ethernet');
  return dissected.flatMap(({ opcode, name }) => {
    const arbitrary = fc.record({
      // Ports from C000h belong to no other protocol, and queue pairs other than 0 and 1 have no special
      // meaning.
      path: anyPath
        .filter((path) => path.framing === framing && path.destinationQueuePair > 1)
        .map((path): PacketPath => ({ ...path, udpSourcePort: path.udpSourcePort | 0xc000 })),
      fields: anyFields(opcode, name).filter((fields) => fields.sourceQueuePair !== 1),
      payload: fc.nat(hasPayload(name) ? 64 : 0).map((length) => new Uint8Array(length).fill(0x41)),
    });
    return fc.sample(arbitrary, { numRuns: perOpcode, seed }).map(({ path, fields, payload }) => {
      const packet = buildPacket(path, fields, payload);
      const pad = (4 - (payload.length % 4)) % 4;
      const end = packet.length - (isEthernet ? 0 : 2);
      const before = isEthernet ? (path.vlan === 0 ? 14 : 18) : 0;
      const network = { ethernet_ipv4: 28, ethernet_ipv6: 48, infiniband_local: 8, infiniband_global: 48 };
      const expected: Decoded = {
        ...expectedPath(path, end - before - network[framing]),
        ...expectedTransport(path, fields, name, pad),
        ...(payload.length > 0 && { 'data.data': hex(payload) + '00'.repeat(pad) }),
        'infiniband.invariant.crc': Buffer.from(packet).readUInt32BE(end - 4),
        ...(!isEthernet && { 'infiniband.variant.crc': Buffer.from(packet).readUInt16BE(end) }),
      };
      return { packet, expected };
    });
  });
}

describe('packets as dissected by tshark', () => {
  it.for(framings)('%s, every opcode of RC, UC and UD: field for field', (framing, context) => {
    const tshark = requireTool('tshark', context);
    const packets = packetsOf(framing);
    const fields = [...new Set(packets.flatMap(({ expected }) => Object.keys(expected)))];
    const capture = (framing.startsWith('ethernet') ? ethernetCapture : infinibandCapture)(
      packets.map(({ packet }) => packet),
    );
    const decoded = dissect(tshark, capture, [...fields, '_ws.malformed']);
    expect(decoded).toHaveLength(packets.length);
    for (const [index, { expected }] of packets.entries()) {
      const actual = Object.entries(decoded[index]!).map(([field, text]) => {
        const wanted = expected[field];
        if (wanted === undefined || typeof wanted === 'string')
          return [field, /ipv6\.(src|dst)|gid/.test(field) ? ipv6(text) : text];
        return [field, typeof wanted === 'bigint' ? BigInt(text) : Number(text)];
      });
      expect(Object.fromEntries(actual), `packet ${index + 1}, seed ${seed}`).toEqual(expected);
    }
  });
});
