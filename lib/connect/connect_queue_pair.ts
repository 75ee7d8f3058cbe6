import { Access, PathMtu, QueuePairState, type AddressVector, type QueuePair } from '../index.ts';
import { bytesOf, macOf, type LocalPlace, type QueuePairAddress } from './address.ts';

/** How two queue pairs are connected. */
export interface ConnectionAttributes extends LocalPlace {
  /** Default 1024 B. */
  readonly pathMtu?: PathMtu;
  /** Rights of the peer to this queue pair's memory, of {@link Access}. Default all. */
  readonly access?: number;
  /** Local ACK timeout, 4.096 µs × 2^timeout. Default 14: 67 ms. */
  readonly timeout?: number;
  /** Default 7. */
  readonly retryCount?: number;
  /** Default 7: for ever. */
  readonly receiverNotReadyRetry?: number;
  /** RDMA READs and atomics outstanding in each direction; default 16. */
  readonly readAtomics?: number;
  /** 0 to 15. Default 0. */
  readonly serviceLevel?: number;
}

const everyRight = Access.localWrite | Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;
const hopLimit = 64;
const timerOf640Microseconds = 12;

/**
 * Brings a queue pair of a connected service from RESET to RTS, its peer being `remote`.
 * @throws VerbsError as QueuePair.modify; TypeError: the address of the peer is not one
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
 * Brings a queue pair of unreliable datagram from RESET to RTS.
 * @param queueKey 32 bits; a peer that sends to the queue pair names it
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

/** The way to a queue pair. @throws TypeError: its address is not one */
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
