import { randomUUID } from 'node:crypto';

import type { BoardOptions } from '../../lib/board/addon.ts';
import {
  Completion,
  QueuePairState,
  type AddressHandle,
  type MemoryRegion,
  type QueuePair,
  type SendRequest,
} from '../../lib/index.ts';
import { settle } from './backends.ts';
import type { Place } from './connection.ts';
import { everyRight } from './connected.ts';
import { makeVerbs, type Verbs } from './make_verbs.ts';

export const queueKey = 0x1111_1111;
/** Bytes before the data of every datagram. */
export const routeBytes = 40;

/** A queue pair of unreliable datagram that is ready to send, with memory for its datagrams. */
export interface Station {
  readonly verbs: Verbs;
  readonly queuePair: QueuePair;
  readonly region: MemoryRegion;
}

/** Several on one board, or one on each of two. */
export interface Stations {
  readonly from: Station;
  readonly to: Station;
  /** Takes `count` completions of a station, all that come. */
  readonly complete: (station: Station, count: number) => Completion[];
  /** Stepped boards only: runs the device until it is idle, and then takes the completions of a station. */
  readonly rest: (station: Station) => Completion[];
}

export function makeStation(verbs: Verbs, key = queueKey, partitionKeyIndex = 0): Station {
  const { context, protectionDomain } = verbs;
  const completionQueue = context.createCompletionQueue({ entries: 64 });
  const queuePair = protectionDomain.createQueuePair({
    type: 'UD',
    sendCompletionQueue: completionQueue,
    receiveCompletionQueue: completionQueue,
    capabilities: { maxScatterEntries: 16, maxGatherEntries: 16, maxInlineData: 256 },
  });
  queuePair.modify({ state: QueuePairState.init, partitionKeyIndex, port: 1, queueKey: key });
  queuePair.modify({ state: QueuePairState.readyToReceive });
  queuePair.modify({ state: QueuePairState.readyToSend, sendPsn: 0xff_fffe });
  const region = protectionDomain.allocate(32_768, everyRight);
  for (let at = 0; at < region.length; at++) region.bytes[at] = (at * 7 + (at >> 8) * 13) & 0xff;
  return { verbs: { ...verbs, completionQueue }, queuePair, region };
}

export function makeStations({ backend, boards }: Place, options: BoardOptions = {}): Stations {
  const fabric = { fabric: `datagrams-${randomUUID()}`, queuePairs: 64, ...options };
  const first = makeVerbs(backend, fabric);
  const second = boards === 1 ? first : makeVerbs(backend, fabric);
  const poll = ({ verbs: { completionQueue } }: Station, count: number): Completion[] => {
    const completions = Array.from({ length: count }, () => new Completion());
    return completions.slice(0, completionQueue.poll(completions));
  };
  return {
    from: makeStation(first),
    to: makeStation(second),
    complete: (station, count) => {
      const taken: Completion[] = [];
      settle(first.board, backend, () => taken.push(...poll(station, count)) >= count);
      return taken;
    },
    rest: (station) => {
      settle(first.board, backend);
      return poll(station, 64);
    },
  };
}

/** The path to a station, by an entry of its GID table. */
export function addressOf(from: Station, to: Station, gidIndex = 0): AddressHandle {
  const { mac, localIdentifier } = to.verbs.context.queryPort(1);
  return from.verbs.protectionDomain.createAddressHandle({
    port: 1,
    isGlobal: true,
    hopLimit: 64,
    trafficClass: 0x28,
    flowLabel: gidIndex === 0 ? 0xabcde : 0,
    gidIndex,
    destinationGid: to.verbs.context.queryGid(1, gidIndex),
    destinationMac: mac,
    destinationLocalIdentifier: localIdentifier,
  });
}

/** The destination of a datagram to a station. */
export function destined(
  to: Station,
  addressHandle: AddressHandle,
): Pick<SendRequest, 'addressHandle' | 'destinationQueuePair' | 'queueKey'> {
  return { addressHandle, destinationQueuePair: to.queuePair.number, queueKey };
}
