// Trains: several commands, or several packets of a message, that pass a block within one unit of work. step() has none; runUntilIdle() and
// advanceTime() have.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { CompletionStatus, Opcode, PathMtu, type Completion, type SendRequest } from '../../lib/index.ts';
import { dataUnitsOf } from '../helpers/data_units.ts';
import { makeMemory, makePair, settle, type ConnectOptions, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';
import { readPacket, type WirePacket } from './wire.ts';

const mtu = 1024;
/** Maximum packets of a train of `dma`, and packets that can wait for the port. */
const train = 16;
/** Commands of a train of `virtual_kick`. */
const trainOfKicks = 8;
const options: ConnectOptions = { pathMtu: PathMtu.mtu1024, timeout: 4 };
const firstPsn = 201;

let here: Verbs;
let there: Verbs;

beforeEach(() => {
  const fabric = randomUUID();
  here = makeVerbs(stepped, { fabric });
  there = makeVerbs(stepped, { fabric });
});

// Nothing is in flight: all credits, buffers and pins have returned.
afterEach(() => {
  for (const { board } of [here, there]) expect(board.verify(true)).toBeUndefined();
});

/** Packets of one lane that have arrived at a board since its trace began. */
function arrivedAt({ board }: Verbs, lane: 'requests' | 'responses'): WirePacket[] {
  return board
    .takePackets()
    .filter(({ direction }) => direction === 'in')
    .map(({ data }) => readPacket(data))
    .filter(({ opcode }) => /response|acknowledge/.test(opcode) === (lane === 'responses'));
}

function expectSuccess(done: readonly Completion[], wrIds: readonly number[]): void {
  expect(done.map(({ wrId, status }) => [wrId, status])).toEqual(
    wrIds.map((wrId) => [wrId, CompletionStatus.success]),
  );
}

interface Long {
  readonly request: SendRequest;
  /** Expects the bytes at both ends. */
  check(): void;
}

/** A long message between new memory of two ends. */
function long(
  from: End,
  to: End,
  packets: number,
  {
    opcode = Opcode.rdmaWrite,
    wrId = 1,
  }: { opcode?: typeof Opcode.rdmaWrite | typeof Opcode.rdmaRead; wrId?: number } = {},
): Long {
  const near = makeMemory(from, packets * mtu, 1);
  const far = makeMemory(to, packets * mtu, 2);
  const expected = Uint8Array.from((opcode === Opcode.rdmaRead ? far : near).data);
  const [gather, remote] = [[near.region.slice()], far.region.remote()];
  return {
    request: { opcode, gather, remote, wrId, signaled: true },
    check: () => {
      expect(Buffer.compare(near.data, expected)).toBe(0);
      expect(Buffer.compare(far.data, expected)).toBe(0);
    },
  };
}

/** The longest run of packets to one queue pair. */
function longestRun(packets: readonly WirePacket[], { queuePair }: End): number {
  let run = 0;
  return packets.reduce((longest, { destinationQueuePair }) => {
    run = destinationQueuePair === queuePair.number ? run + 1 : 0;
    return Math.max(longest, run);
  }, 0);
}

describe('a train of commands', () => {
  const commands = 24;
  const wrIds = Array.from({ length: commands }, (_, index) => index);

  /** One command of each of several queue pairs, so that all of them wait in collect buffers. */
  function post(): { ends: [End, End][]; check: () => void } {
    const ends = wrIds.map(() => makePair(here, options, there));
    const near = makeMemory(ends[0]![0], 4 * commands, 1);
    const far = makeMemory(ends[0]![1], 4 * commands, 2);
    for (const wrId of wrIds)
      ends[wrId]![0].queuePair.postSend({
        opcode: Opcode.rdmaWrite,
        gather: [near.region.slice(4 * wrId, 4)],
        remote: far.region.remote().slice(4 * wrId, 4),
        wrId,
        signaled: true,
      });
    return { ends, check: () => expect(Buffer.compare(near.data, far.data)).toBe(0) };
  }

  it('has at most eight commands, each executed once, in order', () => {
    const { device } = here.context.driver;
    const leftOf = (block: string): number => dataUnitsOf(device).get(block)!;
    const before = dataUnitsOf(device);
    there.board.startPacketTrace(1000);
    const { ends, check } = post();
    let longest = 0;
    for (let kicked = before.get('virtual_kick')!, end = kicked + commands; kicked < end;) {
      here.board.advanceTime(1);
      const now = leftOf('virtual_kick');
      longest = Math.max(longest, now - kicked);
      kicked = now;
    }
    expect(longest).toBe(trainOfKicks);
    expectSuccess(settle(ends[0]![0]), wrIds);
    check();
    expect(arrivedAt(there, 'requests').map(({ destinationQueuePair }) => destinationQueuePair)).toEqual(
      ends.map(([, { queuePair }]) => queuePair.number),
    );
    for (const block of ['virtual_kick', 'queue_pair_fetch', 'dma'])
      expect(leftOf(block) - before.get(block)!, block).toBe(commands);
  });

  it.each([0, 3, 7, 8, 20])('loses no command if the request %i is lost on its way', (nth) => {
    const rule = there.board.impair({ lane: 'requests', nth, count: 1, loss: 1 });
    const { ends, check } = post();
    const [from] = ends[0]!;
    const done = [...settle(from), ...later(from)];
    expectSuccess(
      done.toSorted((a, b) => a.wrId - b.wrId),
      wrIds,
    );
    expect(there.board.impaired(rule).lost).toBe(1);
    check();
  });
});

/** Completions after the ACK timeout, if any. */
function later(end: End): Completion[] {
  end.verbs.board.advanceTime(4096 * 2 ** 6);
  return settle(end);
}

describe('a train of packets', () => {
  const packets = 100;

  it.each([
    ['WRITE', Opcode.rdmaWrite, 'requests', () => there],
    ['READ', Opcode.rdmaRead, 'responses', () => here],
  ] as const)('of a %s takes a few units of work, and keeps order', (_, opcode, lane, at) => {
    const [from, to] = makePair(here, options, there);
    const { request, check } = long(from, to, packets, { opcode });
    at().board.startPacketTrace(1000);
    from.queuePair.postSend(request);
    const units = here.board.runUntilIdle();
    expectSuccess(settle(from), [1]);
    check();
    expect(
      arrivedAt(at(), lane)
        .filter(({ opcode: name }) => name !== 'acknowledge')
        .map(({ psn }) => psn),
    ).toEqual(Array.from({ length: packets }, (__, index) => firstPsn + index));
    if (opcode === Opcode.rdmaWrite) expect(units).toBeLessThan(packets);
  });

  it.each([
    ['WRITE', Opcode.rdmaWrite, 'requests', () => there],
    ['READ', Opcode.rdmaRead, 'responses', () => here],
  ] as const)('of a %s ends well after the loss of any of its packets', (_, opcode, lane, at) => {
    for (const nth of [0, 1, 7, train - 1, train, train + 1, 50, packets - 1]) {
      const [from, to] = makePair(here, options, there);
      const { request, check } = long(from, to, packets, { opcode });
      const { request: next, check: checkNext } = long(from, to, 3, { wrId: 2 });
      const rule = at().board.impair({ lane, nth, count: 1, loss: 1 });
      from.queuePair.postSend([request, next]);
      expectSuccess([...settle(from), ...later(from)], [1, 2]);
      expect(at().board.impaired(rule).lost, `packet ${nth}`).toBe(1);
      at().board.clearImpairments();
      check();
      checkNext();
    }
  });

  it('stops in its middle when the requester goes back', () => {
    const many = 1000;
    const [from, to] = makePair(here, options, there);
    const { request, check } = long(from, to, many);
    there.board.impair({ lane: 'requests', nth: 50, count: 1, loss: 1 });
    there.board.startPacketTrace(4 * many);
    from.queuePair.postSend(request);
    expectSuccess([...settle(from), ...later(from)], [1]);
    check();
    const arrived = arrivedAt(there, 'requests');
    // The rest of the message would have followed the lost packet.
    expect(arrived.length).toBeGreaterThanOrEqual(many);
    expect(arrived.length).toBeLessThan(many + many / 4);
  });

  it('takes turns with the packets of another message', () => {
    const [writer, written] = makePair(here, options, there);
    const [other, its] = makePair(here, options, there);
    const one = long(writer, written, packets);
    const two = long(other, its, packets, { wrId: 2 });
    there.board.startPacketTrace(1000);
    writer.queuePair.postSend(one.request);
    other.queuePair.postSend(two.request);
    here.board.runUntilIdle();
    const done = settle(writer).toSorted((a, b) => a.wrId - b.wrId);
    expectSuccess(done, [1, 2]);
    one.check();
    two.check();
    const arrived = arrivedAt(there, 'requests');
    const begun = arrived.findIndex(
      ({ destinationQueuePair }) => destinationQueuePair === its.queuePair.number,
    );
    expect(begun).toBeLessThanOrEqual(train);
    // While both have packets.
    const both = arrived.slice(begun, begun + packets);
    for (const end of [written, its]) expect(longestRun(both, end)).toBeLessThanOrEqual(2);
  });

  it('delays a short message by at most a train and the packets that can wait for the port', () => {
    const many = 1000;
    const [writer, written] = makePair(here, options, there);
    const [sender, receiver] = makePair(here, options, there);
    const write = long(writer, written, many);
    receiver.queuePair.postReceive({ wrId: 2 });
    writer.queuePair.postSend(write.request);
    here.board.advanceTime(20);
    there.board.startPacketTrace(2 * many);
    sender.queuePair.postSend({ opcode: Opcode.send, wrId: 3, signaled: true });
    here.board.runUntilIdle();
    expectSuccess(settle(writer), [3, 1]);
    expectSuccess(settle(receiver), [2]);
    write.check();
    const arrived = arrivedAt(there, 'requests');
    const place = arrived.findIndex(({ opcode }) => opcode.startsWith('send'));
    expect(place).toBeGreaterThanOrEqual(0);
    expect(place).toBeLessThanOrEqual(2 * train);
    expect(arrived.length - place, 'the WRITE goes on').toBeGreaterThan(many / 2);
  });
});

describe('a message alone', () => {
  it.each([
    ['a SEND', { opcode: Opcode.send }],
    ['a WRITE', { opcode: Opcode.rdmaWrite }],
  ])('waits in no link: %s takes one step per visit to a board', (_, { opcode }) => {
    const [from, to] = makePair(here, options, there);
    const near = makeMemory(from, 4, 1);
    const far = makeMemory(to, 4, 2);
    to.queuePair.postReceive({ wrId: 2, scatter: [far.region.slice()] });
    here.board.runUntilIdle();
    from.queuePair.postSend({
      opcode,
      gather: [near.region.slice()],
      ...(opcode === Opcode.rdmaWrite && { remote: far.region.remote() }),
      wrId: 1,
      signaled: true,
    });
    const steps = (): number[] => [here, there].map(({ board }) => board.counters().steps);
    const before = steps();
    here.board.runUntilIdle();
    // The command with its packet, and the ACK; the packet with its ACK.
    expect(steps().map((count, index) => count - before[index]!)).toEqual([2, 1]);
    expectSuccess(settle(from), [1]);
    expect(Buffer.compare(near.data, far.data)).toBe(0);
  });

  it('is acknowledged alone, and with those that arrive with it', () => {
    const [from, to] = makePair(here, options, there);
    const wrIds = Array.from({ length: train }, (_, index) => index);
    const messages = wrIds.map((wrId) => long(from, to, 1, { wrId }));
    const acknowledgments = (): number => dataUnitsOf(there.context.driver.device).get('response')!;
    const before = acknowledgments();
    from.queuePair.postSend(messages.map(({ request }) => request));
    here.board.runUntilIdle();
    expectSuccess(settle(from), wrIds);
    for (const { check } of messages) check();
    const together = acknowledgments() - before;
    expect(together).toBeLessThan(train);
    from.queuePair.postSend(messages[0]!.request);
    here.board.runUntilIdle();
    expectSuccess(settle(from), [0]);
    expect(acknowledgments() - before - together).toBe(1);
  });
});

it('an ACK stays behind the responses of the READ before it', () => {
  const [from, to] = makePair(here, options, there);
  const read = long(from, to, 20, { opcode: Opcode.rdmaRead });
  const write = long(from, to, 1, { wrId: 2 });
  here.board.startPacketTrace(100);
  from.queuePair.postSend([read.request, write.request]);
  here.board.runUntilIdle();
  expectSuccess(settle(from), [1, 2]);
  read.check();
  write.check();
  expect(arrivedAt(here, 'responses').map(({ psn }) => psn)).toEqual(
    Array.from({ length: 21 }, (_, index) => firstPsn + index),
  );
});
