import { argumentName, encodeArguments, wrongType } from './arguments.ts';

/** Where the peer is (address_vector). */
export interface AddressVector {
  /** Physical port, from 1. */
  readonly port: number;
  /** 0 to 15. Default 0. */
  readonly serviceLevel?: number;
  /** A GRH is sent: always on Ethernet. Default false. */
  readonly isGlobal?: boolean;
  /** Low bits of the source LID, 0 to 127 (InfiniBand). */
  readonly sourcePathBits?: number;
  /** 0: that of the port. */
  readonly staticRate?: number;
  /** LID of the peer, 16 bits (InfiniBand). */
  readonly destinationLocalIdentifier?: number;
  /** 0 to 255, of the GRH. */
  readonly hopLimit?: number;
  /** 0 to 255, of the GRH. */
  readonly trafficClass?: number;
  /** 20 bits, of the GRH. */
  readonly flowLabel?: number;
  /** Entry of the port's GID table: the source GID. 0 to 15. */
  readonly gidIndex?: number;
  /** 6 bytes. Default: that of a link-local GID or of a multicast group; none for another. */
  readonly destinationMac?: Uint8Array;
  /** 0: from a hash of both queue pair numbers. */
  readonly udpSourcePort?: number;
  /** VLAN tag (Ethernet); 0: none. */
  readonly vlan?: number;
  /** 16 bytes. */
  readonly destinationGid?: Uint8Array;
}

const macBytes = 6;

/** As the specification writes a name. */
export function specified(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The structure address_vector. @throws TypeError, RangeError, which name the argument from `addressVector` on */
export function encodeAddressVector(vector: AddressVector): Uint8Array {
  const {
    isGlobal,
    destinationGid = new Uint8Array(16),
    destinationMac = macOf(destinationGid),
    ...numbers
  } = vector;
  if (!(destinationMac instanceof Uint8Array) || destinationMac.length !== macBytes) {
    throw wrongType('addressVector.destinationMac', `a Uint8Array of ${macBytes} bytes`, destinationMac);
  }
  const mac = new DataView(Uint8Array.from(destinationMac).buffer);
  const fields = {
    ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [specified(name), value])),
    is_global: isGlobal === true ? 1 : 0,
    destination_mac_low: mac.getUint32(0, true),
    destination_mac_high: mac.getUint16(4, true),
    destination_gid: destinationGid,
  };
  return encodeArguments('address_vector', fields, (field) => `addressVector.${argumentName(field)}`);
}

/**
 * The MAC address that a GID tells: one that a link-local GID was made from as EUI-64 (RFC 4291, appendix A), or that of a multicast
 * group (RFC 1112, 6.4 and RFC 2464, 7). Another GID tells none: zero.
 */
function macOf(gid: Uint8Array): Uint8Array {
  const mac = new Uint8Array(6);
  if (isIpv4(gid)) {
    if (gid[12]! >> 4 === 0xe) mac.set([0x01, 0x00, 0x5e, gid[13]! & 0x7f, gid[14]!, gid[15]!]);
    return mac;
  }
  if (gid[0] === 0xff) {
    mac.set([0x33, 0x33]);
    mac.set(gid.subarray(12), 2);
    return mac;
  }
  const isLinkLocal = gid[0] === 0xfe && gid[1] === 0x80 && gid[11] === 0xff && gid[12] === 0xfe;
  if (!isLinkLocal) return mac;
  mac.set(gid.subarray(8, 11));
  mac.set(gid.subarray(13, 16), 3);
  mac[0]! ^= 2;
  return mac;
}

/** Whether a GID is an IPv4 address, ::ffff:a.b.c.d. */
export function isIpv4(gid: Uint8Array): boolean {
  return gid.subarray(0, 10).every((byte) => byte === 0) && gid[10] === 0xff && gid[11] === 0xff;
}
