import {
  Access,
  Completion,
  PathMtu,
  QueuePairState,
  type MemoryRegion,
  type QueuePair,
  type QueuePairCapabilities,
  type QueuePairType,
  type SharedReceiveQueue,
} from '../../lib/index.ts';
import type { QueuePairAttributes } from '../../lib/driver/queue_pair_attributes.ts';
import { makeQueuePair, type Verbs } from './make_verbs.ts';

export const everyRight = Access.localWrite | Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;

export interface End {
  readonly verbs: Verbs;
  readonly queuePair: QueuePair;
}

/** Attributes of a connection that differ from the defaults. */
export interface ConnectOptions extends Partial<QueuePairAttributes> {
  readonly capabilities?: QueuePairCapabilities;
  /** Default RC. */
  readonly type?: QueuePairType;
  /** Where the queue pair receives from; default: its own receive queue. */
  readonly sharedReceiveQueue?: SharedReceiveQueue;
}

export function makeEnd(
  verbs: Verbs,
  { capabilities, type = 'RC', sharedReceiveQueue }: ConnectOptions = {},
): End {
  const sizes = {
    maxSendWorkRequests: 64,
    maxReceiveWorkRequests: 64,
    maxGatherEntries: 16,
    maxScatterEntries: 16,
    maxInlineData: 256,
    ...capabilities,
  };
  return { verbs, queuePair: makeQueuePair(verbs, sizes, type, sharedReceiveQueue) };
}

/** Brings one end to RTS, with `to` as its peer; each sends from PSN 201 on. */
export function connect(end: End, to: End, options: ConnectOptions = {}): void {
  const { capabilities: _, sharedReceiveQueue: __, type = 'RC', ...changes } = options;
  const attributes = {
    accessFlags: everyRight,
    partitionKeyIndex: 0,
    port: 1,
    addressVector: {
      port: 1,
      isGlobal: true,
      hopLimit: 64,
      destinationGid: to.verbs.context.queryGid(1, 0),
    },
    pathMtu: PathMtu.mtu1024,
    destinationQueuePair: to.queuePair.number,
    receivePsn: 201,
    maxDestinationReadAtomic: 16,
    minReceiverNotReadyTimer: 12,
    timeout: 14,
    retryCount: 7,
    receiverNotReadyRetry: 7,
    sendPsn: 201,
    maxReadAtomic: 16,
    ...changes,
  };
  const pick = (...names: (keyof typeof attributes)[]): Partial<typeof attributes> =>
    Object.fromEntries(names.map((name) => [name, attributes[name]]));
  const { queuePair } = end;
  queuePair.modify({ state: QueuePairState.init, ...pick('accessFlags', 'partitionKeyIndex', 'port') });
  queuePair.modify({
    state: QueuePairState.readyToReceive,
    ...pick('addressVector', 'pathMtu', 'destinationQueuePair', 'receivePsn'),
    ...(type === 'RC' && pick('maxDestinationReadAtomic', 'minReceiverNotReadyTimer', 'endToEndCredits')),
  });
  queuePair.modify({
    state: QueuePairState.readyToSend,
    ...pick('sendPsn'),
    ...(type === 'RC' && pick('timeout', 'retryCount', 'receiverNotReadyRetry', 'maxReadAtomic')),
  });
}

/** Two connected queue pairs of one board: their packets loop back inside its port. */
export function makePair(verbs: Verbs, options: ConnectOptions = {}, peer: Verbs = verbs): [End, End] {
  const ends: [End, End] = [makeEnd(verbs, options), makeEnd(peer, options)];
  connect(ends[0], ends[1], options);
  connect(ends[1], ends[0], options);
  return ends;
}

/** Memory with every right, filled with bytes that depend on their position and the seed. */
export function makeMemory(
  { verbs }: End,
  bytes: number,
  seed = 0,
): { region: MemoryRegion; data: Uint8Array } {
  const region = verbs.protectionDomain.allocate(bytes, everyRight);
  const data = region.bytes;
  for (let at = 0; at < data.length; at++) data[at] = (at * 7 + (at >> 8) * 13 + seed) & 0xff;
  return { region, data };
}

/** Runs the board until it is idle. Returns the completions. */
export function settle({ verbs }: End): Completion[] {
  verbs.board.runUntilIdle();
  return pollAll(verbs);
}

function pollAll({ completionQueue }: Verbs): Completion[] {
  const taken: Completion[] = [];
  for (;;) {
    const completion = new Completion();
    if (completionQueue.poll([completion]) === 0) return taken;
    taken.push(completion);
  }
}
