import { randomInt } from 'node:crypto';

import { wrongRange, wrongType } from '../driver/arguments.ts';
import type { Context, QueuePair } from '../index.ts';

/** Address of a queue pair for its peer: plain JSON, for any channel. */
export interface QueuePairAddress {
  /** Queue pair number, 24 bits. */
  readonly queuePairNumber: number;
  /** PSN of the first packet that it sends, 24 bits. */
  readonly packetSequenceNumber: number;
  /** GID: 32 hexadecimal digits in wire order. */
  readonly gid: string;
  /** MAC address: 12 hexadecimal digits. Default: derived from the GID if it is a link-local GID made from a MAC address (EUI-64). */
  readonly mac?: string;
  /** LID, on InfiniBand. */
  readonly localIdentifier?: number;
  /** Target ACK delay, 4.096 µs × 2^targetAckDelay: how long its device needs for an acknowledgment. Default: as the own device. */
  readonly targetAckDelay?: number;
}

/** Port and GID of a queue pair on its own board. */
export interface LocalPlace {
  /** Physical port, from 1; default 1. */
  readonly port?: number;
  /** Index in the port's GID table; default 0. */
  readonly gidIndex?: number;
}

/**
 * Returns the address of a queue pair, with a packet sequence number that a peer cannot predict.
 * @throws VerbsError EINVAL: there is no such port; RangeError: the port's GID table has no such entry, or the entry is empty
 */
export function addressOf(context: Context, queuePair: QueuePair, place: LocalPlace = {}): QueuePairAddress {
  const { port = 1, gidIndex = 0 } = place;
  const { mac, localIdentifier } = context.queryPort(port);
  const gid = context.queryGid(port, gidIndex);
  if (gid.every((byte) => byte === 0)) {
    const expected = `an entry of the GID table of port ${port} that is not empty; entry 0 never is`;
    throw wrongRange('gidIndex', expected, gidIndex);
  }
  return {
    queuePairNumber: queuePair.number,
    packetSequenceNumber: randomInt(2 ** 24),
    gid: hex(gid),
    mac: hex(mac),
    localIdentifier,
    targetAckDelay: context.queryDevice().limits.targetAckDelay,
  };
}

/** @throws TypeError not `bytes` bytes in hexadecimal digits */
export function bytesOf(name: string, digits: string, bytes: number): Uint8Array {
  if (!new RegExp(`^[0-9a-f]{${2 * bytes}}$`, 'i').test(digits)) {
    throw wrongType(name, `${2 * bytes} hexadecimal digits`, digits);
  }
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

/**
 * Returns the MAC address of a peer. If the address gives none: for an emulated board's GID, 02:f0 and the IPv4 address; for a link-local
 * GID, the MAC address from which it was made (RFC 4291, appendix A); otherwise 02:f1 and the 32-bit FNV-1a of the GID.
 * @throws TypeError not a GID
 */
export function macOf({ gid, mac }: QueuePairAddress): Uint8Array {
  if (mac !== undefined) return bytesOf('mac', mac, 6);
  const bytes = bytesOf('gid', gid, 16);
  if (bytes.every((byte) => byte === 0))
    throw wrongType('mac', `given: the GID ${gid} has no MAC address`, mac);
  const ipv4Prefix = '00000000000000000000ffff';
  if (gid.toLowerCase().startsWith(ipv4Prefix)) return Uint8Array.of(0x02, 0xf0, ...bytes.slice(12));
  const isOfMac = hex(bytes.slice(0, 8)) === 'fe80000000000000' && bytes[11] === 0xff && bytes[12] === 0xfe;
  if (!isOfMac) return Uint8Array.of(0x02, 0xf1, ...hashOf(bytes));
  const universalBit = 2;
  return Uint8Array.of(bytes[8]! ^ universalBit, bytes[9]!, bytes[10]!, bytes[13]!, bytes[14]!, bytes[15]!);
}

/** 32-bit FNV-1a, 4 bytes. */
function hashOf(bytes: Uint8Array): Uint8Array {
  const hash = bytes.reduce((sum, byte) => Math.imul(sum ^ byte, 0x100_0193), 0x811c_9dc5 | 0);
  return Uint8Array.of(hash >>> 24, hash >>> 16, hash >>> 8, hash);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
