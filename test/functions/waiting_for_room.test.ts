// A command that fits on no list waits in its send queue until there is room, and no block retries it
// meanwhile.
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
/** An upper bound of the steps for a few messages. */
const enough = 3000;
/** Local ACK timeout 14: 4.096 µs × 2^14. */
const timeout = 4096 * 2 ** 14;

/** An end whose peer is not connected yet: its first message holds the completion credit of the lane. */
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

describe('a list without room', () => {
  it.each([
    ['it is full', { resource: Resource.listSize, lane: 0, amount: 2 }],
    [
      'the function has no entry credit',
      { resource: Resource.entryCredits, underlyingFunction: 0, amount: 2 },
    ],
  ])('leaves the board idle if %s, and continues in order once there is room', (_, request) => {
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
    // Each command is refused at most once: it is not fetched again before there is room.
    expect(refusals(verbs) - before).toBeLessThan(eight.length);
    expect(verbs.board.verify(true)).toBeUndefined();
  });

  it('continues when it gets credits, and when it grows', () => {
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

  it('of one command takes the next command when the one before it starts', () => {
    const credits = { executionCreditsPerLane: eight.length, completionCreditsPerLane: eight.length };
    const verbs = makeVerbs(stepped, { ...oneCredit, ...credits });
    verbs.context.allocateResources([{ resource: Resource.listSize, lane: 0, amount: 1 }]);
    const [from, to] = makePair(verbs);
    receive(to, eight.length);
    send(from, eight);
    expect(sends(settle(from), from)).toEqual(eight.map((wrId) => [wrId, CompletionStatus.success]));
    expect(refusals(verbs)).toBe(0);
  });

  /** The low level has only lane 0 until `release` gives it lane 1 too. */
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

  it('does not hold a queue pair that may move to another lane', () => {
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

  it('holds a queue pair only as long as a command binds it to the lane', () => {
    const { verbs, release } = makeTwoLanes(2);
    const [from, to] = makeStalled(verbs);
    const [stalled] = makeStalled(verbs, 0);
    // Each queue pair has a credit; the list is full, and both wait for room.
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

it('a command on its way to a stalled lane delays a command of another lane only until it arrives', () => {
  // Not stepped: the scheduler runs several steps before virtual_kick takes the fetched command.
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
  // The first command holds the credit of lane 0, the second the entry; the next ones wait for an entry.
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

describe('a queue pair on a stalled lane', () => {
  it.each([
    ['on the list', 40],
    ['on the list and in its send queue', 3],
    ['in its send queue', 1],
  ])('leaves the lane at once when it is reset with commands %s', (_, listSize) => {
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
    // The queue pair is connected again with the same number, while its old commands are still on the list.
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

  it("leaves the lane at once when it is reset, although another queue pair holds the lane's credit", () => {
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

  it('keeps the commands in its send queue when it is drained', () => {
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
