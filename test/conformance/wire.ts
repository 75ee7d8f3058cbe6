import { bitwise, onWire } from '../helpers/icrc_reference.ts';

/**
 * Packets of RoCEv2 over IPv6 as a peer builds and reads them that shares no code with the device; its
 * offsets are those of InfiniBand volume 1, 9.2 to 9.4, and annex A17.
 */
export interface Packet {
  opcode: number;
  solicited: boolean;
  acknowledgeRequest: boolean;
  partitionKey: number;
  destinationQueuePair: number;
  psn: number;
  /** DETH */
  queueKey: number;
  sourceQueuePair: number;
  /** RETH, AtomicETH */
  address: bigint;
  /** RETH, AtomicETH; IETH */
  key: number;
  /** RETH */
  length: number;
  /** AtomicETH */
  swapAdd: bigint;
  compare: bigint;
  /** AETH */
  syndrome: number;
  messageSequenceNumber: number;
  /** AtomicAckETH */
  original: bigint;
  /** ImmDt */
  immediate: number;
  payload: Uint8Array;
}

export const noPacket: Packet = {
  opcode: 0,
  solicited: false,
  acknowledgeRequest: false,
  partitionKey: 0xffff,
  destinationQueuePair: 0,
  psn: 0,
  queueKey: 0,
  sourceQueuePair: 0,
  address: 0n,
  key: 0,
  length: 0,
  swapAdd: 0n,
  compare: 0n,
  syndrome: 0,
  messageSequenceNumber: 0,
  original: 0n,
  immediate: 0,
  payload: new Uint8Array(),
};

/** Source and destination of a packet. */
export interface Route {
  sourceMac: Uint8Array;
  sourceGid: Uint8Array;
  destinationMac: Uint8Array;
  destinationGid: Uint8Array;
}

const connection = [
  'send_first',
  'send_middle',
  'send_last',
  'send_last_with_immediate',
  'send_only',
  'send_only_with_immediate',
  'rdma_write_first',
  'rdma_write_middle',
  'rdma_write_last',
  'rdma_write_last_with_immediate',
  'rdma_write_only',
  'rdma_write_only_with_immediate',
  'rdma_read_request',
  'rdma_read_response_first',
  'rdma_read_response_middle',
  'rdma_read_response_last',
  'rdma_read_response_only',
  'acknowledge',
  'atomic_acknowledge',
  'compare_and_swap',
  'fetch_and_add',
  'reserved_21',
  'send_last_with_invalidate',
  'send_only_with_invalidate',
  'reserved_24',
] as const;
export type OpcodeName = (typeof connection)[number];

/** Upper 3 bits of an opcode. */
export const services = { RC: 0, UC: 1, UD: 3 } as const;
export type Service = keyof typeof services;

export function opcodeOf(name: string, service: Service): number {
  const value = connection.indexOf(name as OpcodeName);
  if (value < 0) throw new Error(`no packet is named ${name}`);
  return (services[service] << 5) | value;
}

export function nameOf(opcode: number): string {
  return connection[opcode & 0x1f] ?? `reserved_${opcode & 0x1f}`;
}

export function isRequest(name: string): boolean {
  return !/response|acknowledge/.test(name);
}

/** The headers behind the BTH, in wire order, and their bytes. */
const extended: readonly [RegExp, string, number][] = [
  [/rdma_write_(first|only)|rdma_read_request/, 'RETH', 16],
  [/compare_and_swap|fetch_and_add/, 'AtomicETH', 28],
  [/acknowledge|rdma_read_response_(first|last|only)/, 'AETH', 4],
  [/atomic_acknowledge/, 'AtomicAckETH', 8],
  [/with_immediate/, 'ImmDt', 4],
  [/with_invalidate/, 'IETH', 4],
];

function headersOf(opcode: number): [string, number][] {
  const own = extended.filter(([of]) => of.test(nameOf(opcode))).map(([, name, bytes]) => [name, bytes]);
  return [...(opcode >> 5 === services.UD ? [['DETH', 8]] : []), ...own] as [string, number][];
}

const ethernetBytes = 14;
const networkBytes = 40;
const udpBytes = 8;
const transportAt = ethernetBytes + networkBytes + udpBytes;
const baseBytes = 12;
const checkBytes = 4;

export function buildPacket(route: Route, packet: Packet): Uint8Array {
  const headers = headersOf(packet.opcode);
  const headerBytes = baseBytes + headers.reduce((sum, [, bytes]) => sum + bytes, 0);
  const pad = -packet.payload.length & 3;
  const datagram = udpBytes + headerBytes + packet.payload.length + pad + checkBytes;
  const data = new Uint8Array(ethernetBytes + networkBytes + datagram);
  const view = new DataView(data.buffer);
  data.set(route.destinationMac, 0);
  data.set(route.sourceMac, 6);
  view.setUint16(12, 0x86dd);
  view.setUint32(14, 6 << 28);
  view.setUint16(18, datagram);
  data[20] = 17;
  data[21] = 64;
  data.set(route.sourceGid, 22);
  data.set(route.destinationGid, 38);
  view.setUint16(54, 0xc123);
  view.setUint16(56, 4791);
  view.setUint16(58, datagram);
  data[transportAt] = packet.opcode;
  data[transportAt + 1] = (packet.solicited ? 0x80 : 0) | 0x40 | (pad << 4);
  view.setUint16(transportAt + 2, packet.partitionKey);
  view.setUint32(transportAt + 4, packet.destinationQueuePair);
  view.setUint32(transportAt + 8, packet.psn | (packet.acknowledgeRequest ? 0x8000_0000 : 0));
  let at = transportAt + baseBytes;
  for (const [name, bytes] of headers) {
    writeHeader(name, view, at, packet);
    at += bytes;
  }
  data.set(packet.payload, at);
  data.set(invariantCrc(data), data.length - checkBytes);
  return data;
}

