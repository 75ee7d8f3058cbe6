import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { EventType, ReceiveAction, Refusal, decode } from '../../lib/spec/index.ts';
import { HostReceiveQueue } from './host_receive_queue.ts';
import { makeReceiveQueues, type Descriptor, type ScatterEntry } from '../helpers/receive_queue_port.ts';

const places = 32; // of the cache
const links = 16; // units in a link

/** The position of the packet in its message. */
interface Position {
  first: boolean;
  last: boolean;
}
const only: Position = { first: true, last: true };
const first: Position = { first: true, last: false };
const middle: Position = { first: false, last: false };
const last: Position = { first: false, last: true };

const scatterOf = (...lengths: number[]): ScatterEntry[] =>
  lengths.map((length, index) => ({
    address: 0xffff_0000_0000n + BigInt(index),
    length,
    localKey: 0x80000000 + index,
  }));

/** Passes a packet of a SEND to the handler. */
function accept(
  queue: HostReceiveQueue,
  descriptor: Descriptor,
  position: Position,
  action: number = ReceiveAction.send,
): number | null {
  const { underlyingFunction, number } = queue;
  return queue.port.accept({
    underlyingFunction,
    queuePairNumber: number,
    action,
    ...descriptor,
    ...position,
  });
}

function run(queue: HostReceiveQueue): void {
  while (queue.port.step());
}

/** Passes a packet, lets the handler work, and returns the place of its entry. */
function place(queue: HostReceiveQueue, descriptor: Descriptor, position: Position = only): number {
  accept(queue, descriptor, position);
  run(queue);
  const { place: at } = queue.port.takePlaced()!;
  if (at === null) throw new Error('the unit has no receive entry');
  return at;
}

