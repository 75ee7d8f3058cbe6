import { randomUUID } from 'node:crypto';

import type { EmulatedBoard } from '../../lib/board/addon.ts';
import {
  Completion,
  type CompletionQueue,
  type MemoryRegion,
  type ProtectionDomain,
  type QueuePair,
} from '../../lib/index.ts';
import { describeInProcess, describeOnBackends, settle, type Backend } from './backends.ts';
import { everyRight, makePair, type ConnectOptions } from './connected.ts';
import { makeVerbs } from './make_verbs.ts';

/** One side of a connection, with a protection domain and a completion queue of its own. */
export interface Side {
  readonly protectionDomain: ProtectionDomain;
  readonly completionQueue: CompletionQueue;
  readonly queuePair: QueuePair;
}

/** Two connected queue pairs, and functions that wait for their completions. */
export interface Connection {
  readonly board: EmulatedBoard;
  readonly client: Side;
  readonly server: Side;
  /** Takes `count` completions of a side, all that come. */
  readonly complete: (side: Side, count: number) => Completion[];
  /** Runs the device until it is idle. */
  readonly rest: () => void;
}

/** Where two queue pairs are connected. */
export interface Place {
  readonly backend: Backend;
  /** 1: one board that loops back; 2: two boards of a fabric. */
  readonly boards: 1 | 2;
}

/** Initial PSNs that wrap soon. */
const psn = 0xff_fffd;

/** Two queue pairs, ready to send. */
export function makeConnection({ backend, boards }: Place, options: ConnectOptions = {}): Connection {
  const fabric = `connection-${randomUUID()}`;
  const first = makeVerbs(backend, { fabric, queuePairs: 16 });
  const { context } = boards === 1 ? first : makeVerbs(backend, { fabric, queuePairs: 16 });
  const second = {
    board: first.board,
    context,
    protectionDomain: context.createProtectionDomain(),
    completionQueue: context.createCompletionQueue({ entries: 64 }),
  };
  const [from, to] = makePair(first, { sendPsn: psn, receivePsn: psn, ...options }, second);
  return {
    board: first.board,
    client: { ...first, queuePair: from.queuePair },
    server: { ...second, queuePair: to.queuePair },
    complete: (side, count) => {
      const taken: Completion[] = [];
      settle(first.board, backend, () => {
        const completions = Array.from({ length: count }, () => new Completion());
        taken.push(...completions.slice(0, side.completionQueue.poll(completions)));
        return taken.length >= count;
      });
      return taken;
    },
    rest: () =>
      settle(first.board, backend, () =>
        [first, second].every((side) => !side.context.driver.device.board.advance()),
      ),
  };
}

/** Runs tests on every backend, or those that `describeOn` chooses, on one board and on two. */
export function describeConnections(
  subject: string,
  tests: (place: Place) => void,
  describeOn: typeof describeInProcess = describeOnBackends,
): void {
  for (const boards of [1, 2] as const)
    describeOn(`${subject}, ${boards === 1 ? 'one board' : 'two boards'},`, (backend) =>
      tests({ backend, boards }),
    );
}

/** A region with every right, filled with bytes that depend on their position. */
export function patterned({ protectionDomain }: Side, bytes: number, seed: number): MemoryRegion {
  const region = protectionDomain.allocate(bytes, everyRight);
  for (let at = 0; at < bytes; at++) region.bytes[at] = (at * 7 + (at >> 8) * 13 + seed) & 0xff;
  return region;
}
