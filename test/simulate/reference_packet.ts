// Builds and reads RoCEv2 packets between link-local addresses from the specification alone (InfiniBand volume 1, 9.2 to 9.4, annex A17).
const ethernetBytes = 14;
const ipBytes = 40;
const udpBytes = 8;
const baseAt = ethernetBytes + ipBytes + udpBytes;
const baseBytes = 12;
const checkBytes = 4;
const port = 4791;

/** Fields of a packet of a connected service, without its addresses. */
export interface ReferencePacket {
  readonly opcode: number;
  readonly psn: number;
  readonly queuePair: number;
  readonly partitionKey: number;
  readonly acknowledgeRequest: boolean;
  /** RETH and AtomicETH. */
  readonly address: bigint;
  readonly key: number;
  /** RETH. */
  readonly length: number;
  /** AtomicETH. */
  readonly swapAdd: bigint;
  readonly compare: bigint;
  /** AETH. */
  readonly syndrome: number;
  readonly messageSequenceNumber: number;
  /** AtomicAckETH. */
  readonly original: bigint;
  /** ImmDt, as a little-endian host stores it. */
  readonly immediate: number;
  readonly payload: Uint8Array;
}

/** Opcodes of reliable connection; add {@link unreliable} for unreliable connection. */
export const code = {
  sendFirst: 0,
  sendMiddle: 1,
  sendLast: 2,
  sendLastImmediate: 3,
  sendOnly: 4,
  sendOnlyImmediate: 5,
  writeFirst: 6,
  writeMiddle: 7,
  writeLast: 8,
  writeLastImmediate: 9,
  writeOnly: 10,
  writeOnlyImmediate: 11,
  readRequest: 12,
  readFirst: 13,
  readMiddle: 14,
  readLast: 15,
  readOnly: 16,
  acknowledge: 17,
  atomicAcknowledge: 18,
  compareAndSwap: 19,
  fetchAndAdd: 20,
} as const;
export const unreliable = 32;

const { writeFirst, writeOnly, writeOnlyImmediate, readRequest, readFirst, readLast, readOnly } = code;
const withImmediate: readonly number[] = [3, 5, 9, 11];
const withRdma: readonly number[] = [writeFirst, writeOnly, writeOnlyImmediate, readRequest];
const withAtomic: readonly number[] = [code.compareAndSwap, code.fetchAndAdd];
const withAcknowledge: readonly number[] = [
  readFirst,
  readLast,
  readOnly,
  code.acknowledge,
  code.atomicAcknowledge,
];

export const psnMask = 0xff_ffff;

/** The distance from one PSN to another, modulo 2^24: -2^23 to 2^23 - 1. */
export function psnDistance(from: number, to: number): number {
  return ((to - from) << 8) >> 8;
}

export function psnAfter(psn: number, count: number): number {
  return (psn + count) & psnMask;
}

/** An address on the network: MAC and the link-local GID that follows from it (RFC 4291, appendix A). */
export interface Place {
  readonly mac: Uint8Array;
  readonly gid: Uint8Array;
}

export function placeOf(mac: Uint8Array): Place {
  const [a, b, c, d, e, f] = mac as unknown as [number, number, number, number, number, number];
  return { mac, gid: Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xff, 0xfe, d, e, f) };
}

