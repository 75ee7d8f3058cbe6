import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  Completion,
  CompletionStatus,
  EventType,
  Opcode,
  PathMtu,
  QueuePairState,
  RemoteMemory,
  VerbsError,
  type DeviceEvent,
  type MemorySlice,
  type SharedReceiveQueue,
} from '../../lib/index.ts';
import { describeOnBackends, settle as settleBoard } from '../helpers/backends.ts';
import {
  connect,
  everyRight,
  makeEnd,
  makeMemory,
  settle,
  type ConnectOptions,
  type End,
} from '../helpers/connected.ts';
import { makeQueuePair, makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';
import { setTimeWait } from '../helpers/time_wait.ts';

const { success, workRequestFlushedError, localLengthError, localProtectionError } = CompletionStatus;

/** A client that sends, and a server that receives from the shared queue, on one board. */
interface Line {
  readonly client: End;
  readonly server: End;
}

function makeLine(verbs: Verbs, queue: SharedReceiveQueue, options: ConnectOptions = {}): Line {
  const client = makeEnd(verbs, options);
  const server = makeEnd(verbs, { ...options, sharedReceiveQueue: queue });
  connect(client, server, options);
  connect(server, client, options);
  return { client, server };
}

function eventsOf({ context }: Verbs): DeviceEvent[] {
  const events: DeviceEvent[] = [];
  for (let event = context.pollEvent(); event !== undefined; event = context.pollEvent()) {
    if (event.type !== EventType.communicationEstablished) events.push(event);
  }
  return events;
}

const received = (completions: readonly Completion[]): Completion[] =>
  completions.filter(({ workQueue }) => workQueue === 1);

/** Posts receives of `bytes` each, whose wrId is the index of their memory. */
function fill(
  queue: SharedReceiveQueue,
  verbs: Verbs,
  count: number,
  bytes = 64,
): (wrId: number) => Uint8Array {
  const region = verbs.protectionDomain.allocate(count * bytes, everyRight);
  queue.postReceive(
    Array.from({ length: count }, (_, wrId) => ({ wrId, scatter: [region.slice(wrId * bytes, bytes)] })),
  );
  return (wrId) => region.bytes.subarray(wrId * bytes, (wrId + 1) * bytes);
}

const say = ({ queuePair }: End, ...bytes: number[]): void =>
  queuePair.postSend({ opcode: Opcode.send, signaled: true, inlineData: Uint8Array.from(bytes) });

describeOnBackends('a shared receive queue', (backend) => {
  it.each(['RC', 'UC'] as const)('gives each message of several queue pairs of %s a work request', (type) => {
    const verbs = makeVerbs(backend);
    const queue = verbs.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 16 });
    const lines = Array.from({ length: 3 }, () => makeLine(verbs, queue, { type, pathMtu: PathMtu.mtu256 }));
    const memory = fill(queue, verbs, 12, 1024);
    const messages = lines.map(({ client }, index) => makeMemory(client, 1000, index * 50));
    for (let turn = 0; turn < 4; turn++) {
      lines.forEach(({ client }, index) =>
        client.queuePair.postSend({
          opcode: Opcode.sendWithImmediate,
          immediateData: index,
          gather: [messages[index]!.region.slice()],
        }),
      );
    }
    const taken: Completion[] = [];
    settleBoard(verbs.board, backend, () => {
      const completions = Array.from({ length: 12 }, () => new Completion());
      taken.push(...received(completions.slice(0, verbs.completionQueue.poll(completions))));
      return taken.length >= 12;
    });
    expect(taken.map(({ wrId }) => wrId).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, i) => i),
    );
    for (const { wrId, status, byteLength, immediateData, queuePairNumber } of taken) {
      expect([status, byteLength]).toEqual([success, 1000]);
      expect(queuePairNumber).toBe(lines[immediateData]!.server.queuePair.number);
      expect(memory(wrId).subarray(0, 1000)).toEqual(messages[immediateData]!.data);
    }
    expect(queue.driver.outstanding).toBe(0);
  });
});

