// US8804752, data memory and scrubber of hardware linked list queues: bits of data units flip during traffic.
import { describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import type { RtlAddon } from '../../lib/board/rtl_addon.ts';
import {
  CompletionStatus,
  EventType,
  Opcode,
  PathMtu,
  QueuePairState,
  type Completion,
  type DeviceEvent,
  type SendRequest,
} from '../../lib/index.ts';
import { readCounters } from '../../lib/driver/counters.ts';
import { ListBlock, Refusal, listBlockNames } from '../../lib/spec/index.ts';
import { connect, makeEnd, makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';
import { Random } from '../helpers/random.mjs';

const { success, workRequestFlushedError } = CompletionStatus;
/** virtual_kick in RTL has lists of its own. */
const isRtl = (loadAddon() as Partial<RtlAddon>).rtlSizes !== undefined;

interface BitErrors {
  readonly corrected: bigint;
  readonly detected: bigint;
}

/** Of the device, and of its function 0, the only active one. */
function bitErrors({ context }: Verbs): BitErrors {
  const counters = readCounters(context.driver.device, ['corrected_bit_errors', 'detected_bit_errors']);
  const of = (underlyingFunction: number | undefined): BitErrors => {
    const value = (name: string): bigint =>
      counters.find((each) => each.name === name && each.underlyingFunction === underlyingFunction)!.value;
    return { corrected: value('corrected_bit_errors'), detected: value('detected_bit_errors') };
  };
  expect(of(0)).toEqual(of(undefined));
  return of(undefined);
}

function eventsOf({ context }: Verbs): DeviceEvent[] {
  const events: DeviceEvent[] = [];
  for (let event = context.pollEvent(); event !== undefined; event = context.pollEvent()) events.push(event);
  return events;
}

const outcomes = (completions: readonly Completion[]): [number, CompletionStatus][] =>
  completions.map(({ wrId, status }) => [wrId, status]);

/** A WRITE whose bytes contain its number, and whether they have arrived. */
function makeWrite([from, to]: readonly [End, End], wrId: number, bytes = 64): [SendRequest, () => boolean] {
  const source = makeMemory(from, bytes, wrId + 1);
  const target = makeMemory(to, bytes, wrId + 2);
  const request = {
    opcode: Opcode.rdmaWrite,
    wrId,
    signaled: true,
    gather: [source.region.slice()],
    remote: target.region.remote(),
  };
  return [request, () => Buffer.compare(source.data, target.data) === 0];
}

/** A queue pair whose peer never answers, with a message that waits for the answer. */
function makeWaiting(verbs: Verbs): End {
  const [waiting, silent] = [makeEnd(verbs), makeEnd(verbs)];
  connect(waiting, silent, { timeout: 0 });
  waiting.queuePair.postSend(makeWrite([waiting, silent], 99)[0]);
  expect(settle(waiting)).toEqual([]);
  return waiting;
}

describe('scrubber of linked list queues (US8804752)', () => {
  it('single bit flips in waiting data units are corrected while the device is idle, before a second one occurs', () => {
    const verbs = makeVerbs();
    makeWaiting(verbs);
    const pair = makePair(verbs);
    for (let round = 0; round < 60; round++) {
      const fault = verbs.board.inject({ kind: 'flip_bits' });
      const [request, hasArrived] = makeWrite(pair, round);
      pair[0].queuePair.postSend(request);
      expect(outcomes(settle(pair[0]))).toEqual([[round, success]]);
      expect(hasArrived()).toBe(true);
      expect(verbs.board.injected(fault)).toBe(1);
      verbs.board.clearFaults(fault);
    }
    const { corrected, detected } = bitErrors(verbs);
    expect(Number(corrected)).toBeGreaterThanOrEqual(60);
    expect(detected).toBe(0n);
    expect(eventsOf(verbs)).toEqual([]);
    expect(verbs.board.verify(false)).toBeUndefined();
  });

  it('a board with bitErrors keeps working', () => {
    const verbs = makeVerbs(undefined, { bitErrors: 0.02, seed: 3, memoryKeys: 1024 });
    const pair = makePair(verbs);
    const writes = Array.from({ length: 100 }, (_, wrId) => makeWrite(pair, wrId));
    const completions: Completion[] = [];
    for (let first = 0; first < writes.length; first += 20) {
      pair[0].queuePair.postSend(writes.slice(first, first + 20).map(([request]) => request));
      completions.push(...settle(pair[0]));
    }
    expect(outcomes(completions)).toEqual(writes.map((_, wrId) => [wrId, success]));
    for (const [, hasArrived] of writes) expect(hasArrived()).toBe(true);
    const { corrected, detected } = bitErrors(verbs);
    expect(corrected).toBeGreaterThan(0n);
    expect(detected).toBe(0n);
  });

  it('two bits of a waiting message: its queue pair fails with the reason, and flushes; another one continues', () => {
    const verbs = makeVerbs();
    const waiting = makeWaiting(verbs);
    const pair = makePair(verbs);
    const [request, hasArrived] = makeWrite(pair, 1);
    verbs.board.inject({ kind: 'flip_bits', bits: 2 });
    pair[0].queuePair.postSend(request);
    expect(new Set(outcomes(settle(pair[0])))).toEqual(
      new Set([
        [1, success],
        [99, workRequestFlushedError],
      ]),
    );
    expect(hasArrived()).toBe(true);
    expect(waiting.queuePair.query().state).toBe(QueuePairState.error);
    expect(pair[0].queuePair.query().state).toBe(QueuePairState.readyToSend);
    expect(eventsOf(verbs)).toMatchObject([
      { type: EventType.memoryError, object: waiting.queuePair.number, reason: ListBlock.completion },
      {
        type: EventType.queuePairFatal,
        object: waiting.queuePair.number,
        reason: Refusal.uncorrectableBitError,
      },
    ]);
    expect(bitErrors(verbs)).toEqual({ corrected: 0n, detected: 1n });
    expect(verbs.board.verify(true)).toBeUndefined();
  });

  it('two bits anywhere, at any time: no work request is lost, no byte is wrong, no resource stays held', () => {
    const blocks = new Set<string>();
    for (let seed = 1; seed <= 26; seed++) for (const block of play(seed)) blocks.add(block);
    // The lists of other blocks are empty in such traffic, because units bypass them.
    const often = ['completion', 'dma', 'receive', 'response'];
    expect([...blocks]).toEqual(expect.arrayContaining(isRtl ? often : [...often, 'virtualKick']));
  }, 120_000);
});

const pairs = 12;
const requestsEach = 6;

/** Two bits flip at a random time; returns the blocks that held the data unit. */
function play(seed: number): string[] {
  const random = new Random(seed);
  const made = makeVerbs(undefined, {
    seed,
    ...(random.once(2) && {
      transmitVirtualLanes: 2,
      sharedExecutionCredits: random.below(3),
      sharedCompletionCredits: 2 + random.below(8),
    }),
  });
  const verbs = { ...made, completionQueue: made.context.createCompletionQueue({ entries: 1024 }) };
  const { board } = verbs;
  const all = Array.from({ length: pairs }, () => makePair(verbs, { pathMtu: PathMtu.mtu256, timeout: 8 }));
  board.inject({ kind: 'flip_bits', bits: 2, probability: 0.01, count: 6 });
  const expected: { pair: [End, End]; request: SendRequest; hasArrived: () => boolean }[] = [];
  for (const [index, pair] of all.entries()) {
    const posted = Array.from({ length: requestsEach }, (_, number) => {
      const [request, hasArrived] = makeWrite(pair, 100 * index + number, 1 + random.below(1500));
      const opcode = random.pick([Opcode.rdmaWrite, Opcode.rdmaRead, Opcode.send]);
      return {
        pair,
        request: { ...request, opcode },
        hasArrived: opcode === Opcode.rdmaWrite ? hasArrived : (): boolean => true,
      };
    });
    for (const [number, { request }] of posted.entries())
      if (request.opcode === Opcode.send)
        pair[1].queuePair.postReceive({
          wrId: 1_000_000 + number,
          scatter: [makeMemory(pair[1], 1500).region.slice()],
        });
    pair[0].queuePair.postSend(posted.map(({ request }) => request));
    expected.push(...posted);
  }
  const completions: Completion[] = [];
  for (let round = 0; round < 40; round++) {
    completions.push(...settle(all[0]![0]));
    board.advanceTime(4_000_000);
  }
  const events = eventsOf(verbs);
  const lost = events.filter(({ type }) => type === EventType.memoryError);
  expect(bitErrors(verbs).detected).toBe(BigInt(lost.length));
  const failed = new Set(lost.map(({ object }) => object));
  for (const { pair, request, hasArrived } of expected) {
    const found = completions.filter(({ wrId }) => wrId === request.wrId);
    expect(found.length, `seed ${seed}: work request ${request.wrId}`).toBe(1);
    if (found[0]!.status === success)
      expect(hasArrived(), `seed ${seed}: data of ${request.wrId}`).toBe(true);
    else
      expect(
        pair.some(({ queuePair }) => failed.has(queuePair.number)),
        `seed ${seed}`,
      ).toBe(true);
  }
  // The message that is lost in completion has no end, so it must not complete with success.
  for (const { object, reason } of lost) {
    if (reason !== ListBlock.completion) continue;
    const its = expected.filter(({ pair }) => pair[0].queuePair.number === object);
    const statuses = its.map(({ request }) => completions.find(({ wrId }) => wrId === request.wrId)!.status);
    expect(statuses, `seed ${seed}`).toContain(workRequestFlushedError);
  }
  for (const { queuePair } of all.flat())
    if (failed.has(queuePair.number)) {
      expect(queuePair.query().state, `seed ${seed}`).toBe(QueuePairState.error);
      expect(events.filter(({ object }) => object === queuePair.number).map(({ type }) => type)).toContain(
        EventType.queuePairFatal,
      );
    }
  expect(board.verify(true), `seed ${seed}`).toBeUndefined();
  verbs.context[Symbol.dispose]();
  board.close();
  return lost.map(({ reason }) => listBlockNames[reason]!);
}
