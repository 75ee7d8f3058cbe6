import { bitwise, onWire } from '../helpers/icrc_reference.ts';

const captureHeaderBytes = 24;
const recordHeaderBytes = 16;
const ethernetBytes = 14;
const tagBytes = 4;
const virtualLan = 0x8100;
const udpBytes = 8;
const ipv6 = 0x86dd;

/** The frames of a capture in the pcap format. */
export function framesOf(capture: Uint8Array): Uint8Array[] {
  const view = new DataView(capture.buffer, capture.byteOffset, capture.byteLength);
  const frames: Uint8Array[] = [];
  for (let at = captureHeaderBytes; at < capture.length;) {
    const bytes = view.getUint32(at + 8, true);
    at += recordHeaderBytes;
    frames.push(capture.subarray(at, at + bytes));
    at += bytes;
  }
  return frames;
}

/**
 * Whether a frame of RoCEv2 ends with the right ICRC: over 8 bytes of ones and the packet from its IP header
 * on, with ones in place of fields that routers change (annex A17).
 */
export function hasRightIcrc(frame: Uint8Array): boolean {
  const etherType = (end: number): number => (frame[end - 2]! << 8) | frame[end - 1]!;
  const begin = ethernetBytes + (etherType(ethernetBytes) === virtualLan ? tagBytes : 0);
  const isIpv6 = etherType(begin) === ipv6;
  const packet = frame.slice(begin);
  const udp = isIpv6 ? 40 : 20;
  const ip = isIpv6 ? [1, 2, 3, 7] : [1, 8, 10, 11];
  const udpChecksum = [udp + 6, udp + 7];
  const reserved = [udp + udpBytes + 4];
  for (const at of [...ip, ...udpChecksum, ...reserved]) packet[at] = 0xff;
  if (isIpv6) packet[0]! |= 0x0f;
  const ones = new Uint8Array(8).fill(0xff);
  const crc = bitwise('icrc', bitwise('icrc', 0xffff_ffff, ones), packet.subarray(0, -4));
  return Buffer.compare(onWire('icrc', crc), packet.subarray(-4)) === 0;
}