describe('a shared receive queue', () => {
  it('serves queue pairs of unreliable datagram', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue();
    const memory = fill(queue, verbs, 2);
    const [client, server] = [
      makeEnd(verbs, { type: 'UD' }),
      makeEnd(verbs, { type: 'UD', sharedReceiveQueue: queue }),
    ];
    for (const { queuePair } of [client, server]) {
      queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, queueKey: 7 });
      queuePair.modify({ state: QueuePairState.readyToReceive });
      queuePair.modify({ state: QueuePairState.readyToSend, sendPsn: 1 });
    }
    const addressHandle = verbs.protectionDomain.createAddressHandle({
      port: 1,
      isGlobal: true,
      hopLimit: 1,
      destinationGid: verbs.context.queryGid(1, 0),
    });
    const to = { addressHandle, destinationQueuePair: server.queuePair.number, queueKey: 7 };
    for (const byte of [5, 6]) {
      client.queuePair.postSend({ opcode: Opcode.send, inlineData: Uint8Array.of(byte), ...to });
    }
    const completions = received(settle(server));
    expect(completions.map(({ wrId, byteLength }) => [wrId, byteLength])).toEqual([
      [0, 41],
      [1, 41],
    ]);
    expect([memory(0)[40], memory(1)[40]]).toEqual([5, 6]);
  });

  it('answers RNR NAK while it is empty, and the sender retries', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue();
    const { client, server } = makeLine(verbs, queue);
    say(client, 1);
    verbs.board.runUntilIdle();
    const memory = fill(queue, verbs, 1);
    verbs.board.advanceTime(10_000_000);
    expect(received(settle(server))).toMatchObject([{ wrId: 0, status: success }]);
    expect(memory(0)[0]).toBe(1);
  });

  it('wraps beyond 2^16 work requests', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue({
      maxWorkRequests: 4,
      maxScatterEntries: 1,
    });
    const { client } = makeLine(verbs, queue);
    const slice = verbs.protectionDomain.allocate(64, everyRight).slice();
    const completions = Array.from({ length: 32 }, () => new Completion());
    for (let round = 0; round < 0x1_0010 / 4; round++) {
      queue.postReceive([1, 2, 3, 4].map((each) => ({ wrId: round * 4 + each, scatter: [slice] })));
      for (let each = 0; each < 4; each++) say(client, each);
      verbs.board.runUntilIdle();
      const wrIds = completions
        .slice(0, verbs.completionQueue.poll(completions))
        .filter(({ workQueue }) => workQueue === 1)
        .map(({ wrId }) => wrId - round * 4);
      if (wrIds.join() !== '1,2,3,4') expect(wrIds, `round ${round}`).toEqual([1, 2, 3, 4]);
    }
  });

  it('reuses each place, also if all completions go into the same object', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 4 });
    const { client } = makeLine(verbs, queue);
    const completion = new Completion();
    for (let round = 0; round < 3; round++) {
      fill(queue, verbs, 4);
      for (let each = 0; each < 4; each++) say(client, each);
      verbs.board.runUntilIdle();
      expect(verbs.completionQueue.poll(Array.from({ length: 8 }, () => completion))).toBe(8);
      expect(queue.driver.outstanding).toBe(0);
    }
  });

  it('uses memory of its own protection domain, whatever that of the queue pair', () => {
    const verbs = makeVerbs();
    const other = { ...verbs, protectionDomain: verbs.context.createProtectionDomain() };
    const queue = other.protectionDomain.createSharedReceiveQueue();
    const { client, server } = makeLine(verbs, queue);
    fill(queue, other, 1);
    say(client, 1);
    expect(received(settle(server))).toMatchObject([{ status: success }]);
    fill(queue, verbs, 1);
    say(client, 1);
    expect(received(settle(server))).toMatchObject([{ status: localProtectionError }]);
  });

  it('holds as many work requests, and as long lists, as requested', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue({
      maxWorkRequests: 4,
      maxScatterEntries: 1,
    });
    expect(() => queue.postReceive(Array.from({ length: 5 }, () => ({})))).toThrow(
      expect.objectContaining({ code: 'ENOMEM', posted: 4 }),
    );
    const { client, server } = makeLine(verbs, queue);
    client.queuePair.postSend({ opcode: Opcode.send });
    expect(received(settle(server))).toHaveLength(1);
    const slice = verbs.protectionDomain.allocate(8, everyRight).slice();
    expect(() => queue.postReceive({ scatter: [slice, slice] })).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'scatter.length' }),
    );
    queue.postReceive({});
    expect(() => queue.postReceive({})).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
  });
});

