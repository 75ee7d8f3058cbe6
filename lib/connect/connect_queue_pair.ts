import { Access, PathMtu, QueuePairState, type QueuePair } from '../index.ts';
import { bytesOf, macOf, type LocalPlace, type QueuePairAddress } from './address.ts';

/** How two queue pairs are connected. */
export interface ConnectionAttributes extends LocalPlace {
  /** Default 1024 B. */
  readonly pathMtu?: PathMtu;
  /** What the peer may do in this queue pair's memory, of {@link Access}. Default all. */
  readonly access?: number;
  /** Local ACK timeout, 4.096 µs × 2^timeout. Default 14: 67 ms. */
  readonly timeout?: number;
  /** Default 7. */
  readonly retryCount?: number;
  /** Default 7: for ever. */
  readonly receiverNotReadyRetry?: number;
  /** RDMA READs and atomics outstanding in each direction; default 16. */
  readonly readAtomics?: number;
  readonly serviceLevel?: number;
}

const everyRight = Access.localWrite | Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;
const hopLimit = 64;
const timerOf640Microseconds = 12;

/**
 * Brings a queue pair from RESET to RTS, its peer being `remote`.
 * @throws VerbsError as QueuePair.modify; TypeError: the address of the peer is not one
 */
export function connectQueuePair(
  queuePair: QueuePair,
  local: QueuePairAddress,
  remote: QueuePairAddress,
  attributes: ConnectionAttributes = {},
): void {
  const { port = 1, gidIndex = 0, readAtomics = 16 } = attributes;
  const destination = {
    port,
    gidIndex,
    hopLimit,
    isGlobal: true,
    serviceLevel: attributes.serviceLevel ?? 0,
    destinationGid: bytesOf('gid', remote.gid, 16),
    destinationMac: macOf(remote),
    destinationLocalIdentifier: remote.localIdentifier ?? 0,
  };
  queuePair.modify({
    state: QueuePairState.init,
    partitionKeyIndex: 0,
    port,
    accessFlags: attributes.access ?? everyRight,
  });
  queuePair.modify({
    state: QueuePairState.readyToReceive,
    addressVector: destination,
    pathMtu: attributes.pathMtu ?? PathMtu.mtu1024,
    destinationQueuePair: remote.queuePairNumber,
    receivePsn: remote.packetSequenceNumber,
    maxDestinationReadAtomic: readAtomics,
    minReceiverNotReadyTimer: timerOf640Microseconds,
  });
  queuePair.modify({
    state: QueuePairState.readyToSend,
    timeout: attributes.timeout ?? 14,
    retryCount: attributes.retryCount ?? 7,
    receiverNotReadyRetry: attributes.receiverNotReadyRetry ?? 7,
    sendPsn: local.packetSequenceNumber,
    maxReadAtomic: readAtomics,
  });
}
