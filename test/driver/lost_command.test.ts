// A command that the device has never seen: all its writes were lost, and no later command reveals it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Stall } from '../../lib/driver/stall.ts';
import { Completion, CompletionStatus, Opcode } from '../../lib/index.ts';
import { makePair, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

const second = 1_000_000_000;
const commandBar = 2;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

/** A second of device time and of driver time. */
function pass({ board }: Verbs): void {
  board.advanceTime(second);
  vi.advanceTimersByTime(1000);
  board.runUntilIdle();
}

function makeEnds(): { verbs: Verbs; from: End; to: End } {
  const verbs = makeVerbs(stepped);
  const [from, to] = makePair(verbs);
  const region = verbs.protectionDomain.allocate(64);
  to.queuePair.postReceive({ wrId: 100, scatter: [region.slice()] });
  verbs.board.runUntilIdle();
  return { verbs, from, to };
}

const post = ({ queuePair }: End): void =>
  queuePair.postSend({ opcode: Opcode.send, wrId: 7, signaled: true, inlineData: new Uint8Array(64) });

/** Available completions of the send. */
const sent = (end: End): CompletionStatus[] =>
  settle(end)
    .filter(({ wrId }) => wrId === 7)
    .map(({ status }) => status);

describe('a command whose writes are all lost', () => {
  it('is found within two seconds by the driver, which makes the device fetch it', () => {
    const { verbs, from } = makeEnds();
    const fault = verbs.board.inject({ kind: 'drop', bar: commandBar, count: 2 });
    post(from);
    verbs.board.runUntilIdle();
    expect(verbs.board.injected(fault)).toBe(2);
    verbs.board.advanceTime(10 * second); // no block of the device finds it
    expect(sent(from)).toEqual([]);
    pass(verbs);
    pass(verbs);
    expect(sent(from)).toEqual([CompletionStatus.success]);
    expect(verbs.board.verify(true)).toBeUndefined();
  });

  it('is found even if the doorbell for it is lost, after 1, 2, 4 more seconds', () => {
    const { verbs, from } = makeEnds();
    verbs.board.inject({ kind: 'drop', bar: commandBar, count: 4 });
    post(from);
    for (let seconds = 0; seconds < 4; seconds += 1) pass(verbs);
    expect(sent(from)).toEqual([]);
    pass(verbs);
    expect(sent(from)).toEqual([CompletionStatus.success]);
  });

  it('is found if the doorbell of a batch is lost', () => {
    const { verbs, from } = makeEnds();
    verbs.board.inject({ kind: 'drop', bar: commandBar, count: 1 });
    from.queuePair.postSend([
      { opcode: Opcode.send, wrId: 7, signaled: true, inlineData: new Uint8Array(64) },
    ]);
    pass(verbs);
    pass(verbs);
    expect(sent(from)).toEqual([CompletionStatus.success]);
  });

  it('is found by polls alone, while the event loop does not run', () => {
    const { verbs, from } = makeEnds();
    verbs.board.inject({ kind: 'drop', bar: commandBar, count: 2 });
    post(from);
    const completion = [new Completion()];
    let polls = 0;
    while (verbs.completionQueue.poll(completion) === 0 && polls < 2 ** 22) polls += 1;
    expect(polls).toBeLessThan(2 ** 22);
    expect(completion[0]!.status).toBe(CompletionStatus.success);
  });
});

describe('a queue without progress', () => {
  it('is announced less and less often, down to every 64 checks', () => {
    const stall = new Stall();
    const told = Array.from({ length: 260 }, (_, look) => [look, stall.look(true, 5)] as const);
    expect(told.filter(([, tells]) => tells).map(([look]) => look)).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 192, 256,
    ]);
  });

  it('restarts the interval when it progresses, and is not announced when empty', () => {
    const stall = new Stall();
    expect([stall.look(true, 1), stall.look(true, 1), stall.look(true, 2), stall.look(true, 2)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect([stall.look(false, 2), stall.look(false, 2)]).toEqual([false, false]);
  });

  it('is not changed by announcements: requests that wait for the peer are not sent again', () => {
    const { verbs, from } = makeEnds();
    post(from);
    // No receive is left for the next one, so it is refused with RNR NAK forever.
    expect(sent(from)).toEqual([CompletionStatus.success]);
    post(from);
    for (let seconds = 0; seconds < 5; seconds += 1) pass(verbs);
    expect(sent(from)).toEqual([]);
    expect(verbs.board.verify(false)).toBeUndefined();
  });
});
