// US8804752, DMA module: a data unit that waits for host memory delays no other linked list.
import { afterEach, describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import {
  CompletionStatus,
  EventType,
  Opcode,
  PathMtu,
  QueuePairState,
  openDevice,
  type Completion,
  type MemoryRegion,
  type SendRequest,
} from '../../lib/index.ts';
import { readCounters } from '../../lib/driver/counters.ts';
import { resetFunction } from '../../lib/driver/enabling.ts';
import { DMA_TAGS } from '../../lib/spec/index.ts';
import { makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';
import { Random } from '../helpers/random.mjs';

const { success, localProtectionError, workRequestFlushedError } = CompletionStatus;
const millisecond = 1_000_000;

interface Written {
  readonly request: SendRequest;
  readonly source: MemoryRegion;
  readonly target: MemoryRegion;
  readonly hasArrived: () => boolean;
}

/** A WRITE whose bytes contain its number, or a READ that returns them. */
function makeTransfer([from, to]: readonly [End, End], wrId: number, bytes = 64, isRead = false): Written {
  const [local, remote] = [makeMemory(from, bytes, wrId + 1), makeMemory(to, bytes, wrId + 2)];
  const [source, target] = isRead ? [remote.region, local.region] : [local.region, remote.region];
  return {
    request: {
      opcode: isRead ? Opcode.rdmaRead : Opcode.rdmaWrite,
      wrId,
      signaled: true,
      gather: [local.region.slice()],
      remote: remote.region.remote(),
    },
    source,
    target,
    hasArrived: () => Buffer.compare(local.data, remote.data) === 0,
  };
}

function slowDown({ board }: Verbs, { address, length }: MemoryRegion, ticks = millisecond): void {
  board.inject({ kind: 'slow_dma', begin: address, end: address + BigInt(length), ticks, count: 0 });
}

const numbers = (completions: readonly Completion[]): number[] =>
  completions.map(({ wrId, status }) => (status === success ? wrId : -wrId));

function counterOf({ context }: Verbs, name: string): number {
  const found = readCounters(context.driver.device, [name]).find(
    ({ underlyingFunction }) => underlyingFunction === context.driver.device.underlyingFunction,
  );
  return Number(found!.value);
}

/** No resource is held, and no forbidden memory was accessed. */
function expectRest({ board }: Verbs): void {
  expect(board.verify(true)).toBeUndefined();
  expect(board.takeDmaFaults()).toEqual([]);
}

const clock = performance.now;
afterEach(() => {
  performance.now = clock;
});

/** From now on time advances while the driver waits. */
function letTimePass({ board }: Verbs): void {
  performance.now = (): number => {
    board.advanceTime(1000);
    return Number(board.now()) / millisecond;
  };
}

/** Ticks of the messages of a queue pair in each round, while another one waits for slow reads or is idle. */
function playBeside(isSlow: boolean, isRead: boolean): bigint[] {
  const verbs = makeVerbs();
  const [slow, fast] = [makePair(verbs, { timeout: 0 }), makePair(verbs)];
  const own = [1, 2, 3].map((wrId) => makeTransfer(slow, wrId, 3000, isRead));
  slowDown(verbs, own[0]!.source);
  if (isSlow) slow[0].queuePair.postSend(own.map(({ request }) => request));
  expect(settle(slow[0])).toEqual([]);
  const ticks = Array.from({ length: 20 }, () => {
    const others = [10, 11, 12].map((wrId) => makeTransfer(fast, wrId, 3000, wrId === 11));
    const before = verbs.board.now();
    fast[0].queuePair.postSend(others.map(({ request }) => request));
    const completed = settle(fast[0]);
    for (let round = 0; round < 100 && completed.length < 3; round++) {
      verbs.board.advanceTime(1);
      completed.push(...settle(fast[0]));
    }
    expect(numbers(completed)).toEqual([10, 11, 12]);
    for (const { hasArrived } of others) expect(hasArrived()).toBe(true);
    return verbs.board.now() - before;
  });
  if (!isSlow) return ticks;
  // Each of its first three packets takes a millisecond.
  verbs.board.advanceTime(millisecond / 2);
  expect(settle(slow[0])).toEqual([]);
  expect(own[0]!.hasArrived()).toBe(false);
  const completed: Completion[] = [];
  for (let round = 0; round < 10 && completed.length < 3; round++) {
    verbs.board.advanceTime(millisecond);
    completed.push(...settle(slow[0]));
  }
  expect(numbers(completed)).toEqual([1, 2, 3]);
  for (const { hasArrived } of own) expect(hasArrived()).toBe(true);
  expectRest(verbs);
  return ticks;
}

describe('a slow read of host memory (US8804752, DMA module)', () => {
  for (const isRead of [false, true])
    it(`${isRead ? 'the payload of a READ' : 'payload'}: delays its own queue pair, in order, and no other`, () => {
      expect(playBeside(true, isRead)).toEqual(playBeside(false, isRead));
    });

  it('reads that take random times overtake each other, and each queue pair keeps its order', () => {
    const verbs = makeVerbs(undefined, { dmaLatency: 200, dmaLatencyMost: 20_000, seed: 5 });
    const pairs = Array.from({ length: 8 }, () => makePair(verbs, { pathMtu: PathMtu.mtu256, timeout: 0 }));
    const random = new Random(5);
    const all = pairs.map((pair, index) =>
      Array.from({ length: 5 }, (_, each) => {
        const opcode = random.once(2);
        return makeTransfer(pair, 10 * index + each, 1 + random.below(1500), opcode);
      }),
    );
    for (const [index, [{ queuePair }]] of pairs.entries())
      queuePair.postSend(all[index]!.map(({ request }) => request));
    const completed: number[] = [];
    for (let round = 0; round < 2000 && completed.length < 40; round++) {
      completed.push(...numbers(settle(pairs[0]![0])));
      verbs.board.advanceTime(500);
    }
    const posted = all.flat().map(({ request }) => request.wrId!);
    expect(completed).not.toEqual(posted);
    expect(completed.toSorted((one, other) => one - other)).toEqual(posted);
    for (const index of pairs.keys()) {
      const its = completed.filter((wrId) => Math.floor(wrId / 10) === index);
      expect(its).toEqual(its.toSorted((one, other) => one - other));
    }
    for (const { hasArrived } of all.flat()) expect(hasArrived()).toBe(true);
    expect(counterOf(verbs, 'delayed_reads')).toBeGreaterThan(40);
    expect(counterOf(verbs, 'read_tag_waits')).toBe(0);
    expectRest(verbs);
  });

  it('while all tags are taken, further reads wait, are counted, and start in order', () => {
    const verbs = makeVerbs();
    const extra = 5;
    const pairs = Array.from({ length: DMA_TAGS + extra }, () => makePair(verbs, { timeout: 0 }));
    const writes = pairs.map((pair, wrId) => makeTransfer(pair, wrId));
    verbs.board.inject({ kind: 'slow_dma', ticks: millisecond, count: 0 });
    for (const [index, [{ queuePair }]] of pairs.entries()) {
      queuePair.postSend(writes[index]!.request);
      verbs.board.runUntilIdle();
    }
    expect(counterOf(verbs, 'read_tag_waits')).toBe(extra);
    verbs.board.advanceTime(millisecond);
    const first = numbers(settle(pairs[0]![0]));
    expect(first.toSorted((one, other) => one - other)).toEqual([...Array(DMA_TAGS).keys()]);
    verbs.board.advanceTime(millisecond);
    const rest = numbers(settle(pairs[0]![0]));
    expect(rest.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: extra }, (_, index) => DMA_TAGS + index),
    );
    expectRest(verbs);
  });

  it('a fault of a slow read fails its work request', () => {
    const verbs = makeVerbs();
    const pair = makePair(verbs);
    const { request, source } = makeTransfer(pair, 1);
    slowDown(verbs, source);
    verbs.board.inject({ kind: 'fault_dma', begin: source.address, end: source.address + 64n, count: 0 });
    pair[0].queuePair.postSend(request);
    expect(settle(pair[0])).toEqual([]);
    verbs.board.advanceTime(millisecond);
    expect(settle(pair[0])).toMatchObject([{ wrId: 1, status: localProtectionError }]);
    expect(verbs.context.pollEvent()).toMatchObject({ type: EventType.dmaFault });
  });
});