describe('the limit', () => {
  const reached = EventType.sharedReceiveQueueLimitReached;

  it('raises its event once if fewer are left, and can be set again', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 16 });
    const { client } = makeLine(verbs, queue);
    fill(queue, verbs, 8);
    queue.modify({ limit: 6 });
    const after = (): [number, DeviceEvent[]] => {
      say(client, 1);
      settle(client);
      return [queue.query().limit, eventsOf(verbs)];
    };
    expect(after()).toEqual([6, []]);
    expect(after()).toEqual([6, []]);
    expect(after()).toMatchObject([0, [{ type: reached, object: queue.number, detail: 5n }]]);
    expect(after()).toEqual([0, []]);
    queue.modify({ limit: 4 });
    expect(after()).toMatchObject([0, [{ type: reached, detail: 3n }]]);
  });

  it('counts receives posted since the device read the tail', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 32 });
    const { client } = makeLine(verbs, queue);
    fill(queue, verbs, 8);
    queue.modify({ limit: 8 });
    fill(queue, verbs, 8);
    for (let count = 0; count < 8; count++) {
      say(client, 1);
      settle(client);
      expect(eventsOf(verbs), `${15 - count} left`).toEqual([]);
    }
    say(client, 1);
    settle(client);
    expect(eventsOf(verbs)).toMatchObject([{ type: reached, detail: 7n }]);
  });

  it('raises its event at once if fewer are left already', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 8, limit: 1 });
    verbs.board.runUntilIdle();
    expect(eventsOf(verbs)).toMatchObject([{ type: reached, object: queue.number, detail: 0n }]);
    fill(queue, verbs, 3);
    queue.modify({ limit: 3 });
    verbs.board.runUntilIdle();
    expect(eventsOf(verbs)).toEqual([]);
    queue.modify({ limit: 0 });
    queue.modify({ limit: 4 });
    verbs.board.runUntilIdle();
    expect(eventsOf(verbs)).toMatchObject([{ type: reached, detail: 3n }]);
  });

  it('is at most the capacity', () => {
    const { protectionDomain } = makeVerbs();
    const queue = protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 8, limit: 8 });
    const wrong = expect.objectContaining({ code: 'EINVAL', attribute: 'limit' }) as VerbsError;
    expect(() => queue.modify({ limit: 9 })).toThrow(wrong);
    expect(() => protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 8, limit: 9 })).toThrow(wrong);
  });
});

describe('a queue pair that fails', () => {
  it('leaves the shared queue to the others, and reports when its last work request is complete', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue();
    const [first, second] = [makeLine(verbs, queue), makeLine(verbs, queue)];
    fill(queue, verbs, 3, 1);
    say(first.client, 1, 2);
    expect(received(settle(first.server))).toMatchObject([{ wrId: 0, status: localLengthError }]);
    const last = {
      type: EventType.queuePairLastWorkQueueEntryReached,
      object: first.server.queuePair.number,
    };
    expect(eventsOf(verbs).filter(({ type }) => type === last.type)).toMatchObject([last]);
    say(second.client, 3);
    expect(received(settle(second.server))).toMatchObject([{ wrId: 1, status: success }]);
    expect(queue.driver.outstanding).toBe(1);
    expect(eventsOf(verbs)).toEqual([]);
  });

  it('completes taken receives once, whenever it fails', () => {
    const counts = { flushed: 0, untaken: 0 };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 160 }), fc.boolean(), (steps, reliable) => {
        const verbs = makeVerbs();
        const queue = verbs.protectionDomain.createSharedReceiveQueue();
        const options = { type: reliable ? 'RC' : 'UC', pathMtu: PathMtu.mtu256 } as const;
        const [line, other] = [makeLine(verbs, queue, options), makeLine(verbs, queue, options)];
        fill(queue, verbs, 6, 1024);
        const { region } = makeMemory(line.client, 1024);
        for (let count = 0; count < 3; count++) {
          line.client.queuePair.postSend({ opcode: Opcode.send, gather: [region.slice()] });
        }
        verbs.board.step(steps);
        line.server.queuePair.modify({ state: QueuePairState.error });
        const ended = received(settle(line.server));
        const last = eventsOf(verbs).filter(
          ({ type }) => type === EventType.queuePairLastWorkQueueEntryReached,
        );
        expect(last).toMatchObject([{ object: line.server.queuePair.number }]);
        for (let count = ended.length; count < 6; count++) {
          other.client.queuePair.postSend({ opcode: Opcode.send, gather: [region.slice()] });
        }
        const rest = received(settle(other.server));
        expect(ended.every(({ status }) => status === success || status === workRequestFlushedError)).toBe(
          true,
        );
        expect(rest.every(({ status }) => status === success)).toBe(true);
        expect([...ended, ...rest].map(({ wrId }) => wrId).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
        expect(queue.driver.outstanding).toBe(0);
        counts.flushed += ended.filter(({ status }) => status === workRequestFlushedError).length;
        counts.untaken += rest.length;
        verbs.board.close();
      }),
      { numRuns: 120 },
    );
    expect(Math.min(counts.flushed, counts.untaken)).toBeGreaterThan(10);
  });

  it('completes the receive of an RDMA WRITE that it refuses', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue();
    const { client, server } = makeLine(verbs, queue);
    fill(queue, verbs, 1);
    const { region } = makeMemory(server, 64);
    const { key, address } = region.remote();
    client.queuePair.postSend({
      opcode: Opcode.rdmaWriteWithImmediate,
      immediateData: 1,
      inlineData: Uint8Array.of(1),
      remote: new RemoteMemory({ key: key ^ 1, address, length: 64 }),
    });
    expect(received(settle(server))).toMatchObject([{ wrId: 0, status: workRequestFlushedError }]);
    expect(queue.driver.outstanding).toBe(0);
  });
});

