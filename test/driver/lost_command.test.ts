// A command of which the device has seen nothing: all its writes were lost, and no other one follows that would show it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Stall } from '../../lib/driver/stall.ts';
import { Completion, CompletionStatus, Opcode } from '../../lib/index.ts';
import { makePair, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

const second = 1_000_000_000;
const commandBar = 2;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

/** A second of the device, and of the driver. */
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

/** Completions of the send that were there. */
const sent = (end: End): CompletionStatus[] =>
  settle(end)
    .filter(({ wrId }) => wrId === 7)
    .map(({ status }) => status);

describe('a command whose writes are all lost', () => {
  it('is found within two seconds by the driver, which has the device fetch it', () => {
    const { verbs, from } = makeEnds();
    const fault = verbs.board.inject({ kind: 'drop', bar: commandBar, count: 2 });
    post(from);
    verbs.board.runUntilIdle();
    expect(verbs.board.injected(fault)).toBe(2);
    verbs.board.advanceTime(10 * second); // nothing in the device finds it
    expect(sent(from)).toEqual([]);
    pass(verbs);
    pass(verbs);
    expect(sent(from)).toEqual([CompletionStatus.success]);
    expect(verbs.board.verify(true)).toBeUndefined();
  });

  it('is found too where what tells the device of it is lost: after 1, 2, 4 more seconds', () => {
    const { verbs, from } = makeEnds();
    verbs.board.inject({ kind: 'drop', bar: commandBar, count: 4 });
    post(from);
    for (let seconds = 0; seconds < 4; seconds += 1) pass(verbs);
    expect(sent(from)).toEqual([]);
    pass(verbs);
    expect(sent(from)).toEqual([CompletionStatus.success]);
  });

  it('is found where a batch was posted by a doorbell that was lost', () => {
    const { verbs, from } = makeEnds();
    verbs.board.inject({ kind: 'drop', bar: commandBar, count: 1 });
    from.queuePair.postSend([
      { opcode: Opcode.send, wrId: 7, signaled: true, inlineData: new Uint8Array(64) },
    ]);
    pass(verbs);
    pass(verbs);
    expect(sent(from)).toEqual([CompletionStatus.success]);
  });

  it('is found by polls alone, where the event loop has no turn', () => {
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

describe('a queue that stands still for long', () => {
  it('is told of less and less often, up to every 64 looks', () => {
    const stall = new Stall();
    const told = Array.from({ length: 260 }, (_, look) => [look, stall.look(true, 5)] as const);
    expect(told.filter(([, tells]) => tells).map(([look]) => look)).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 192, 256,
    ]);
  });

  it('begins anew when it moves, and is not told of when it is empty', () => {
    const stall = new Stall();
    expect([stall.look(true, 1), stall.look(true, 1), stall.look(true, 2), stall.look(true, 2)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect([stall.look(false, 2), stall.look(false, 2)]).toEqual([false, false]);
  });

  it('is not changed by it: what waits for the peer is not sent again', () => {
    const { verbs, from } = makeEnds();
    post(from);
    // Nothing is left to receive the next one: it is refused with RNR NAK for ever.
    expect(sent(from)).toEqual([CompletionStatus.success]);
    post(from);
    for (let seconds = 0; seconds < 5; seconds += 1) pass(verbs);
    expect(sent(from)).toEqual([]);
    expect(verbs.board.verify(false)).toBeUndefined();
  });
});
