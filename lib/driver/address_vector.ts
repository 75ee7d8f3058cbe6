import { argumentName, encodeArguments, wrongType } from './arguments.ts';

/** Address of the peer (address_vector). */
export interface AddressVector {
  /** Physical port, from 1. */
  readonly port: number;
  /** Service level, 0 to 15. Default 0. */
  readonly serviceLevel?: number;
  /** Send a GRH; always true on Ethernet. Default false. */
  readonly isGlobal?: boolean;
  /** Low bits of the source LID, 0 to 127 (InfiniBand). */
  readonly sourcePathBits?: number;
  /** Static rate; 0: that of the port. */
  readonly staticRate?: number;
  /** LID of the peer, 16 bits (InfiniBand). */
  readonly destinationLocalIdentifier?: number;
  /** Hop limit of the GRH, 0 to 255. */
  readonly hopLimit?: number;
  /** Traffic class of the GRH, 0 to 255. */
  readonly trafficClass?: number;
  /** Flow label of the GRH, 20 bits. */
  readonly flowLabel?: number;
  /** Source GID: index in the port's GID table, 0 to 15. */
  readonly gidIndex?: number;
  /** MAC address, 6 bytes. Default: derived from a link-local or multicast GID; required for any other GID. */
  readonly destinationMac?: Uint8Array;
  /** UDP source port; 0: derived from both queue pair numbers. */
  readonly udpSourcePort?: number;
  /** VLAN tag (Ethernet); 0: none. */
  readonly vlan?: number;
  /** GID of the peer, 16 bytes. */
  readonly destinationGid?: Uint8Array;
}

const macBytes = 6;

/** The field's name in the specification. */
export function specified(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Encodes the structure address_vector. @throws TypeError, RangeError, which name the argument from `addressVector` on */
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
 * Derives the MAC address from a GID: from a link-local GID made as EUI-64 (RFC 4291, appendix A), or from a multicast group (RFC 1112, 6.4
 * and RFC 2464, 7). For any other GID it is zero.
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