describe('receive_queue_entry_handler', () => {
  it.each([0, 1, 2, 15, 16])('reads an entry of %i scatter entries', (count) => {
    const queue = new HostReceiveQueue();
    queue.startAt(0xffff);
    const scatter = scatterOf(...Array.from({ length: count }, (_, index) => 0xffffffff - index));
    const descriptor = queue.post(scatter);
    const entry = queue.port.entry(place(queue, descriptor));
    expect(entry).toEqual({
      capacity: scatter.reduce((sum, { length }) => sum + length, 0),
      sequenceNumber: 0xffff,
      refusal: Refusal.none,
      scatter,
    });
  });

  it('reads an entry once for all packets of its message, in one access', () => {
    const queue = new HostReceiveQueue();
    const descriptor = queue.post(scatterOf(100, 200));
    const accesses = queue.accessesOf(() => {
      const taken = [first, middle, middle, last].map((position) => {
        const packet = accept(queue, descriptor, position)!;
        run(queue);
        const { place: at } = queue.port.takePlaced()!;
        queue.port.release(packet);
        return at;
      });
      expect(new Set(taken).size).toBe(1);
    });
    expect(accesses).toBe(1);
    expect(queue.port.references()).toBe(0);
    expect(queue.port.placesFilled()).toBe(0);
  });

  it('passes units without receive entry as they are, in turn, and needs no place for them', () => {
    const queue = new HostReceiveQueue();
    const descriptor = queue.post(scatterOf(1));
    const actions = [
      ReceiveAction.rdmaWrite,
      ReceiveAction.send,
      ReceiveAction.rdmaRead,
      ReceiveAction.atomic,
      ReceiveAction.acknowledge,
      ReceiveAction.refuse,
      ReceiveAction.flush,
    ];
    const packets = actions.map((action) => accept(queue, descriptor, only, action));
    run(queue);
    actions.forEach((action, index) => {
      const placed = queue.port.takePlaced()!;
      expect(placed).toMatchObject({ packet: packets[index], action, queuePairNumber: queue.number });
      if (action !== ReceiveAction.send) expect(placed.place).toBeNull();
    });
    expect(queue.port.takePlaced()).toBeNull();
    for (const packet of packets) queue.port.release(packet!);
    expect(queue.port.references()).toBe(0);
  });

  it('reads an entry again for each message, also after a truncated one', () => {
    const queue = new HostReceiveQueue();
    const packet = accept(queue, queue.post(scatterOf(100)), first)!;
    run(queue);
    queue.port.takePlaced();
    queue.port.release(packet);
    // The queue pair is reset; its first work request has the same number again.
    queue.port.resetQueuePair(1, queue.number);
    queue.next = 0;
    const descriptor = queue.post(scatterOf(5, 6));
    expect(queue.port.entry(place(queue, descriptor, first)).scatter).toEqual(scatterOf(5, 6));
    expect(queue.port.entry(place(queue, descriptor, middle)).scatter).toEqual(scatterOf(5, 6));
    expect(queue.port.placesFilled()).toBe(1);
  });

  it('distinguishes entries by queue pair and by number', () => {
    const port = makeReceiveQueues();
    const queues = [1, 2, 3].map(() => new HostReceiveQueue({}, port));
    const posted = queues.flatMap((queue, index) =>
      [0, 1].map((number) => ({ queue, descriptor: queue.post(scatterOf(10 * index + number)) })),
    );
    const taken = posted.map(({ queue, descriptor }) => place(queue, descriptor, first));
    expect(new Set(taken).size).toBe(6);
    posted.forEach(({ queue, descriptor }, index) => {
      expect(place(queue, descriptor, middle)).toBe(taken[index]);
      expect(port.entry(taken[index]!).capacity).toBe(10 * (index >> 1) + (index & 1));
    });
    expect(port.references()).toBe(12);
  });

  it('waits while a unit refers to every place, and is woken by the first that ends', () => {
    const port = makeReceiveQueues();
    const queue = new HostReceiveQueue({ entriesLog2: 6 }, port);
    const packets: number[] = [];
    for (let number = 0; number < places; ++number) {
      packets.push(accept(queue, queue.post(scatterOf(number)), first)!);
      run(queue);
      expect(port.takePlaced()!.place).toBe(number);
    }
    const waiting = queue.post(scatterOf(1000));
    accept(queue, waiting, only);
    accept(queue, waiting, only, ReceiveAction.acknowledge);
    run(queue);
    expect(port.takePlaced()).toBeNull();
    expect(port.step()).toBe(false);
    port.release(packets[7]!);
    run(queue);
    expect(port.takePlaced()).toMatchObject({ place: 7 });
    expect(port.takePlaced()).toMatchObject({ action: ReceiveAction.acknowledge });
    expect(port.entry(7).capacity).toBe(1000);
  });

  it('delays no queue pair by the place of another, and serves waiting ones in turn', () => {
    const port = makeReceiveQueues();
    const [holder, other, third] = [0, 1, 2].map(() => new HostReceiveQueue({ entriesLog2: 6 }, port)) as [
      HostReceiveQueue,
      HostReceiveQueue,
      HostReceiveQueue,
    ];
    const cached = other.post(scatterOf(77));
    const packets = [accept(other, cached, first)!];
    for (let number = 1; number < places; ++number) {
      run(holder);
      expect(port.takePlaced()).not.toBeNull();
      packets.push(accept(holder, holder.post(scatterOf(number)), only)!);
    }
    run(holder);
    expect(port.takePlaced()).not.toBeNull();
    // Every place is in use: these must wait,
    const waiting = [holder, third].map((queue) => accept(queue, queue.post(scatterOf(1000)), only)!);
    // but these need not: the entry is cached, or none is needed.
    const free = [
      accept(other, cached, middle)!,
      accept(other, cached, only, ReceiveAction.acknowledge)!,
      accept(other, cached, only, ReceiveAction.rdmaWrite)!,
    ];
    run(holder);
    expect(Array.from({ length: 4 }, () => port.takePlaced()?.packet)).toEqual([...free, undefined]);
    // Each freed place goes to one of the waiting packets, list by list, and not to packets that arrive
    // meanwhile.
    const served: number[] = [];
    for (const packet of packets.slice(1, 3)) {
      accept(holder, holder.post(scatterOf(1)), only);
      run(holder);
      port.release(packet);
      run(holder);
      served.push(port.takePlaced()!.packet);
      expect(port.takePlaced()).toBeNull();
    }
    expect(served.toSorted((a, b) => a - b)).toEqual(waiting);
    expect(port.verify()).toBeNull();
  });

  it('does not give away a place while a unit refers to it', () => {
    const port = makeReceiveQueues();
    const queue = new HostReceiveQueue({ entriesLog2: 7 }, port);
    const held = queue.post(scatterOf(77));
    const at = place(queue, held, first);
    const released = accept(queue, held, middle)!;
    run(queue);
    expect(port.takePlaced()!.place).toBe(at);
    port.release(released); // one of two
    for (let number = 0; number < 3 * places; ++number) {
      const packet = accept(queue, queue.post(scatterOf(number)), first)!;
      run(queue);
      expect(port.takePlaced()!.place).not.toBe(at);
      port.release(packet);
    }
    expect(queue.accessesOf(() => expect(place(queue, held, last)).toBe(at))).toBe(0);
    expect(port.entry(at).capacity).toBe(77);
  });

  it('keeps an entry between two packets while others use free places first', () => {
    const port = makeReceiveQueues();
    const queue = new HostReceiveQueue({ entriesLog2: 7 }, port);
    const descriptor = queue.post(scatterOf(77));
    const start = (of: Descriptor): void => {
      const packet = accept(queue, of, first)!;
      run(queue);
      port.takePlaced();
      port.release(packet);
    };
    start(descriptor);
    for (let number = 1; number < places; ++number) start(queue.post());
    expect(queue.accessesOf(() => place(queue, descriptor, middle))).toBe(0);
  });

  it('reads an evicted entry again between two packets', () => {
    const port = makeReceiveQueues();
    const queue = new HostReceiveQueue({ entriesLog2: 7 }, port);
    const descriptor = queue.post(scatterOf(77));
    const packet = accept(queue, descriptor, first)!;
    run(queue);
    port.takePlaced();
    port.release(packet);
    for (let number = 0; number < places; ++number) {
      const other = accept(queue, queue.post(scatterOf(number)), first)!;
      run(queue);
      port.takePlaced();
      port.release(other);
    }
    expect(
      queue.accessesOf(() => expect(port.entry(place(queue, descriptor, middle)).capacity).toBe(77)),
    ).toBe(1);
  });

  it('stops while the next block has no room', () => {
    const queue = new HostReceiveQueue({ entriesLog2: 6 });
    for (let number = 0; number < links; ++number) accept(queue, queue.post(), only);
    run(queue);
    for (let number = 0; number < 3; ++number) accept(queue, queue.post(), only);
    run(queue);
    expect(queue.port.references()).toBe(links);
    for (let number = 0; number < links + 3; ++number) {
      expect(queue.port.takePlaced()).not.toBeNull();
      run(queue);
    }
    expect(queue.port.references()).toBe(links + 3);
  });

  it('reads nothing for the packets of a destroyed queue pair', () => {
    const queue = new HostReceiveQueue();
    const packet = accept(queue, queue.post(scatterOf(1)), only)!;
    queue.port.resetFunction(1);
    expect(queue.accessesOf(() => run(queue))).toBe(0);
    const placed = queue.port.takePlaced()!;
    expect(placed.packet).toBe(packet);
    expect(queue.port.entry(placed.place!)).toMatchObject({
      capacity: 0,
      refusal: Refusal.receiveQueueFault,
    });
    queue.port.release(packet);
    expect(queue.port.references()).toBe(0);
  });
});

