// A command that no list takes waits in its send queue until there is room, and no block asks again and again meanwhile.
import { describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import {
  Completion,
  CompletionStatus,
  Opcode,
  QualityOfServiceLevel,
  QueuePairState,
  Resource,
} from '../../lib/index.ts';
import { connect, makeEnd, makePair, settle, type End } from '../helpers/connected.ts';
import { backends } from '../helpers/backends.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';
import { functionRegister } from '../helpers/function_verbs.ts';

/** One lane, which has one credit of each kind. */
const oneCredit: BoardOptions = {
  underlyingFunctions: 1,
  transmitVirtualLanes: 1,
  executionCreditsPerLane: 1,
  completionCreditsPerLane: 1,
  sharedExecutionCredits: 0,
  sharedCompletionCredits: 0,
};
const shared = backends.find(({ options }) => options.progress === 'shared')!;
/** Steps that a few messages need at most. */
const enough = 3000;
/** Local ACK timeout 14: 4.096 µs × 2^14. */
const timeout = 4096 * 2 ** 14;

/** An end whose peer is not there yet: its first message keeps the completion credit of the lane. */
function makeStalled(verbs: Verbs, ackTimeout = 14): [End, End] {
  const ends: [End, End] = [makeEnd(verbs), makeEnd(verbs)];
  connect(ends[0], ends[1], { timeout: ackTimeout });
  return ends;
}

function send({ queuePair }: End, wrIds: readonly number[]): void {
  for (const wrId of wrIds) queuePair.postSend({ opcode: Opcode.send, wrId, signaled: true });
}

function receive({ queuePair }: End, count: number): void {
  for (let posted = 0; posted < count; posted++) queuePair.postReceive({ wrId: 100, scatter: [] });
}

const sends = (completions: readonly Completion[], { queuePair }: End): [number, CompletionStatus][] =>
  completions
    .filter(({ queuePairNumber, wrId }) => queuePairNumber === queuePair.number && wrId < 100)
    .map(({ wrId, status }) => [wrId, status]);

const refusals = (verbs: Verbs): number => Number(functionRegister(verbs, 'list_refusals')[0]);

const eight = [0, 1, 2, 3, 4, 5, 6, 7];

describe('a list that takes no more', () => {
  it.each([
    ['it is full', { resource: Resource.listSize, lane: 0, amount: 2 }],
    [
      'the function has no entry credit',
      { resource: Resource.entryCredits, underlyingFunction: 0, amount: 2 },
    ],
  ])('%s: the board rests; with room it goes on, in order', (_, request) => {
    const verbs = makeVerbs(stepped, oneCredit);
    verbs.context.allocateResources([request]);
    const [from, to] = makeStalled(verbs);
    send(from, eight);
    expect(verbs.board.runUntilIdle(enough)).toBeGreaterThan(0);
    expect(refusals(verbs)).toBeGreaterThan(0);
    const before = refusals(verbs);
    verbs.board.advanceTime(1000);
    expect(verbs.board.runUntilIdle(enough)).toBe(0);
    connect(to, from);
    receive(to, eight.length);
    verbs.board.advanceTime(2 * timeout);
    expect(sends(settle(from), from)).toEqual(eight.map((wrId) => [wrId, CompletionStatus.success]));
    // Each is refused once at most: what waits for room is not fetched before.
    expect(refusals(verbs) - before).toBeLessThan(eight.length);
    expect(verbs.board.verify(true)).toBeUndefined();
  });

  it('goes on when credits are given, and when it is made larger', () => {
    const verbs = makeVerbs(stepped, {
      ...oneCredit,
      sharedCompletionCredits: 1,
      sharedCompletionCreditsCap: 0,
    });
    const { context, board } = verbs;
    const ofLane = (resource: Resource, amount: number): void =>
      context.allocateResources([{ resource, lane: 0, amount }]);
    ofLane(Resource.listSize, 1);
    send(makeStalled(verbs, 0)[0], [0]);
    const [from, to] = makePair(verbs);
    receive(to, 8);
    send(from, eight);
    board.runUntilIdle(enough);
    ofLane(Resource.listSize, 2);
    expect(sends(settle(from), from)).toEqual([]);
    ofLane(Resource.completionCreditsCap, 1);
    expect(sends(settle(from), from)).toEqual(eight.map((wrId) => [wrId, CompletionStatus.success]));
  });

  it('of one command: takes the next where the one before it starts', () => {
    const credits = { executionCreditsPerLane: eight.length, completionCreditsPerLane: eight.length };
    const verbs = makeVerbs(stepped, { ...oneCredit, ...credits });
    verbs.context.allocateResources([{ resource: Resource.listSize, lane: 0, amount: 1 }]);
    const [from, to] = makePair(verbs);
    receive(to, eight.length);
    send(from, eight);
    expect(sends(settle(from), from)).toEqual(eight.map((wrId) => [wrId, CompletionStatus.success]));
    expect(refusals(verbs)).toBe(0);
  });

  /** Lane 0 is all that the low level has until `release` gives it lane 1 too. */
  function makeTwoLanes(completionCreditsPerLane: number): { verbs: Verbs; release: () => void } {
    const verbs = makeVerbs(stepped, { ...oneCredit, transmitVirtualLanes: 2, completionCreditsPerLane });
    const { low, high } = QualityOfServiceLevel;
    const lanesOf = { resource: Resource.transmitVirtualLanes, underlyingFunction: 0 };
    verbs.context.allocateResources([
      { ...lanesOf, amount: 2 },
      { ...lanesOf, level: low, lanes: [0] },
      { ...lanesOf, level: high, lanes: [1] },
      { resource: Resource.listSize, lane: 0, amount: 1 },
    ]);
    return {
      verbs,
      release: () => verbs.context.allocateResources([{ ...lanesOf, level: high, lanes: [] }]),
    };
  }

  it('keeps no queue pair there that may go to another lane', () => {
    const { verbs, release } = makeTwoLanes(1);
    send(makeStalled(verbs, 0)[0], [0, 1]);
    const [from, to] = makePair(verbs);
    receive(to, 8);
    send(from, eight);
    verbs.board.runUntilIdle(enough);
    expect(sends(settle(from), from)).toEqual([]);
    release();
    expect(sends(settle(from), from)).toEqual(eight.map((wrId) => [wrId, CompletionStatus.success]));
  });

  it('keeps a queue pair only as long as a command binds it to the lane', () => {
    const { verbs, release } = makeTwoLanes(2);
    const [from, to] = makeStalled(verbs);
    const [stalled] = makeStalled(verbs, 0);
    // Each has a credit; the list is full, and both wait for room on it.
    send(from, [0]);
    verbs.board.runUntilIdle(enough);
    send(stalled, [0, 1, 2]);
    verbs.board.runUntilIdle(enough);
    send(from, [1, 2, 3]);
    verbs.board.runUntilIdle(enough);
    connect(to, from);
    receive(to, 4);
    release();
    verbs.board.advanceTime(2 * timeout);
    expect(sends(settle(from), from)).toEqual([0, 1, 2, 3].map((wrId) => [wrId, CompletionStatus.success]));
    expect(verbs.board.verify()).toBeUndefined();
  });
});

it('a command on its way to a lane that stands still lets one of another lane wait only until it is there', () => {
  // Not stepped: the scheduler goes on for several steps before virtual_kick takes what it has fetched.
  const { low, high } = QualityOfServiceLevel;
  const verbs = makeVerbs(shared, { ...oneCredit, transmitVirtualLanes: 2 });
  const { context, completionQueue } = verbs;
  const ofFunction = { resource: Resource.transmitVirtualLanes, underlyingFunction: 0 };
  const giveEntries = (amount: number): void =>
    context.allocateResources([{ resource: Resource.entryCredits, underlyingFunction: 0, amount }]);
  context.allocateResources([
    { ...ofFunction, amount: 2 },
    { ...ofFunction, level: low, lanes: [0] },
    { ...ofFunction, level: high, lanes: [1] },
  ]);
  giveEntries(1);
  const stalled = makeEnd(verbs);
  connect(stalled, makeEnd(verbs), { timeout: 0 });
  const to = makeEnd(verbs);
  const queuePair = verbs.protectionDomain.createQueuePair({
    type: 'RC',
    sendCompletionQueue: completionQueue,
    receiveCompletionQueue: completionQueue,
    level: high,
  });
  const from: End = { verbs, queuePair };
  connect(from, to);
  connect(to, from);
  receive(to, 1);
  // The first keeps the credit of lane 0, and the second the entry; what follows waits for an entry.
  send(stalled, [0, 1, 2]);
  send(from, [0]);
  const found: Completion[] = [];
  const poll = (): void => {
    const completion = new Completion();
    if (completionQueue.poll([completion]) !== 0) found.push(completion);
  };
  for (let polls = 0; polls < 100; polls++) poll();
  expect(sends(found, from)).toEqual([]);
  giveEntries(8);
  for (let polls = 0; polls < 1000 && sends(found, from).length === 0; polls++) poll();
  expect(sends(found, from)).toEqual([[0, CompletionStatus.success]]);
});

describe('a queue pair that is reset while the lane of its commands stands still', () => {
  it.each([
    ['on the list', 40],
    ['on the list and in its send queue', 3],
    ['in its send queue', 1],
  ])('leaves it at once: %s', (_, listSize) => {
    const verbs = makeVerbs(stepped, oneCredit);
    const { context, board } = verbs;
    context.allocateResources([{ resource: Resource.listSize, lane: 0, amount: listSize }]);
    const [stalled] = makeStalled(verbs, 0);
    send(stalled, [0, 1]);
    const [from, to] = makePair(verbs);
    send(from, eight);
    board.runUntilIdle(enough);
    from.queuePair.modify({ state: QueuePairState.reset });
    to.queuePair.modify({ state: QueuePairState.reset });
    expect(board.verify()).toBeUndefined();
    // The same number begins anew, behind what it left on the list.
    connect(from, to);
    connect(to, from);
    receive(to, 3);
    send(from, [10, 11, 12]);
    expect(settle(from)).toEqual([]);
    stalled.queuePair.close();
    expect(sends(settle(from), from)).toEqual([10, 11, 12].map((wrId) => [wrId, CompletionStatus.success]));
    expect(board.verify(true)).toBeUndefined();
    expect(functionRegister(verbs, 'physical_collect_buffers_in_use')).toEqual([0n, 0n, 0n]);
  });

  it('leaves at once, though another one goes on holding the credit of the lane', () => {
    const verbs = makeVerbs(stepped, oneCredit);
    const inUse = (): number =>
      functionRegister(verbs, 'physical_collect_buffers_in_use').reduce((sum, each) => sum + Number(each), 0);
    send(makeStalled(verbs, 0)[0], [0]);
    verbs.board.runUntilIdle();
    const [from] = makeStalled(verbs, 0);
    send(from, [0, 1, 2]);
    verbs.board.runUntilIdle();
    expect(inUse()).toBe(3);
    from.queuePair.modify({ state: QueuePairState.reset });
    verbs.board.runUntilIdle();
    expect(inUse()).toBe(0);
    expect(verbs.board.verify(false)).toBeUndefined();
  });

  it('or drained: what waits in its send queue stays there', () => {
    const verbs = makeVerbs(stepped, oneCredit);
    verbs.context.allocateResources([{ resource: Resource.listSize, lane: 0, amount: 1 }]);
    const [stalled] = makeStalled(verbs, 0);
    send(stalled, [0, 1]);
    const [from, to] = makePair(verbs);
    receive(to, 8);
    send(from, eight);
    verbs.board.runUntilIdle(enough);
    from.queuePair.modify({ state: QueuePairState.sendQueueDrained, drainedEvent: true });
    verbs.board.runUntilIdle(enough);
    expect(verbs.context.pollEvent()).toMatchObject({ name: 'sendQueueDrained' });
    stalled.queuePair.close();
    from.queuePair.modify({ state: QueuePairState.readyToSend });
    expect(sends(settle(from), from)).toEqual(eight.map((wrId) => [wrId, CompletionStatus.success]));
  });
});