/** A queue pair with a read in flight, and two later work requests. */
function makeSlow(options: BoardOptions = {}, isRead = false) {
  const verbs = makeVerbs(undefined, options);
  const pair = makePair(verbs, { timeout: 0 });
  const own = [1, 2, 3].map((wrId) => makeTransfer(pair, wrId, 64, isRead));
  slowDown(verbs, own[0]!.source);
  pair[0].queuePair.postSend(own.map(({ request }) => request));
  expect(settle(pair[0])).toEqual([]);
  expect(counterOf(verbs, 'delayed_reads')).toBe(1);
  return { verbs, pair, own };
}

describe('an end during a read of host memory (US8804752, DMA module)', () => {
  for (const isRead of [false, true])
    it(`a region is deregistered after the read of its ${isRead ? 'READ' : 'payload'}, whose data is correct`, () => {
      const { verbs, pair, own } = makeSlow({}, isRead);
      const before = verbs.board.now();
      letTimePass(verbs);
      const { source, target } = own[0]!;
      const data = Buffer.from(source.bytes);
      source.close();
      expect(verbs.board.now() - before).toBeGreaterThan(BigInt(millisecond / 2));
      verbs.board.advanceTime(10);
      expect(numbers(settle(pair[0]))).toEqual([1, 2, 3]);
      expect(Buffer.compare(data, target.bytes)).toBe(0);
      for (const { hasArrived } of own.slice(1)) expect(hasArrived()).toBe(true);
      expectRest(verbs);
    });

  it('a queue pair in the error state flushes the work requests after the read has ended', () => {
    const { verbs, pair } = makeSlow();
    pair[0].queuePair.modify({ state: QueuePairState.error });
    verbs.board.advanceTime(millisecond);
    expect(settle(pair[0])).toMatchObject(
      [1, 2, 3].map((wrId) => ({ wrId, status: workRequestFlushedError })),
    );
    expectRest(verbs);
  });

  for (const how of ['reset', 'destroy'] as const)
    for (const isRead of [false, true])
      it(`${how} of a queue pair${isRead ? ' that answers' : ''} waits for the read, and another one continues`, () => {
        const { verbs, pair, own } = makeSlow({}, isRead);
        const other = makePair(verbs);
        letTimePass(verbs);
        const { queuePair } = pair[isRead ? 1 : 0];
        if (how === 'reset') queuePair.modify({ state: QueuePairState.reset });
        else queuePair.close();
        for (const { source } of own) source.close();
        const write = makeTransfer(other, 9);
        other[0].queuePair.postSend(write.request);
        expect(numbers(settle(other[0]))).toContain(9);
        expect(write.hasArrived()).toBe(true);
        verbs.board.advanceTime(2 * millisecond);
        settle(other[0]);
        expectRest(verbs);
      });

  it('the reset of a function ends at once, nothing of it is read afterwards, and others continue', () => {
    const { verbs } = makeSlow();
    const second = { ...verbs, context: openDevice(verbs.board.open(1)) };
    const user: Verbs = {
      ...second,
      protectionDomain: second.context.createProtectionDomain(),
      completionQueue: second.context.createCompletionQueue({ entries: 64 }),
    };
    const pair = makePair(user, { timeout: 0 });
    const [before, after] = [makeTransfer(pair, 1), makeTransfer(pair, 2)];
    slowDown(user, before.source);
    pair[0].queuePair.postSend([before.request, after.request]);
    expect(settle(pair[0])).toEqual([]);
    const time = verbs.board.now();
    resetFunction(user.context.driver.device);
    expect(Number(verbs.board.now() - time)).toBeLessThan(millisecond / 2);
    expect(verbs.board.verify(false)).toBeUndefined();
    verbs.board.advanceTime(millisecond);
    expect(numbers(settle({ ...pair[0], verbs }))).toEqual([1, 2, 3]);
    expectRest(verbs);
  });
});