describe('receive_queue_entry_handler and an invalid entry', () => {
  it.each([
    ['another sequence number', { sequence_number: 1 }],
    ['fewer scatter entries than its length says', { scatter_count: 1 }],
    ['more scatter entries than its length says', { scatter_count: 3 }],
    ['more than 16 scatter entries', { scatter_count: 31 }],
  ])('refuses one with %s', (_, header) => {
    const queue = new HostReceiveQueue();
    const descriptor = queue.post(scatterOf(1, 2), { header });
    expect(queue.port.entry(place(queue, descriptor))).toEqual({
      capacity: 0,
      sequenceNumber: 0,
      refusal: Refusal.receiveQueueMismatch,
      scatter: [],
    });
    expect(queue.events()).toEqual([]);
  });

  it.each([1, 3, 7, 8, 15])('refuses one with reserved bits in byte %i of its header', (byte) => {
    const queue = new HostReceiveQueue();
    const descriptor = queue.post(scatterOf(1));
    new Uint8Array(queue.port.memory)[queue.entryOffset(descriptor.offset) + byte]! |= 0x80;
    expect(queue.port.entry(place(queue, descriptor)).refusal).toBe(Refusal.receiveQueueMismatch);
  });

  it('refuses one that cannot be read, and says where', () => {
    const queue = new HostReceiveQueue();
    const descriptor = queue.post(scatterOf(1));
    const begin = queue.port.base + BigInt(queue.entryOffset(descriptor.offset));
    queue.port.setFaults([{ underlyingFunction: 1, begin, end: begin + 1n }]);
    expect(queue.port.entry(place(queue, descriptor))).toMatchObject({
      capacity: 0,
      refusal: Refusal.receiveQueueFault,
      scatter: [],
    });
    expect(queue.port.takeEvents().map((event) => decode('event_unit', event))).toMatchObject([
      { type: EventType.dmaFault, underlying_function: 1, detail: Number(begin) },
    ]);
    expect(queue.port.dmaFaults(1)).toBe(1);
  });
});

