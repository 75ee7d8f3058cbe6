import {
  QueuePairAttribute,
  decode,
  pathMtuNames,
  queuePairStateNames,
  type PathMtu,
  type QueuePairState,
} from '../spec/index.ts';
import { encodeArguments } from './arguments.ts';
import { printedByName } from './named_values.ts';
import { encodeAddressVector, specified, type AddressVector } from './address_vector.ts';

/** Attributes of a queue pair: those of ibv_qp_attr, spelled out. The device decides which ones a transition allows. */
export interface QueuePairAttributes {
  /** The new state. Default: unchanged. */
  readonly state?: QueuePairState;
  /** The state that the caller expects; any other is an error. */
  readonly currentState?: QueuePairState;
  /** With state SQD: requests the event send_queue_drained. */
  readonly drainedEvent?: boolean;
  /** Remote rights. */
  readonly accessFlags?: number;
  /** Index in the port's P_Key table, 0 to 15. */
  readonly partitionKeyIndex?: number;
  /** Physical port, from 1. */
  readonly port?: number;
  /** Q_Key, 32 bits (UD). */
  readonly queueKey?: number;
  /** Address of the peer. */
  readonly addressVector?: AddressVector;
  /** Largest payload of a packet on the path. */
  readonly pathMtu?: PathMtu;
  /** Local ACK timeout: 4.096 µs × 2^timeout, 0 to 31; 0: no timeout. */
  readonly timeout?: number;
  /** Retry count, 0 to 7. */
  readonly retryCount?: number;
  /** RNR retry count, 0 to 7; 7: unlimited. */
  readonly receiverNotReadyRetry?: number;
  /** ePSN, 24 bits. */
  readonly receivePsn?: number;
  /** nPSN, 24 bits. */
  readonly sendPsn?: number;
  /** Maximum READs and atomics outstanding as initiator, up to 16. */
  readonly maxReadAtomic?: number;
  /** Maximum READs and atomics that the peer may have outstanding, up to 16. */
  readonly maxDestinationReadAtomic?: number;
  /** RNR timer, 0 to 31 (InfiniBand volume 1, 9.7.5.2.8). */
  readonly minReceiverNotReadyTimer?: number;
  /**
   * End-to-end flow control of a reliable connection (InfiniBand volume 1, 9.7.7.2): ACKs say how many receives are posted, except of a shared
   * receive queue; SENDs and RDMA WRITEs with immediate go as far as the peer's ACKs allow. Default false: ACKs say nothing, and what they say is
   * ignored.
   */
  readonly endToEndCredits?: boolean;
  /** Number of the peer's queue pair, 24 bits. */
  readonly destinationQueuePair?: number;
  /**
   * With state RESET, of a connected service: the queue pair gets another number, which {@link QueuePair.number} and addressOf() give then. It can
   * be connected again at once; with the number that it had, to the same peer, when packets of its former connection cannot come any more
   * (US7095750).
   */
  readonly newNumber?: boolean;
}

/** Attributes and positions of a queue pair, as the device has them. */
export type QueuePairQuery = Required<
  Omit<QueuePairAttributes, 'addressVector' | 'currentState' | 'newNumber'>
> & {
  /** Number that peers know. */
  readonly virtualNumber: number;
  /** Sequence numbers: next to execute, newest posted, oldest not acknowledged. */
  readonly next: number;
  readonly posted: number;
  readonly acknowledged: number;
  /** Data units in the device that refer to the queue pair. */
  readonly inFlight: number;
  /** Numbers of its completion queues; 0: none. */
  readonly sendCompletionQueue: number;
  readonly receiveCompletionQueue: number;
};

/**
 * Encodes the structure queue_pair_attributes, with a mask of the attributes given.
 * @param bindAtOnce the device refuses a change to RTR that would wait for the number
 */
export function encodeQueuePairAttributes(attributes: QueuePairAttributes, bindAtOnce: boolean): Uint8Array {
  const { addressVector, drainedEvent, endToEndCredits, newNumber, ...numbers } = attributes;
  const given = Object.keys(attributes).filter(
    (name) => Reflect.get(attributes, name) !== undefined && (name !== 'newNumber' || newNumber === true),
  );
  return encodeArguments('queue_pair_attributes', {
    attribute_mask:
      given.reduce((mask, name) => mask | (1 << Reflect.get(QueuePairAttribute, name)), 0) >>> 0,
    drained_event: drainedEvent === true ? 1 : 0,
    end_to_end_credits: endToEndCredits === true ? 1 : 0,
    bind_at_once: bindAtOnce ? 1 : 0,
    ...(addressVector === undefined ? {} : { address_vector: encodeAddressVector(addressVector) }),
    ...Object.fromEntries(
      Object.entries(numbers)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [specified(name), value]),
    ),
  });
}

/** Decodes the output of query_queue_pair. */
export function decodeQueuePairAttributes(bytes: Uint8Array): QueuePairQuery {
  const fields = decode('queue_pair_attributes', bytes);
  const value = (name: string): number => Number(fields[specified(name)]);
  const query: QueuePairQuery = {
    state: value('state') as QueuePairState,
    drainedEvent: value('drainedEvent') === 1,
    accessFlags: value('accessFlags'),
    partitionKeyIndex: value('partitionKeyIndex'),
    port: value('port'),
    queueKey: value('queueKey'),
    pathMtu: value('pathMtu') as PathMtu,
    timeout: value('timeout'),
    retryCount: value('retryCount'),
    receiverNotReadyRetry: value('receiverNotReadyRetry'),
    receivePsn: value('receivePsn'),
    sendPsn: value('sendPsn'),
    maxReadAtomic: value('maxReadAtomic'),
    maxDestinationReadAtomic: value('maxDestinationReadAtomic'),
    minReceiverNotReadyTimer: value('minReceiverNotReadyTimer'),
    destinationQueuePair: value('destinationQueuePair'),
    endToEndCredits: value('endToEndCredits') === 1,
    next: value('next'),
    posted: value('posted'),
    acknowledged: value('acknowledged'),
    inFlight: value('inFlight'),
    virtualNumber: value('virtualQueuePair'),
    sendCompletionQueue: value('sendCompletionQueue'),
    receiveCompletionQueue: value('receiveCompletionQueue'),
  };
  return printedByName(query, { state: queuePairStateNames, pathMtu: pathMtuNames });
}