export const blank: ReferencePacket = {
  opcode: 0,
  psn: 0,
  queuePair: 0,
  partitionKey: 0xffff,
  acknowledgeRequest: false,
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

/** Encodes a packet from one address to another. */
export function buildPacket(packet: ReferencePacket, from: Place, to: Place): Uint8Array {
  const { opcode, payload } = packet;
  const kind = opcode % unreliable;
  const extended = [
    ...(withRdma.includes(kind)
      ? [word(packet.address, 8), word(packet.key, 4), word(packet.length, 4)]
      : []),
    ...(withAtomic.includes(kind)
      ? [word(packet.address, 8), word(packet.key, 4), word(packet.swapAdd, 8), word(packet.compare, 8)]
      : []),
    ...(withAcknowledge.includes(kind)
      ? [word((packet.syndrome << 24) | packet.messageSequenceNumber, 4)]
      : []),
    ...(kind === code.atomicAcknowledge ? [word(packet.original, 8)] : []),
    ...(withImmediate.includes(kind) ? [word(packet.immediate, 4).reverse()] : []),
  ];
  const pad = -payload.length & 3;
  const base = [
    Uint8Array.of(opcode, 0x40 | (pad << 4)),
    word(packet.partitionKey, 2),
    word(packet.queuePair, 4),
    word((packet.acknowledgeRequest ? 2 ** 31 : 0) + packet.psn, 4),
  ];
  const body = Buffer.concat([...base, ...extended, payload, new Uint8Array(pad + checkBytes)]);
  const bytes = Buffer.concat([
    to.mac,
    from.mac,
    Uint8Array.of(0x86, 0xdd, 0x60, 0, 0, 0),
    word(udpBytes + body.length, 2),
    Uint8Array.of(17, 64),
    from.gid,
    to.gid,
    word(0xc000 | (packet.queuePair & 0x3fff), 2),
    word(port, 2),
    word(udpBytes + body.length, 2),
    word(0, 2),
    body,
  ]);
  putCheck(bytes);
  return bytes;
}

/** Decodes a packet; undefined: it is too short for a connected service. */
export function readPacket(bytes: Uint8Array): ReferencePacket | undefined {
  if (bytes.length < baseAt + baseBytes + checkBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const opcode = view.getUint8(baseAt);
  const kind = opcode % unreliable;
  let at = baseAt + baseBytes;
  const [rdma, atomic] = [withRdma.includes(kind), withAtomic.includes(kind)];
  const request =
    rdma || atomic ? { address: view.getBigUint64(at), key: view.getUint32(at + 8) } : undefined;
  const length = rdma ? view.getUint32(at + 12) : 0;
  const operands = atomic
    ? { swapAdd: view.getBigUint64(at + 12), compare: view.getBigUint64(at + 20) }
    : undefined;
  at += (rdma ? 16 : 0) + (atomic ? 28 : 0);
  const answer = withAcknowledge.includes(kind)
    ? { syndrome: view.getUint8(at), messageSequenceNumber: view.getUint32(at) & psnMask }
    : undefined;
  at += answer === undefined ? 0 : 4;
  const original = kind === code.atomicAcknowledge ? view.getBigUint64(at) : 0n;
  at += kind === code.atomicAcknowledge ? 8 : 0;
  const immediate = withImmediate.includes(kind) ? view.getUint32(at, true) : 0;
  at += withImmediate.includes(kind) ? 4 : 0;
  const pad = (view.getUint8(baseAt + 1) >> 4) & 3;
  return {
    ...blank,
    opcode,
    psn: view.getUint32(baseAt + 8) & psnMask,
    queuePair: view.getUint32(baseAt + 4) & psnMask,
    partitionKey: view.getUint16(baseAt + 2),
    acknowledgeRequest: view.getUint8(baseAt + 8) >> 7 === 1,
    ...request,
    length,
    ...operands,
    ...answer,
    original,
    immediate,
    payload: bytes.subarray(at, bytes.length - checkBytes - pad),
  };
}

/** Writes the ICRC at the end of a packet (InfiniBand volume 1, 7.8.1, and annex A17.3.3). */
export function putCheck(packet: Uint8Array): void {
  const end = packet.length - checkBytes;
  let register = 0xffff_ffff;
  const add = (byte: number): void => {
    register = (register >>> 8) ^ table[(register ^ byte) & 0xff]!;
  };
  for (let count = 0; count < 8; count++) add(0xff);
  for (let at = ethernetBytes; at < end; at++) add(packet[at]! | variant(at));
  new DataView(packet.buffer, packet.byteOffset).setUint32(end, ~register >>> 0, true);
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let register = byte;
  for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (register & 1 ? 0xedb8_8320 : 0);
  return register;
});

/** Bits that the ICRC counts as ones because routers change them: traffic class, flow label, hop limit, UDP checksum, BTH's reserved byte. */
function variant(at: number): number {
  if (at === ethernetBytes) return 0x0f;
  const isVariant =
    (at > ethernetBytes && at < ethernetBytes + 4) ||
    at === ethernetBytes + 7 ||
    at === baseAt - 2 ||
    at === baseAt - 1 ||
    at === baseAt + 4;
  return isVariant ? 0xff : 0;
}

function word(value: number | bigint, bytes: number): Uint8Array {
  const made = new Uint8Array(8);
  new DataView(made.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(value)));
  return made.slice(8 - bytes);
}