describe('receive_queue_entry_handler against a plain model', () => {
  const queueCount = 40; // more than places, so that entries make room
  const steps = fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('packet' as const),
          queue: fc.nat(queueCount - 1),
          packets: fc.integer({ min: 1, max: 5 }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('step' as const), count: fc.nat(20) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), count: fc.nat(20) }) },
    ),
    { size: 'max', maxLength: 400 },
  );

  it('keeps the order of each queue pair, gives each packet its own entry, and loses no place', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const port = makeReceiveQueues();
        const queues = Array.from({ length: queueCount }, () => ({
          host: new HostReceiveQueue({ entriesLog2: 5 }, port),
          left: 0, // packets of its message
          descriptor: { sequenceNumber: 0, offset: 0, length: 0 },
          scatter: scatterOf(),
        }));
        const accepted: { packet: number; queuePair: number; scatter: ScatterEntry[] }[] = [];
        const placed: { packet: number; place: number; scatter: ScatterEntry[] }[] = [];
        let posted = 0;
        const takePlaced = (): void => {
          for (let unit = port.takePlaced(); unit !== null; unit = port.takePlaced()) {
            const { queuePairNumber } = unit;
            const oldest = accepted.findIndex(({ queuePair }) => queuePair === queuePairNumber);
            const [expected] = accepted.splice(oldest, 1);
            expect(unit.packet).toBe(expected!.packet);
            placed.push({ ...expected!, place: unit.place! });
          }
          for (const { place: at, scatter } of placed) expect(port.entry(at).scatter).toEqual(scatter);
          expect(port.references()).toBe(placed.length);
        };
        const end = (count: number): void => {
          for (const { packet } of placed.splice(0, count)) port.release(packet);
        };
        for (const step of taken) {
          if (step.kind === 'packet') {
            const queue = queues[step.queue]!;
            if (accepted.length >= links) continue;
            const isFirst = queue.left === 0;
            if (isFirst) {
              queue.left = step.packets;
              queue.scatter = scatterOf(...Array.from({ length: posted % 17 }, () => ++posted));
              queue.descriptor = queue.host.post(queue.scatter);
              ++posted;
            }
            --queue.left;
            const packet = accept(queue.host, queue.descriptor, { first: isFirst, last: queue.left === 0 });
            accepted.push({ packet: packet!, queuePair: queue.host.number, scatter: queue.scatter });
          } else if (step.kind === 'step') {
            for (let count = 0; count < step.count; ++count) port.step();
            takePlaced();
          } else {
            end(step.count);
          }
        }
        // In the end every waiting unit is released.
        while (accepted.length > 0 || placed.length > 0) {
          while (port.step());
          const before = accepted.length + placed.length;
          takePlaced();
          end(placed.length);
          expect(accepted.length + placed.length).toBeLessThan(before);
        }
        expect(port.references()).toBe(0);
        expect(port.placesFilled()).toBeLessThanOrEqual(queues.filter(({ left }) => left > 0).length);
      }),
      { numRuns: 40 },
    );
  });
});