function writeHeader(name: string, view: DataView, at: number, packet: Packet): void {
  switch (name) {
    case 'DETH':
      view.setUint32(at, packet.queueKey);
      view.setUint32(at + 4, packet.sourceQueuePair);
      break;
    case 'RETH':
      view.setBigUint64(at, packet.address);
      view.setUint32(at + 8, packet.key);
      view.setUint32(at + 12, packet.length);
      break;
    case 'AtomicETH':
      view.setBigUint64(at, packet.address);
      view.setUint32(at + 8, packet.key);
      view.setBigUint64(at + 12, packet.swapAdd);
      view.setBigUint64(at + 20, packet.compare);
      break;
    case 'AETH':
      view.setUint32(at, packet.messageSequenceNumber);
      view.setUint8(at, packet.syndrome);
      break;
    case 'AtomicAckETH':
      view.setBigUint64(at, packet.original);
      break;
    case 'ImmDt':
      view.setUint32(at, packet.immediate);
      break;
    case 'IETH':
      view.setUint32(at, packet.key);
      break;
  }
}

/** @throws Error it is not a packet of RoCEv2 over IPv6 with the right lengths and ICRC */
export function readPacket(data: Uint8Array): Packet {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const opcode = data[transportAt]!;
  const base = view.getUint32(transportAt + 8);
  const packet: Packet = {
    ...noPacket,
    opcode,
    solicited: (data[transportAt + 1]! & 0x80) !== 0,
    acknowledgeRequest: base >>> 31 === 1,
    partitionKey: view.getUint16(transportAt + 2),
    destinationQueuePair: view.getUint32(transportAt + 4) & 0xff_ffff,
    psn: base & 0xff_ffff,
  };
  let at = transportAt + baseBytes;
  for (const [name, bytes] of headersOf(opcode)) {
    readHeader(name, view, at, packet);
    at += bytes;
  }
  const pad = (data[transportAt + 1]! >> 4) & 3;
  packet.payload = data.slice(at, data.length - checkBytes - pad);
  const expected = invariantCrc(data);
  if (
    view.getUint16(12) !== 0x86dd ||
    data[20] !== 17 ||
    view.getUint16(18) !== data.length - ethernetBytes - networkBytes ||
    view.getUint16(56) !== 4791 ||
    view.getUint16(58) !== view.getUint16(18) ||
    (data[transportAt + 1]! & 0x0f) !== 0 ||
    (packet.payload.length + pad) % 4 !== 0 ||
    expected.some((byte, index) => byte !== data[data.length - checkBytes + index])
  )
    throw new Error(`what left is no packet: ${Buffer.from(data).toString('hex')}`);
  return packet;
}

function readHeader(name: string, view: DataView, at: number, packet: Packet): void {
  switch (name) {
    case 'DETH':
      packet.queueKey = view.getUint32(at);
      packet.sourceQueuePair = view.getUint32(at + 4);
      break;
    case 'RETH':
      packet.address = view.getBigUint64(at);
      packet.key = view.getUint32(at + 8);
      packet.length = view.getUint32(at + 12);
      break;
    case 'AtomicETH':
      packet.address = view.getBigUint64(at);
      packet.key = view.getUint32(at + 8);
      packet.swapAdd = view.getBigUint64(at + 12);
      packet.compare = view.getBigUint64(at + 20);
      break;
    case 'AETH':
      packet.syndrome = view.getUint8(at);
      packet.messageSequenceNumber = view.getUint32(at) & 0xff_ffff;
      break;
    case 'AtomicAckETH':
      packet.original = view.getBigUint64(at);
      break;
    case 'ImmDt':
      packet.immediate = view.getUint32(at);
      break;
    case 'IETH':
      packet.key = view.getUint32(at);
      break;
  }
}

/** The last 4 bytes of a packet (annex A17.3.3); bits that may change on the way count as ones. */
function invariantCrc(data: Uint8Array): Uint8Array {
  const covered = data.slice(ethernetBytes, data.length - checkBytes);
  covered[0]! |= 0x0f;
  for (const at of [1, 2, 3, 7, 46, 47, 52]) covered[at] = 0xff;
  const seed = bitwise('icrc', 0xffff_ffff, new Uint8Array(8).fill(0xff));
  return onWire('icrc', bitwise('icrc', seed, covered));
}