describe.each(['closed', 'reset'] as const)('a queue pair that is %s', (how) => {
  const end = ({ queuePair }: End): void => {
    if (how === 'closed') queuePair.close();
    else queuePair.modify({ state: QueuePairState.reset });
  };

  it('returns completed, unpolled receives as flushed', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue();
    const { client, server } = makeLine(verbs, queue);
    fill(queue, verbs, 4);
    for (let count = 0; count < 3; count++) say(client, 1);
    verbs.board.runUntilIdle();
    end(server);
    const flushed = { status: workRequestFlushedError, queuePairNumber: server.queuePair.number };
    expect(received(settle(client))).toMatchObject([0, 1, 2].map((wrId) => ({ wrId, ...flushed })));
    expect(queue.driver.outstanding).toBe(1);
  });

  it('completes each taken receive once, at any stage', () => {
    const counts = { flushed: 0, untaken: 0 };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 160 }), fc.boolean(), (steps, reliable) => {
        const verbs = makeVerbs();
        const queue = verbs.protectionDomain.createSharedReceiveQueue();
        const options = { type: reliable ? 'RC' : 'UC', pathMtu: PathMtu.mtu256 } as const;
        const [line, other] = [makeLine(verbs, queue, options), makeLine(verbs, queue, options)];
        fill(queue, verbs, 6, 1024);
        const { region } = makeMemory(line.client, 1024);
        const message = { opcode: Opcode.send, gather: [region.slice()] } as const;
        line.client.queuePair.postSend([message, message, message]);
        verbs.board.step(steps);
        end(line.server);
        const ended = received(settle(line.client));
        for (let count = ended.length; count < 6; count++) other.client.queuePair.postSend(message);
        const rest = received(settle(other.server));
        expect(ended.every(({ status }) => status === workRequestFlushedError)).toBe(true);
        expect(rest.every(({ status }) => status === success)).toBe(true);
        expect([...ended, ...rest].map(({ wrId }) => wrId).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
        expect(queue.driver.outstanding).toBe(0);
        counts.flushed += ended.length;
        counts.untaken += rest.length;
        verbs.board.close();
      }),
      { numRuns: 120 },
    );
    expect(Math.min(counts.flushed, counts.untaken)).toBeGreaterThan(10);
  });
});

describe('receives left by a closed queue pair', () => {
  it('are free when the completion queue is closed', () => {
    const verbs = makeVerbs();
    const completionQueue = verbs.context.createCompletionQueue({ entries: 16 });
    const queue = verbs.protectionDomain.createSharedReceiveQueue();
    const { client, server } = makeLine({ ...verbs, completionQueue }, queue);
    fill(queue, verbs, 4);
    for (let count = 0; count < 3; count++) say(client, 1);
    verbs.board.runUntilIdle();
    for (const { queuePair } of [client, server]) queuePair.close();
    completionQueue.close();
    expect(queue.driver.outstanding).toBe(1);
    expect(verbs.context.driver.closedReceivers.size).toBe(0);
  });

  it('do not belong to a later queue pair with its number', () => {
    const verbs = makeVerbs(stepped, { queuePairs: 5 });
    setTimeWait(verbs, 1); // the number is reused as soon as it is free
    const queue = verbs.protectionDomain.createSharedReceiveQueue();
    const { client, server } = makeLine(verbs, queue);
    fill(queue, verbs, 4);
    for (let count = 0; count < 3; count++) say(client, 1);
    verbs.board.runUntilIdle();
    const { number } = server.queuePair;
    server.queuePair.close();
    for (let count = 0; count < 1024; count++) {
      const later = makeQueuePair(verbs, {}, 'RC', queue);
      if (later.number === number) break;
      later.close();
    }
    expect(verbs.context.driver.queuePairs.has(number)).toBe(true);
    expect(queue.driver.outstanding).toBe(1);
    expect(received(settle(client))).toEqual([]);
  });

  it('have no owner when the shared receive queue is closed', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue();
    const { client, server } = makeLine(verbs, queue);
    fill(queue, verbs, 4);
    for (let count = 0; count < 3; count++) say(client, 1);
    verbs.board.runUntilIdle();
    server.queuePair.close();
    queue.close();
    expect(received(settle(client))).toEqual([]);
    expect(verbs.context.driver.closedReceivers.size).toBe(0);
  });
});

