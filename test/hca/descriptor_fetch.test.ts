import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { EventType, QueuePairState, Refusal, decode } from '../../lib/spec/index.ts';
import { HostReceiveQueue } from './host_receive_queue.ts';
import { makeReceiveQueues } from '../helpers/receive_queue_port.ts';

const scatterOf = (entries: number) =>
  Array.from({ length: entries }, (_, index) => ({
    address: 0x1000n + BigInt(index),
    length: 100 + index,
    localKey: 0x100 + index,
  }));

describe('descriptor_fetch', () => {
  it('takes posted entries in order, and none beyond the tail', () => {
    const queue = new HostReceiveQueue({ entriesLog2: 2 });
    expect(queue.take()).toBeNull();
    const posted = [queue.post(), queue.post(scatterOf(16)), queue.post(scatterOf(3))];
    expect(queue.take()).toBeNull();
    queue.publish();
    for (const descriptor of posted) {
      expect(queue.take()).toEqual(descriptor);
      expect(queue.port.taken(1, queue.number)).toEqual(descriptor);
    }
    expect(queue.take()).toBeNull();
    expect(queue.state()).toBe(QueuePairState.readyToReceive);
    expect(queue.events()).toEqual([]);
  });

  it.each([0, 1, 2, 3, 4, 9, 12, 15])('wraps in a queue of 2^%i entries and beyond 2^16', (entriesLog2) => {
    const queue = new HostReceiveQueue({ entriesLog2 });
    queue.startAt(0x10000 - queue.entries - 3);
    // A round is filled and emptied completely, so that full and empty must be distinguished.
    for (let round = 0; round < 2; ++round) {
      const posted = Array.from({ length: queue.entries }, () => queue.post());
      queue.publish();
      for (const descriptor of posted) expect(queue.take()).toEqual(descriptor);
      expect(queue.take()).toBeNull();
    }
    for (let number = 0; number < 20; ++number) {
      const descriptor = queue.post(scatterOf(1));
      queue.publish();
      expect(queue.take()).toEqual(descriptor);
    }
    expect(queue.events()).toEqual([]);
  });

  it('reads a cache line of references at once, and the tail only when it would cut one short', () => {
    const queue = new HostReceiveQueue({ entriesLog2: 6 });
    queue.startAt(3);
    for (let number = 0; number < 40; ++number) queue.post();
    queue.publish();
    const accesses = Array.from({ length: 40 }, () => queue.accessesOf(() => queue.take()));
    // The first one needs the tail; lines begin at slots 8, 16, 24, 32 and 40, and the last line is cut
    // short.
    const expected = accesses.map((_, index) => (index === 0 ? 2 : (index + 3) % 8 === 0 ? 1 : 0));
    expected[37] = 2;
    expect(accesses).toEqual(expected);
    expect(queue.accessesOf(() => expect(queue.take()).toBeNull())).toBe(1);
  });

  it('reads references again when other queue pairs have used the cache', () => {
    const port = makeReceiveQueues();
    const queues = Array.from({ length: 70 }, () => new HostReceiveQueue({ entriesLog2: 3 }, port));
    const posted = queues.map((queue, index) =>
      Array.from({ length: 5 }, () => queue.post(scatterOf(index % 17))),
    );
    for (const queue of queues) queue.publish();
    for (let turn = 0; turn < 5; ++turn)
      queues.forEach((queue, index) => expect(queue.take()).toEqual(posted[index]![turn]));
    for (const queue of queues) expect(queue.take()).toBeNull();
  });

  it('drops prefetched references when the queue pair is reset', () => {
    const queue = new HostReceiveQueue({ entriesLog2: 3 });
    for (let number = 0; number < 4; ++number) queue.post();
    queue.publish();
    queue.take();
    queue.port.resetQueuePair(1, queue.number);
    queue.next = 0;
    const posted = [queue.post(scatterOf(2)), queue.post(scatterOf(7))];
    queue.publish();
    expect(queue.take()).toEqual(posted[0]);
    expect(queue.take()).toEqual(posted[1]);
    expect(queue.take()).toBeNull();
  });

  it('takes nothing for a queue pair without receive queue, a destroyed one, or one of another function', () => {
    const queue = new HostReceiveQueue();
    queue.post();
    queue.publish();
    expect(queue.take(2)).toBeNull();
    const without = queue.port.createQueuePair({
      underlyingFunction: 1,
      receiveQueueLog2: 0,
      receiveQueuePages: [],
      receiveEntryPages: [],
      receiveEntryBytes: 0,
      receiveTailAddress: 0n,
    });
    expect(queue.port.take(1, without)).toBeNull();
    expect(queue.port.state(1, without)).toBe(QueuePairState.readyToReceive);
    queue.port.resetFunction(1);
    expect(queue.accessesOf(() => expect(queue.take()).toBeNull())).toBe(0);
    expect(queue.events()).toEqual([]);
  });

  it('takes entries in ERR too, for a flush', () => {
    const queue = new HostReceiveQueue();
    const posted = [queue.post(), queue.post()];
    queue.publish();
    queue.port.setState(1, queue.number, QueuePairState.error);
    expect(queue.take()).toEqual(posted[0]);
    expect(queue.take()).toEqual(posted[1]);
    expect(queue.take()).toBeNull();
  });
});

