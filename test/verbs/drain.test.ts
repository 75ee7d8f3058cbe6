import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import type { LinkImpairment } from '../../lib/board/faults.ts';
import { CompletionStatus, EventType, Opcode, QueuePairState } from '../../lib/index.ts';
import { connect, makeEnd, makeMemory, settle, type ConnectOptions, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const { sendQueueDrained: drained, readyToSend, error } = QueuePairState;
const messageBytes = 3000; // three packets
const { success, workRequestFlushedError } = CompletionStatus;

/**
 * Two connected ends on separate boards, the second with posted receives and memory for the messages of the
 * first.
 */
function makeScene(options: ConnectOptions = {}, seed = 1) {
  const fabric = `drain ${randomUUID()}`;
  const [from, to] = [0, 1].map(() => makeEnd(makeVerbs(stepped, { fabric, seed }), options)) as [End, End];
  connect(from, to, options);
  connect(to, from, options);
  const [source, target] = [makeMemory(from, messageBytes), makeMemory(to, messageBytes)];
  for (let count = 0; count < 16; count++) to.queuePair.postReceive({ scatter: [target.region.slice()] });
  const post = (count: number): void => {
    for (let left = count; left > 0; left--) {
      from.queuePair.postSend({ opcode: Opcode.send, signaled: true, gather: [source.region.slice()] });
    }
  };
  return { from, to, post };
}

/** The events of an end, without those that report an established connection. */
function eventsOf({ verbs: { context } }: End): string[] {
  const names: string[] = [];
  for (let event = context.pollEvent(); event !== undefined; event = context.pollEvent()) {
    if (event.type !== EventType.communicationEstablished) names.push(event.name);
  }
  return names;
}

const statuses = (end: End): CompletionStatus[] => settle(end).map(({ status }) => status);

/** Advances time until nothing more can happen; returns the statuses of the completions. */
function afterLong(end: End): CompletionStatus[] {
  const found: CompletionStatus[] = [];
  for (let turn = 0; turn < 1000; turn++) {
    found.push(...statuses(end));
    end.verbs.board.advanceTime(5000);
  }
  return found;
}

describe('a drained send queue', () => {
  it.each<[string, LinkImpairment]>([
    ['as the link is', {}],
    ['over a link that loses, doubles and reorders', { loss: 0.1, duplication: 0.1, reordering: 0.2 }],
  ])('completes begun work, reports it once, and resumes where it was stopped, %s', (_, impairment) => {
    for (let seed = 0; seed < 12; seed++) {
      const { from, to, post } = makeScene({ timeout: 4 }, seed);
      for (const { verbs } of [from, to]) verbs.board.impair(impairment);
      post(8);
      from.verbs.board.step(seed * 12);
      from.queuePair.modify({ state: drained, drainedEvent: true });
      const begun = afterLong(from).length;
      expect(eventsOf(from), `seed ${seed}`).toEqual(['sendQueueDrained']);
      const { state, next, acknowledged } = from.queuePair.query();
      expect([state, next - acknowledged]).toEqual([drained, 0]);
      post(2); // waits with those that have not begun
      expect([settle(from), statuses(to)]).toEqual([[], Array.from({ length: begun }, () => success)]);
      from.queuePair.modify({ state: readyToSend });
      expect(afterLong(from)).toEqual(Array.from({ length: 10 - begun }, () => success));
      expect(statuses(to)).toHaveLength(10 - begun);
      expect(eventsOf(from)).toEqual([]);
    }
  });

  it('can be stopped at any point of its messages', () => {
    const begun = Array.from({ length: 20 }, (_, at) => {
      const { from, post } = makeScene();
      post(8);
      from.verbs.board.step(at * 12);
      from.queuePair.modify({ state: drained });
      return settle(from).length;
    });
    expect(new Set(begun).size).toBeGreaterThan(4);
  });

  it('reports at once if nothing was begun, and nothing if no event was requested', () => {
    const { from } = makeScene();
    from.queuePair.modify({ state: drained, drainedEvent: true });
    settle(from);
    expect(eventsOf(from)).toEqual(['sendQueueDrained']);
    from.queuePair.modify({ state: readyToSend });
    from.queuePair.modify({ state: drained });
    settle(from);
    expect(eventsOf(from)).toEqual([]);
  });

  it('lets its queue pair receive and answer', () => {
    const { from, to, post } = makeScene();
    to.queuePair.modify({ state: drained });
    post(2);
    const { region, data } = makeMemory(to, 64, 9);
    const local = makeMemory(from, 64);
    const remote = region.remote();
    from.queuePair.postSend({
      opcode: Opcode.rdmaRead,
      signaled: true,
      gather: [local.region.slice()],
      remote,
    });
    expect([statuses(from), statuses(to)]).toEqual([
      [success, success, success],
      [success, success],
    ]);
    expect(local.data).toEqual(data);
  });

  it('is flushed in order in the error state, including work that was not begun', () => {
    const { from, post } = makeScene();
    from.queuePair.modify({ state: drained });
    post(3);
    from.queuePair.modify({ state: error });
    expect(statuses(from)).toEqual([
      workRequestFlushedError,
      workRequestFlushedError,
      workRequestFlushedError,
    ]);
  });
});
