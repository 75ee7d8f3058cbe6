import type { PortPacket } from '../../lib/board/addon.ts';
import { packetOpcodeNames } from '../../lib/spec/index.ts';
import { specificationNames } from '../helpers/specification_names.ts';
import { decodePacket } from '../helpers/packet_decode.ts';

const invariantCrcBytes = 4;

/** Fields of a RoCEv2 packet of a reliable connection. */
export interface WirePacket {
  /** The opcode of its BTH in the specification's words, without the service: `send_first`. */
  readonly opcode: string;
  readonly destinationQueuePair: number;
  readonly psn: number;
  readonly acknowledgeRequest: boolean;
  /** Formats of the extended headers, in wire order. */
  readonly extended: readonly string[];
  /** Without its padding. */
  readonly payloadBytes: number;
  readonly padBytes: number;
  /** Of its AETH. */
  readonly syndrome: number | undefined;
  readonly messageSequenceNumber: number | undefined;
  /** Of its RETH or AtomicETH. */
  readonly virtualAddress: bigint | undefined;
  readonly remoteKey: number | undefined;
  /** Of its RETH. */
  readonly dmaLength: number | undefined;
}

/** Packets that left the ports, in order. A packet to an own address also arrives, and is listed once. */
export function packetsSent(packets: readonly PortPacket[]): WirePacket[] {
  return packets.filter(({ direction }) => direction === 'out').map(({ data }) => readPacket(data));
}

/** Reads a packet between link-local addresses of an Ethernet port. */
export function readPacket(data: Uint8Array): WirePacket {
  const { headers, payloadOffset } = decodePacket('ethernet_ipv6', false, data);
  const { base_transport_header: base, acknowledge_extended_transport_header: acknowledge } = headers;
  const request = headers['rdma_extended_transport_header'] ?? headers['atomic_extended_transport_header'];
  const number = (fields: typeof base, name: string): number | undefined =>
    fields === undefined || fields[name] === undefined ? undefined : Number(fields[name]);
  const padBytes = number(base, 'pad_count')!;
  const address = request?.['virtual_address'];
  return {
    opcode: specificationNames(packetOpcodeNames)[number(base, 'opcode')!]!.replace(
      /^reliable_connection_/,
      '',
    ),
    destinationQueuePair: number(base, 'destination_queue_pair')!,
    psn: number(base, 'packet_sequence_number')!,
    acknowledgeRequest: number(base, 'acknowledge_request') === 1,
    extended: Object.keys(headers).filter((format) => format.includes('_extended_')),
    payloadBytes: data.length - payloadOffset - padBytes - invariantCrcBytes,
    padBytes,
    syndrome: number(acknowledge, 'syndrome'),
    messageSequenceNumber: number(acknowledge, 'message_sequence_number'),
    virtualAddress: address === undefined ? undefined : BigInt(address as bigint | number),
    remoteKey: number(request, 'remote_key'),
    dmaLength: number(request, 'dma_length'),
  };
}