describe('descriptor_fetch and a corrupted queue', () => {
  const expectFatal = (queue: HostReceiveQueue, refusal: Refusal, detail: number): void => {
    expect(queue.state()).toBe(QueuePairState.error);
    expect(queue.events().filter(({ type }) => type !== EventType.dmaFault)).toMatchObject([
      {
        type: EventType.queuePairFatal,
        underlying_function: 1,
        reason: refusal,
        object: queue.number,
        detail,
      },
    ]);
    // Another attempt finds the same, and reports nothing more.
    expect(queue.take()).toBeNull();
    expect(queue.events().filter(({ type }) => type !== EventType.dmaFault)).toEqual([]);
  };

  it.each([
    ['another sequence number', { sequence_number: 4 }],
    ['a length below a header', { length: 15 }],
    ['a length over 16 scatter entries', { length: 273 }],
    ['an offset that is not aligned', { offset: 32 }],
    ['an offset whose entry crosses a page', { offset: 4096 - 64, length: 80 }],
    ['an offset behind the entry area', { offset: 1 << 30 }],
  ])('refuses a reference with %s', (_, reference) => {
    const queue = new HostReceiveQueue({ entriesLog2: 4 });
    for (let number = 0; number < 3; ++number) queue.post();
    queue.post([], { reference });
    queue.publish();
    for (let number = 0; number < 3; ++number) expect(queue.take()).not.toBeNull();
    expect(queue.take()).toBeNull();
    expectFatal(queue, Refusal.receiveQueueMismatch, 3);
  });

  it('refuses a reference with reserved bits', () => {
    const queue = new HostReceiveQueue();
    queue.post();
    new Uint8Array(queue.port.memory)[queue.referenceOffset(0) + 7] = 0x80;
    queue.publish();
    expect(queue.take()).toBeNull();
    expectFatal(queue, Refusal.receiveQueueMismatch, 0);
  });

  it('takes an entry at the very end of the area, and refuses one that begins there', () => {
    const last = new HostReceiveQueue({ entriesLog2: 2 });
    last.post([], { reference: { offset: last.entryBytes - 64, length: 64 } });
    last.publish();
    expect(last.take()).toMatchObject({ offset: last.entryBytes - 64, length: 64 });
    const behind = new HostReceiveQueue({ entriesLog2: 2 });
    behind.post([], { reference: { offset: behind.entryBytes, length: 16 } });
    behind.publish();
    expect(behind.take()).toBeNull();
    expectFatal(behind, Refusal.receiveQueueMismatch, 0);
  });

  it.each([0, 1, 5, 15])(
    'refuses a tail that claims more than a queue of 2^%i entries holds',
    (entriesLog2) => {
      for (const excess of [1, 100, -1]) {
        const queue = new HostReceiveQueue({ entriesLog2 });
        queue.startAt(0xfffe);
        queue.post(); // valid, but beyond the claimed tail
        queue.publish((0xfffe + (excess < 0 ? excess : queue.entries + excess)) & 0xffff);
        expect(queue.take()).toBeNull();
        expectFatal(queue, Refusal.receiveQueueMismatch, 0xfffe);
      }
    },
  );

  it('refuses a tail with reserved bits', () => {
    const queue = new HostReceiveQueue();
    queue.post();
    queue.publish(0x10001);
    expect(queue.take()).toBeNull();
    expectFatal(queue, Refusal.receiveQueueMismatch, 0);
  });

  it.each(['tail', 'reference'] as const)('fails when its %s cannot be read', (part) => {
    const queue = new HostReceiveQueue();
    queue.post();
    queue.publish();
    const at = part === 'tail' ? queue.tailOffset : queue.referenceOffset(0);
    const begin = queue.port.base + BigInt(at);
    queue.port.setFaults([{ underlyingFunction: 1, begin, end: begin + 4n }]);
    expect(queue.take()).toBeNull();
    expect(queue.port.dmaFaults(1)).toBe(1);
    expect(queue.port.takeEvents().map((event) => decode('event_unit', event))).toMatchObject([
      { type: EventType.dmaFault, underlying_function: 1, detail: Number(begin) },
      { type: EventType.queuePairFatal, reason: Refusal.receiveQueueFault, object: queue.number },
    ]);
    expect(queue.state()).toBe(QueuePairState.error);
  });

  it('fails when a page of references is not mapped, without a DMA', () => {
    const port = makeReceiveQueues();
    const number = port.createQueuePair({
      underlyingFunction: 1,
      receiveQueueLog2: 2,
      receiveQueuePages: [0n],
      receiveEntryPages: [port.base + 8192n],
      receiveEntryBytes: 4096,
      receiveTailAddress: port.base + 4096n,
    });
    new DataView(port.memory).setUint32(4096, 1, true);
    const before = port.accessesOf(1);
    expect(port.take(1, number)).toBeNull();
    expect(port.accessesOf(1) - before).toBe(1);
    expect(port.takeEvents().map((event) => decode('event_unit', event))).toMatchObject([
      { type: EventType.queuePairFatal, reason: Refusal.receiveQueueFault, object: number },
    ]);
  });
});