describe('an inconsistent shared receive queue', () => {
  it('enters error with every queue pair that uses it, and reports it', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 8 });
    const lines = [makeLine(verbs, queue), makeLine(verbs, queue)];
    queue.driver.area.storeTail(9);
    for (const { client } of lines) say(client, 1);
    settle(lines[0]!.server);
    const events = eventsOf(verbs).filter(
      ({ type }) => type !== EventType.queuePairLastWorkQueueEntryReached,
    );
    expect(events).toMatchObject([
      { type: EventType.sharedReceiveQueueError, object: queue.number },
      { type: EventType.queuePairFatal, object: lines[0]!.server.queuePair.number },
      { type: EventType.queuePairFatal, object: lines[1]!.server.queuePair.number },
    ]);
    expect(queue.query()).toEqual({ limit: 0, failed: true });
    expect(() => queue.modify({ limit: 1 })).toThrow(VerbsError);
  });
});

describe('shared receive queues and the objects around them', () => {
  it('are closed after the queue pairs that receive from them', () => {
    const verbs = makeVerbs();
    const { context } = verbs;
    const queue = context.createProtectionDomain().createSharedReceiveQueue();
    const { server } = makeLine(verbs, queue);
    const busy = expect.objectContaining({ code: 'EBUSY' }) as VerbsError;
    expect(() => queue.close()).toThrow(busy);
    expect(() => queue.driver.destroy()).toThrow(busy);
    server.queuePair.close();
    queue.close();
    queue.close();
    const closed = expect.objectContaining({ code: 'EBADF' }) as VerbsError;
    expect(() => queue.postReceive({})).toThrow(closed);
    expect(() => queue.modify({ limit: 0 })).toThrow(closed);
    expect(() => queue.query()).toThrow(closed);
    expect(() => makeQueuePair(verbs, {}, 'RC', queue)).toThrow(closed);
  });

  it('keep their protection domain busy', () => {
    const { context } = makeVerbs();
    const protectionDomain = context.createProtectionDomain();
    const queue = protectionDomain.createSharedReceiveQueue();
    expect(() => protectionDomain.driver.destroy()).toThrow(expect.objectContaining({ code: 'EBUSY' }));
    queue.close();
    protectionDomain.close();
  });

  it('belong to one context, and have the sizes that the device supports', () => {
    const verbs = makeVerbs();
    const foreign = makeVerbs().protectionDomain.createSharedReceiveQueue();
    expect(() => makeQueuePair(verbs, {}, 'RC', foreign)).toThrow(
      'sharedReceiveQueue must be of the same context, got a SharedReceiveQueue',
    );
    expect(() => makeQueuePair(verbs, {}, 'RC', {} as SharedReceiveQueue)).toThrow(TypeError);
    const { protectionDomain } = verbs;
    expect(() => protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 32_769 })).toThrow(
      expect.objectContaining({
        code: 'EINVAL',
        attribute: 'maxWorkRequests',
        verb: 'createSharedReceiveQueue',
      }),
    );
    expect(() => protectionDomain.createSharedReceiveQueue({ maxScatterEntries: 17 })).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'maxScatterEntries' }),
    );
  });

  it('are 255, and numbers of former ones are refused', () => {
    const { protectionDomain } = makeVerbs(stepped, { pageTableEntries: 16_384 });
    const make = (): SharedReceiveQueue =>
      protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 1, maxScatterEntries: 1 });
    const queues = Array.from({ length: 255 }, make);
    expect(make).toThrow(expect.objectContaining({ code: 'ENOMEM', attribute: 'sharedReceiveQueues' }));
    const former = queues[7]!;
    former.close();
    expect(make().number).not.toBe(former.number);
    expect(() => former.driver.query()).toThrow(expect.objectContaining({ code: 'EINVAL' }));
  });

  it('provide the receives of their queue pairs', () => {
    const verbs = makeVerbs();
    const { server } = makeLine(verbs, verbs.protectionDomain.createSharedReceiveQueue());
    const slice: MemorySlice = verbs.protectionDomain.allocate(8, everyRight).slice();
    expect(() => server.queuePair.postReceive({ scatter: [slice] })).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'sharedReceiveQueue' }),
    );
  });
});
