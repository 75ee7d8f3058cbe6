import {
  Access,
  PathMtu,
  QueuePairState,
  type AddressVector,
  type QueuePair,
  type QueuePairAttributes,
  type WaitOptions,
} from '../index.ts';
import { wrongType } from '../driver/arguments.ts';
import { bytesOf, macOf, type LocalPlace, type QueuePairAddress } from './address.ts';
import { localAckTimeout } from './local_ack_timeout.ts';

/** Options for connecting two queue pairs. */
export interface ConnectionAttributes extends LocalPlace {
  /** Path MTU. Default 1024 B. */
  readonly pathMtu?: PathMtu;
  /** Rights of the peer to this queue pair's memory, of {@link Access}. Default all. */
  readonly access?: number;
  /** Local ACK timeout, 4.096 µs × 2^timeout. Default 14, 67 ms; with packetLifetime what {@link localAckTimeout} makes of it. */
  readonly timeout?: number;
  /** Longest time that a packet is on its way, 4.096 µs × 2^packetLifetime, instead of `timeout`, which then follows from the target ACK delay in the peer's address. */
  readonly packetLifetime?: number;
  /** Retry count, 0 to 7. Default 7. */
  readonly retryCount?: number;
  /** RNR retry count, 0 to 7. Default 7: unlimited. */
  readonly receiverNotReadyRetry?: number;
  /**
   * End-to-end flow control (RC): the queue pair sends messages that need a receive only as the peer posts receives, and tells the peer of its own.
   * Both sides should ask for it; where one does not, the other is not limited. Default false.
   */
  readonly endToEndCredits?: boolean;
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
  for (const change of changesTo(queuePair, local, remote, attributes)) queuePair.modify(change);
}

/**
 * As {@link connectQueuePair}, for a queue pair that was connected before: awaits the end of its number's time-wait without holding the event
 * loop. A wait that ends early leaves the queue pair in INIT.
 * @throws as QueuePair.modifyAsync; TypeError: an invalid peer address
 */
export async function connectQueuePairAsync(
  queuePair: QueuePair,
  local: QueuePairAddress,
  remote: QueuePairAddress,
  attributes: ConnectionAttributes = {},
  wait: WaitOptions = {},
): Promise<void> {
  for (const change of changesTo(queuePair, local, remote, attributes))
    await queuePair.modifyAsync(change, wait);
}

/** @throws TypeError: the timeout is given twice; RangeError: packetLifetime, or the peer's targetAckDelay */
function timeoutOf(
  { timeout, packetLifetime }: ConnectionAttributes,
  remote: QueuePairAddress,
  local: QueuePairAddress,
): number {
  if (packetLifetime === undefined) return timeout ?? 14;
  if (timeout !== undefined)
    throw wrongType('timeout', 'absent where packetLifetime is given, from which it follows', timeout);
  const targetAckDelay = remote.targetAckDelay ?? local.targetAckDelay;
  if (targetAckDelay === undefined)
    throw wrongType('targetAckDelay', 'in the address of the peer, as addressOf() gives it', targetAckDelay);
  return localAckTimeout({ packetLifetime, targetAckDelay });
}

/** The changes of state from RESET to RTS. */
function changesTo(
  { type }: QueuePair,
  local: QueuePairAddress,
  remote: QueuePairAddress,
  attributes: ConnectionAttributes,
): QueuePairAttributes[] {
  const { port = 1, readAtomics = 16 } = attributes;
  const isReliable = type === 'RC';
  return [
    {
      state: QueuePairState.init,
      partitionKeyIndex: 0,
      port,
      accessFlags: attributes.access ?? everyRight,
    },
    {
      state: QueuePairState.readyToReceive,
      addressVector: addressVectorTo(remote, attributes),
      pathMtu: attributes.pathMtu ?? PathMtu.mtu1024,
      destinationQueuePair: remote.queuePairNumber,
      receivePsn: remote.packetSequenceNumber,
      ...(isReliable && {
        maxDestinationReadAtomic: readAtomics,
        minReceiverNotReadyTimer: timerOf640Microseconds,
        ...(attributes.endToEndCredits === true && { endToEndCredits: true }),
      }),
    },
    {
      state: QueuePairState.readyToSend,
      sendPsn: local.packetSequenceNumber,
      ...(isReliable && {
        timeout: timeoutOf(attributes, remote, local),
        retryCount: attributes.retryCount ?? 7,
        receiverNotReadyRetry: attributes.receiverNotReadyRetry ?? 7,
        maxReadAtomic: readAtomics,
      }),
    },
  ];
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