describe('the receive doorbell', () => {
  it('carries the tail, so that it is not read', () => {
    const queue = new HostReceiveQueue({ entriesLog2: 3 });
    queue.startAt(0xfffc);
    for (let number = 0; number < 8; ++number) queue.post();
    expect(queue.doorbell()).toBe(true);
    expect(queue.accessesOf(() => expect(queue.take()).not.toBeNull())).toBe(1);
    expect(queue.port.wasWokenByDoorbell()).toBe(false);
    expect(queue.port.takeDoorbell()).toBeNull();
  });

  it('is ignored when it is not ahead of the known tail, or too far ahead', () => {
    const queue = new HostReceiveQueue({ entriesLog2: 2 });
    const posted = [queue.post(), queue.post(), queue.post()];
    queue.publish();
    expect(queue.take()).toEqual(posted[0]);
    for (const tail of [0xffff, 0, 1, 2, 6, 0x8000]) expect(queue.doorbell(tail)).toBe(true);
    expect(queue.take()).toEqual(posted[1]);
    expect(queue.take()).toEqual(posted[2]);
    expect(queue.take()).toBeNull();
    expect(queue.events()).toEqual([]);
    expect(queue.state()).toBe(QueuePairState.readyToReceive);
  });

  it('is refused for a shared receive queue, for none, and for one of another function', () => {
    const queue = new HostReceiveQueue();
    queue.port.setState(1, queue.number, QueuePairState.error);
    expect(queue.doorbell(1, { shared: true })).toBe(false);
    expect(queue.doorbell(1, { underlyingFunction: 2 })).toBe(false);
    queue.port.resetFunction(1);
    expect(queue.doorbell(1)).toBe(false);
    expect(queue.port.takeDoorbell()).toBeNull();
  });

  it('has no effect on a queue pair in RESET, because it was rung before', () => {
    const queue = new HostReceiveQueue({ entriesLog2: 2 });
    const posted = queue.post();
    queue.port.setState(1, queue.number, QueuePairState.reset);
    expect(queue.doorbell()).toBe(true);
    queue.port.setState(1, queue.number, QueuePairState.readyToReceive);
    expect(queue.take()).toBeNull();
    queue.publish();
    expect(queue.take()).toEqual(posted);
  });

  it('requests one flush per queue pair in ERR, in turn', () => {
    const port = makeReceiveQueues();
    const queues = [1, 2, 1, 3].map(
      (underlyingFunction) => new HostReceiveQueue({ underlyingFunction }, port),
    );
    for (const { underlyingFunction, number } of queues)
      port.setState(underlyingFunction, number, QueuePairState.error);
    for (const queue of [2, 0, 3, 0, 2]) queues[queue]!.doorbell();
    expect(port.wasWokenByDoorbell()).toBe(true);
    const taken = [2, 0].map((queue) => ({
      underlyingFunction: queues[queue]!.underlyingFunction,
      queuePairNumber: queues[queue]!.number,
    }));
    expect(port.takeDoorbell()).toEqual(taken[0]);
    expect(port.takeDoorbell()).toEqual(taken[1]);
    queues[2]!.doorbell();
    expect(port.takeDoorbell()).toMatchObject({ queuePairNumber: queues[3]!.number });
    expect(port.takeDoorbell()).toEqual(taken[0]);
    expect(port.takeDoorbell()).toBeNull();
    expect(port.wasWokenByDoorbell()).toBe(true);
    queues[1]!.doorbell();
    expect(port.wasWokenByDoorbell()).toBe(true);
    expect(port.takeDoorbell()).toMatchObject({ underlyingFunction: 2 });
  });
});

