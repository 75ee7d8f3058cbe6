import { Access, PathMtu, QueuePairState, type AddressVector, type QueuePair } from '../index.ts';
import { bytesOf, macOf, type LocalPlace, type QueuePairAddress } from './address.ts';

/** Options for connecting two queue pairs. */
export interface ConnectionAttributes extends LocalPlace {
  /** Path MTU. Default 1024 B. */
  readonly pathMtu?: PathMtu;
  /** Rights of the peer to this queue pair's memory, of {@link Access}. Default all. */
  readonly access?: number;
  /** Local ACK timeout, 4.096 µs × 2^timeout. Default 14: 67 ms. */
  readonly timeout?: number;
  /** Retry count, 0 to 7. Default 7. */
  readonly retryCount?: number;
  /** RNR retry count, 0 to 7. Default 7: unlimited. */
  readonly receiverNotReadyRetry?: number;
  /** RDMA READs and atomics outstanding in each direction. Default 16. */
  readonly readAtomics?: number;
  /** Service level, 0 to 15. Default 0. */
  readonly serviceLevel?: number;
}

const everyRight = Access.localWrite | Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;
const hopLimit = 64;
const timerOf640Microseconds = 12;

/**
 * Brings a queue pair of a connected service from RESET to RTS, with `remote` as its peer.
 * @throws VerbsError as QueuePair.modify; TypeError: an invalid peer address
 */
export function connectQueuePair(
  queuePair: QueuePair,
  local: QueuePairAddress,
  remote: QueuePairAddress,
  attributes: ConnectionAttributes = {},
): void {
  const { port = 1, readAtomics = 16 } = attributes;
  const isReliable = queuePair.type === 'RC';
  const addressVector = addressVectorTo(remote, attributes);
  queuePair.modify({
    state: QueuePairState.init,
    partitionKeyIndex: 0,
    port,
    accessFlags: attributes.access ?? everyRight,
  });
  queuePair.modify({
    state: QueuePairState.readyToReceive,
    addressVector,
    pathMtu: attributes.pathMtu ?? PathMtu.mtu1024,
    destinationQueuePair: remote.queuePairNumber,
    receivePsn: remote.packetSequenceNumber,
    ...(isReliable && {
      maxDestinationReadAtomic: readAtomics,
      minReceiverNotReadyTimer: timerOf640Microseconds,
    }),
  });
  queuePair.modify({
    state: QueuePairState.readyToSend,
    sendPsn: local.packetSequenceNumber,
    ...(isReliable && {
      timeout: attributes.timeout ?? 14,
      retryCount: attributes.retryCount ?? 7,
      receiverNotReadyRetry: attributes.receiverNotReadyRetry ?? 7,
      maxReadAtomic: readAtomics,
    }),
  });
}

/**
 * Brings an unreliable datagram queue pair from RESET to RTS.
 * @param queueKey 32 bits; a peer must use it to send to the queue pair
 * @throws VerbsError as QueuePair.modify
 */
export function openQueuePair(
  queuePair: QueuePair,
  local: QueuePairAddress,
  queueKey: number,
  { port = 1 }: LocalPlace = {},
): void {
  queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port, queueKey });
  queuePair.modify({ state: QueuePairState.readyToReceive });
  queuePair.modify({ state: QueuePairState.readyToSend, sendPsn: local.packetSequenceNumber });
}

/** Returns the address vector of a queue pair. @throws TypeError: an invalid address */
export function addressVectorTo(
  remote: QueuePairAddress,
  { port = 1, gidIndex = 0, serviceLevel = 0 }: LocalPlace & { readonly serviceLevel?: number } = {},
): AddressVector {
  return {
    port,
    gidIndex,
    hopLimit,
    isGlobal: true,
    serviceLevel,
    destinationGid: bytesOf('gid', remote.gid, 16),
    destinationMac: macOf(remote),
    destinationLocalIdentifier: remote.localIdentifier ?? 0,
  };
}
