import type { EmulatedBoard } from '../../lib/board/addon.ts';
import {
  Completion,
  type CompletionQueue,
  type MemoryRegion,
  type ProtectionDomain,
  type QueuePair,
} from '../../lib/index.ts';
import { settle, type Backend } from '../driver/backends.ts';
import { everyRight, makePair, type ConnectOptions } from './connected.ts';
import { makeVerbs } from './make_verbs.ts';

/** One side of a connection, with a protection domain and a completion queue of its own. */
export interface Side {
  readonly protectionDomain: ProtectionDomain;
  readonly completionQueue: CompletionQueue;
  readonly queuePair: QueuePair;
}

/** Two connected queue pairs, and how to wait for what they do. */
export interface Connection {
  readonly board: EmulatedBoard;
  readonly client: Side;
  readonly server: Side;
  /** Takes `count` completions of a side, all that come. */
  readonly complete: (side: Side, count: number) => Completion[];
  /** Lets the device do all that it has to do. */
  readonly rest: () => void;
}

/** The PSNs begin again soon. */
const psn = 0xff_fffd;

/** Two queue pairs of one board that loops back, ready to send, on any backend. */
export function makeConnection(backend: Backend, options: ConnectOptions = {}): Connection {
  const verbs = makeVerbs(backend, { queuePairs: 16 });
  const { board, context } = verbs;
  const [client, server] = [0, 1].map(() => ({
    ...verbs,
    protectionDomain: context.createProtectionDomain(),
    completionQueue: context.createCompletionQueue({ entries: 256 }),
  })) as [typeof verbs, typeof verbs];
  const [from, to] = makePair(client, { sendPsn: psn, receivePsn: psn, ...options }, server);
  return {
    board,
    client: { ...client, queuePair: from.queuePair },
    server: { ...server, queuePair: to.queuePair },
    complete: (side, count) => {
      const taken: Completion[] = [];
      settle(board, backend, () => {
        const completions = Array.from({ length: count }, () => new Completion());
        taken.push(...completions.slice(0, side.completionQueue.poll(completions)));
        return taken.length >= count;
      });
      return taken;
    },
    rest: () => settle(board, backend, () => !context.driver.device.board.advance()),
  };
}

/** A region with every right, filled with bytes that tell their place. */
export function patterned({ protectionDomain }: Side, bytes: number, seed: number): MemoryRegion {
  const region = protectionDomain.allocate(bytes, everyRight);
  for (let at = 0; at < bytes; at++) region.bytes[at] = (at * 7 + (at >> 8) * 13 + seed) & 0xff;
  return region;
}