describe('descriptor_fetch against a plain model', () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('post' as const), count: fc.nat(12) }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const), count: fc.nat(12) }) },
      fc.record({ kind: fc.constant('publish' as const) }),
      fc.record({ kind: fc.constant('doorbell' as const), behind: fc.nat(20) }),
      fc.record({ kind: fc.constant('other' as const) }),
    ),
    { size: 'max', maxLength: 120 },
  );

  it('delivers each work request once, in order, as soon as its tail is stored', () => {
    fc.assert(
      fc.property(
        fc.nat(6),
        fc.integer({ min: 0xff00, max: 0x10040 }),
        steps,
        (entriesLog2, start, taken) => {
          const port = makeReceiveQueues();
          const queue = new HostReceiveQueue({ entriesLog2 }, port);
          // The queue pair 64 indices later uses the same line of the cache.
          const between = Array.from({ length: 63 }, () => new HostReceiveQueue({ entriesLog2: 0 }, port));
          const other = new HostReceiveQueue({ entriesLog2: 0 }, port);
          expect(other.number - queue.number).toBe(between.length + 1);
          queue.startAt(start);
          const posted: unknown[] = []; // in order, without those taken
          let known = 0; // number known to be posted, from the tail record or a doorbell
          let stored = 0; // number in the tail record
          for (const step of taken) {
            if (step.kind === 'post') {
              for (let count = 0; count < step.count && posted.length < queue.entries; ++count)
                posted.push(queue.post(scatterOf((queue.next * 7) % 17)));
            } else if (step.kind === 'publish') {
              queue.publish();
              known = stored = posted.length;
            } else if (step.kind === 'doorbell') {
              const tail = queue.next - Math.min(step.behind, posted.length - stored);
              queue.publish(tail & 0xffff);
              queue.doorbell(tail & 0xffff);
              stored = known = posted.length - (queue.next - tail);
            } else if (step.kind === 'other') {
              other.post();
              other.publish();
              expect(other.take()).not.toBeNull();
            } else {
              const expected = Math.min(step.count, known);
              for (let count = 0; count < expected; ++count) expect(queue.take()).toEqual(posted.shift());
              known -= expected;
              stored -= expected;
              if (expected < step.count) expect(queue.take()).toBeNull();
            }
          }
          expect(queue.state()).toBe(QueuePairState.readyToReceive);
          expect(queue.events()).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});
