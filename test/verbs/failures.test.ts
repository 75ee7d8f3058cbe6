import { randomUUID } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import {
  Access,
  CompletionStatus,
  EventType,
  Opcode,
  QueuePairState,
  RemoteMemory,
  Completion,
  type DeviceEvent,
  type MemorySlice,
  type SendRequest,
} from '../../lib/index.ts';
import {
  everyRight,
  makeEnd,
  makeMemory,
  makePair,
  connect,
  settle,
  type End,
} from '../helpers/connected.ts';
import { makeQueuePair, makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

const status = CompletionStatus;
const { success, workRequestFlushedError } = status;

/** Work queue, identifier and status. */
const told = ({ workQueue, wrId, status: how }: Completion): [number, number, CompletionStatus] => [
  workQueue,
  wrId,
  how,
];

function eventsOf({ context }: Verbs): DeviceEvent[] {
  const events: DeviceEvent[] = [];
  for (let event = context.pollEvent(); event !== undefined; event = context.pollEvent()) events.push(event);
  return events;
}

const stateOf = ({ queuePair }: End): QueuePairState => queuePair.query().state;

describe('a work request that names local memory without the right', () => {
  const wrongSlices: Readonly<Record<string, (end: End) => MemorySlice>> = {
    'a key that there is not': (end) => {
      const slice = makeMemory(end, 64).region.slice();
      return { ...slice, localKey: slice.localKey + 0x4000 };
    },
    'another variant of its key': (end) => {
      const slice = makeMemory(end, 64).region.slice();
      return { ...slice, localKey: slice.localKey ^ 1 };
    },
    'a key of another protection domain': ({ verbs }) =>
      verbs.context.createProtectionDomain().allocate(64, everyRight).slice(),
    'a key that was deregistered': (end) => {
      const { region } = makeMemory(end, 64);
      const slice = region.slice();
      region.close();
      return slice;
    },
    'more than its region': (end) => ({ ...makeMemory(end, 64).region.slice(), length: 65 }),
  };

  it.each(Object.entries(wrongSlices))('%s: fails alone, the rest is flushed in order', (_, wrong) => {
    const [from, to] = makePair(makeVerbs());
    const { region } = makeMemory(from, 64);
    const { region: target } = makeMemory(to, 64);
    const write = { opcode: Opcode.rdmaWrite, remote: target.remote() };
    from.queuePair.postReceive([{ wrId: 10 }, { wrId: 11 }]);
    from.queuePair.postSend([
      { ...write, gather: [region.slice()], wrId: 0 },
      { ...write, gather: [region.slice(0, 8)], wrId: 1, signaled: true },
      { ...write, gather: [region.slice(0, 8), wrong(from)], wrId: 2 },
      { ...write, gather: [region.slice()], wrId: 3 },
      { ...write, gather: [region.slice()], wrId: 4, signaled: true },
    ]);
    const completions = settle(from).map(told);
    expect(completions.filter(([queue]) => queue === 0)).toEqual([
      [0, 1, success],
      [0, 2, status.localProtectionError],
      [0, 3, workRequestFlushedError],
      [0, 4, workRequestFlushedError],
    ]);
    expect(completions.filter(([queue]) => queue === 1)).toEqual([
      [1, 10, workRequestFlushedError],
      [1, 11, workRequestFlushedError],
    ]);
    expect([from, to].map(stateOf)).toEqual([QueuePairState.error, QueuePairState.readyToSend]);
  });

  it.each(Object.entries(wrongSlices))('%s, in a receive: fails both ends', (_, wrong) => {
    const [from, to] = makePair(makeVerbs());
    const scatter = wrong(to);
    to.queuePair.postReceive([{ wrId: 10, scatter: [scatter] }, { wrId: 11 }]);
    from.queuePair.postSend([
      { opcode: Opcode.send, inlineData: new Uint8Array(scatter.length), wrId: 0 },
      { opcode: Opcode.send, wrId: 1 },
    ]);
    const completions = settle(from).map(told);
    expect(completions.filter(([queue]) => queue === 1)).toEqual([
      [1, 10, status.localProtectionError],
      [1, 11, workRequestFlushedError],
    ]);
    expect(completions.filter(([queue]) => queue === 0)).toEqual([
      [0, 0, status.remoteOperationError],
      [0, 1, workRequestFlushedError],
    ]);
    expect([from, to].map(stateOf)).toEqual([QueuePairState.error, QueuePairState.error]);
  });

  it.each([Opcode.rdmaRead, Opcode.atomicFetchAndAdd, Opcode.atomicCompareAndSwap])(
    'operation %i needs writable memory',
    (opcode) => {
      const [from, to] = makePair(makeVerbs());
      const { data, region } = makeMemory(to, 8, 3);
      const before = Uint8Array.from(data);
      const readOnly = from.verbs.protectionDomain.allocate(8, 0);
      from.queuePair.postSend({
        opcode,
        remote: region.remote(),
        gather: [readOnly.slice()],
        compareAdd: 1n,
        swap: 2n,
      });
      expect(settle(from).map(told)).toEqual([[0, 0, status.localProtectionError]]);
      expect(readOnly.bytes).toEqual(new Uint8Array(8));
      expect(data).toEqual(before);
    },
  );
});

describe('a peer', () => {
  const write = (remote: RemoteMemory): SendRequest => ({
    opcode: Opcode.rdmaWrite,
    inlineData: Uint8Array.of(1),
    remote,
  });

  it('refuses a deregistered key whose place another region has', () => {
    const [from, to] = makePair(makeVerbs());
    const { region } = makeMemory(to, 64);
    const former = new RemoteMemory({ address: region.address, key: region.remoteKey, length: 64 });
    region.close();
    const { data } = makeMemory(to, 64, 9);
    const before = Uint8Array.from(data);
    from.queuePair.postSend(write(former));
    expect(settle(from).map(told)).toEqual([[0, 0, status.remoteAccessError]]);
    expect(data).toEqual(before);
  });

  it.each([
    [Opcode.rdmaWrite, Access.remoteWrite],
    [Opcode.rdmaRead, Access.remoteRead],
    [Opcode.atomicFetchAndAdd, Access.remoteAtomic],
  ])('whose queue pair does not have the right refuses operation %i', (opcode, right) => {
    const verbs = makeVerbs();
    const [from, to] = [makeEnd(verbs), makeEnd(verbs)];
    connect(from, to);
    connect(to, from, { accessFlags: everyRight & ~right });
    const { region, data } = makeMemory(to, 8);
    const before = Uint8Array.from(data);
    const gather = [makeMemory(from, 8).region.slice()];
    from.queuePair.postSend({ opcode, gather, remote: region.remote(), compareAdd: 1n });
    expect(settle(from).map(told)).toEqual([[0, 0, status.remoteInvalidRequestError]]);
    expect(data).toEqual(before);
  });

  it('that refuses an access raises a local event', () => {
    const verbs = makeVerbs();
    const [from, to] = makePair(verbs);
    const { region } = makeMemory(to, 64);
    to.queuePair.postReceive([{ wrId: 10 }, { wrId: 11 }]);
    from.queuePair.postSend(
      write(new RemoteMemory({ address: region.address, key: region.remoteKey ^ 1, length: 64 })),
    );
    const done = settle(from).map(told);
    expect(done.filter(([queue]) => queue === 1)).toEqual([
      [1, 10, workRequestFlushedError],
      [1, 11, workRequestFlushedError],
    ]);
    expect(done.filter(([queue]) => queue === 0)).toEqual([[0, 0, status.remoteAccessError]]);
    expect(eventsOf(verbs)).toMatchObject([
      { type: EventType.queuePairAccessError, object: to.queuePair.number },
    ]);
  });

  it('checks no key for a length of zero', () => {
    const [from] = makePair(makeVerbs());
    const nowhere = new RemoteMemory({ address: 5, key: 0xdead, length: 0 });
    from.queuePair.postSend([
      { opcode: Opcode.rdmaWrite, remote: nowhere },
      { opcode: Opcode.rdmaRead, remote: nowhere, signaled: true, wrId: 1 },
    ]);
    expect(settle(from).map(told)).toEqual([[0, 1, success]]);
  });
});

describe('full queues', () => {
  it('accept work requests again when earlier ones are complete', () => {
    const verbs = makeVerbs();
    const [from, to] = makePair(verbs, {
      capabilities: { maxSendWorkRequests: 8, maxReceiveWorkRequests: 8 },
    });
    const requests = Array.from({ length: 9 }, (_, wrId) => ({
      opcode: Opcode.send,
      wrId,
      signaled: wrId === 7,
    }));
    for (let round = 0; round < 20; round++) {
      expect(() => to.queuePair.postReceive(requests.map(({ wrId }) => ({ wrId })))).toThrow(
        expect.objectContaining({ code: 'ENOMEM', posted: 8 }),
      );
      expect(() => from.queuePair.postSend(requests)).toThrow(
        expect.objectContaining({ code: 'ENOMEM', posted: 8 }),
      );
      expect(() => from.queuePair.postSend(requests[0]!)).toThrow(
        expect.objectContaining({ code: 'ENOMEM' }),
      );
      expect(settle(from).map(told)).toEqual([
        ...requests.slice(0, 8).map(({ wrId }) => [1, wrId, success]),
        [0, 7, success],
      ]);
    }
    expect([from, to].map(stateOf)).toEqual([QueuePairState.readyToSend, QueuePairState.readyToSend]);
  });

  it('of completions fail with their queue pairs, and nothing is overwritten', () => {
    const verbs = makeVerbs();
    const small = { ...verbs, completionQueue: verbs.context.createCompletionQueue({ entries: 4 }) };
    const [from, to] = [{ ...makeEnd(verbs), verbs: small, queuePair: makeQueuePair(small) }, makeEnd(verbs)];
    connect(from, to);
    connect(to, from);
    const { capacity } = small.completionQueue;
    const remote = makeMemory(to, 8).region.remote();
    for (let wrId = 0; wrId <= capacity; wrId++)
      from.queuePair.postSend({ opcode: Opcode.rdmaWrite, remote, wrId, signaled: true });
    verbs.board.runUntilIdle();
    expect(eventsOf(verbs)).toContainEqual(
      expect.objectContaining({
        type: EventType.completionQueueError,
        object: small.completionQueue.driver.number,
      }),
    );
    expect(stateOf(from)).toBe(QueuePairState.error);
    expect(stateOf(to)).toBe(QueuePairState.readyToSend);
    const completions = Array.from({ length: capacity + 1 }, () => new Completion());
    expect(small.completionQueue.poll(completions)).toBe(capacity);
    expect(completions.slice(0, capacity).map(told)).toEqual(
      Array.from({ length: capacity }, (_, wrId) => [0, wrId, success]),
    );
    expect(() => small.completionQueue.poll(completions)).toThrow(
      expect.objectContaining({ code: 'EOVERFLOW', attribute: 'entries' }),
    );
  });
});

describe('a queue pair in ERR', () => {
  it('flushes outstanding and later work requests, in order', () => {
    const verbs = makeVerbs();
    const [from, to] = makePair(verbs);
    const { region } = makeMemory(from, 60_000);
    const remote = makeMemory(to, 60_000).region.remote();
    const writes = Array.from({ length: 12 }, (_, wrId) => ({
      opcode: Opcode.rdmaWrite,
      gather: [region.slice()],
      remote,
      wrId,
      signaled: true,
    }));
    from.queuePair.postSend(writes);
    verbs.board.step(3000);
    from.queuePair.modify({ state: QueuePairState.error });
    from.queuePair.postSend({ opcode: Opcode.send, wrId: 12 });
    const completions = settle(from).map(told);
    expect(completions.map(([, wrId]) => wrId)).toEqual(Array.from({ length: 13 }, (_, wrId) => wrId));
    const flushed = completions.findIndex(([, , how]) => how !== success);
    expect(flushed).toBeLessThan(12);
    expect(completions.slice(flushed).every(([, , how]) => how === workRequestFlushedError)).toBe(true);
    expect(stateOf(to)).toBe(QueuePairState.readyToSend);
  });

  it('works again after a reset, also with another peer', () => {
    const verbs = makeVerbs();
    const [from, to] = makePair(verbs);
    const other = makeEnd(verbs);
    const source = makeMemory(from, 5000, 1);
    for (const [round, peer] of [to, other, to, other].entries()) {
      for (const end of [from, peer]) {
        end.queuePair.modify({ state: QueuePairState.error });
        end.queuePair.modify({ state: QueuePairState.reset });
      }
      connect(from, peer);
      connect(peer, from);
      const target = makeMemory(peer, 5000, 2);
      const word = makeMemory(peer, 8);
      const former = makeMemory(from, 8);
      word.data.fill(round);
      peer.queuePair.postReceive({ wrId: round, scatter: [target.region.slice()] });
      from.queuePair.postSend([
        { opcode: Opcode.send, gather: [source.region.slice()] },
        {
          opcode: Opcode.atomicFetchAndAdd,
          gather: [former.region.slice()],
          remote: word.region.remote(),
          compareAdd: 1n,
          signaled: true,
          wrId: 50 + round,
        },
      ]);
      expect(settle(from).map(told)).toEqual([
        [1, round, success],
        [0, 50 + round, success],
      ]);
      expect(target.data).toEqual(source.data);
      expect(former.data).toEqual(new Uint8Array(8).fill(round));
      expect(word.data[0]).toBe(round + 1);
    }
  });
});

it('a requester without initiator depth fails with a READ', () => {
  const [from, to] = makePair(makeVerbs(), { maxReadAtomic: 0 });
  const gather = [makeMemory(from, 8).region.slice()];
  from.queuePair.postSend({ opcode: Opcode.rdmaRead, gather, remote: makeMemory(to, 8).region.remote() });
  expect(settle(from).map(told)).toEqual([[0, 0, status.localQueuePairOperationError]]);
});

it('a requester that asks more than its peer can hold is refused', () => {
  const fabric = randomUUID();
  const [here, there] = [makeVerbs(stepped, { fabric }), makeVerbs(stepped, { fabric })];
  const [from, to] = makePair(here, { maxReadAtomic: 16, maxDestinationReadAtomic: 1 }, there);
  const gather = [makeMemory(from, 30_000).region.slice()];
  const read = { opcode: Opcode.rdmaRead, gather, remote: makeMemory(to, 30_000).region.remote() };
  from.queuePair.postSend([0, 1, 2].map((wrId) => ({ ...read, wrId, signaled: true })));
  expect(settle(from).map(told)).toEqual([
    [0, 0, success],
    [0, 1, status.remoteInvalidRequestError],
    [0, 2, workRequestFlushedError],
  ]);
  expect([from, to].map(stateOf)).toEqual([QueuePairState.error, QueuePairState.error]);
  expect(eventsOf(there)).toMatchObject([
    { type: EventType.queuePairRequestError, object: to.queuePair.number },
  ]);
});
