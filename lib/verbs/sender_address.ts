import { wrongRange } from '../driver/arguments.ts';
import { isIpv4, type AddressVector } from '../driver/address_vector.ts';
import type { Completion } from '../driver/completion.ts';
import type { PortAttributes } from '../driver/port.ts';
import { GLOBAL_ROUTE_HEADER_BYTES, IPV4_HEADER_BYTES, decode } from '../spec/index.ts';

const answerHopLimit = 0xff;

/**
 * Returns the address vector for a reply to a datagram.
 * @param port that received the datagram, with its attributes
 * @param globalRoute the first 40 B of the receive buffer; used if the completion reports a GRH
 * @throws RangeError fewer than 40 B
 */
export function senderAddress(
  port: number,
  { gids }: PortAttributes,
  completion: Completion,
  globalRoute: Uint8Array,
): AddressVector {
  const vector = {
    port,
    serviceLevel: completion.serviceLevel,
    sourcePathBits: completion.destinationPathBits,
    destinationLocalIdentifier: completion.sourceLocalIdentifier,
  };
  if (!completion.withGlobalRouteHeader) return vector;
  if (globalRoute.length < GLOBAL_ROUTE_HEADER_BYTES) {
    const expected = `${GLOBAL_ROUTE_HEADER_BYTES} B or more, from the begin of the memory that was received into`;
    throw wrongRange('globalRoute.length', expected, globalRoute.length);
  }
  const { source, destination, ...route } = readRoute(globalRoute);
  return {
    ...vector,
    ...route,
    isGlobal: true,
    hopLimit: answerHopLimit,
    gidIndex: ownIndex(gids, destination),
    destinationGid: source,
    destinationMac: completion.sourceMac,
  };
}

interface Route {
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  readonly trafficClass: number;
  readonly flowLabel: number;
}

/** GRH and IPv6 header have the same layout; an IPv4 header is in the last 20 B (annex A17). */
function readRoute(globalRoute: Uint8Array): Route {
  const header = globalRoute.slice(0, GLOBAL_ROUTE_HEADER_BYTES);
  if (header[0]! >> 4 === 6) {
    const fields = decode('global_route_header', header);
    return {
      source: fields['source_gid'] as Uint8Array,
      destination: fields['destination_gid'] as Uint8Array,
      trafficClass: Number(fields['traffic_class']),
      flowLabel: Number(fields['flow_label']),
    };
  }
  const fields = decode('ipv4_header', header.slice(GLOBAL_ROUTE_HEADER_BYTES - IPV4_HEADER_BYTES));
  return {
    source: ipv4Gid(Number(fields['source_address'])),
    destination: ipv4Gid(Number(fields['destination_address'])),
    trafficClass:
      (Number(fields['differentiated_services']) << 2) | Number(fields['congestion_notification']),
    flowLabel: 0,
  };
}

function ipv4Gid(address: number): Uint8Array {
  const gid = new Uint8Array(16);
  gid.set([0xff, 0xff], 10);
  new DataView(gid.buffer).setUint32(12, address);
  return gid;
}

/** Index of the GID that the datagram was sent to; for a multicast datagram, the first GID of the same type. */
function ownIndex(gids: readonly Uint8Array[], destination: Uint8Array): number {
  const index = gids.findIndex((gid) => Buffer.compare(gid, destination) === 0);
  return index >= 0 ? index : gids.findIndex((gid) => isIpv4(gid) === isIpv4(destination));
}
