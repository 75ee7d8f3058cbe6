import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { BoardFunction } from '../../lib/board/addon.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import type { GatherEntry } from '../../lib/driver/command.ts';
import { Completion } from '../../lib/driver/completion.ts';
import { VerbsError } from '../../lib/driver/errors.ts';
import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { ProtectionDomain } from '../../lib/driver/protection_domain.ts';
import { QueuePair } from '../../lib/driver/queue_pair.ts';
import type { ReceiveQueueSizes, ReceiveRequest } from '../../lib/driver/receive_area.ts';
import { ReceiveQueue } from '../../lib/driver/receive_queue.ts';
import {
  CompletionStatus,
  QueuePairState,
  ReceiveAction,
  Refusal,
  ServiceType,
  UNDERLYING_FUNCTION_READS_REFUSED_OFFSET,
  UNDERLYING_FUNCTION_RECEIVE_DOORBELL_OFFSET,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import { makeReceiveQueues, type Descriptor, type ReceiveQueuePort } from '../helpers/receive_queue_port.ts';
import { backends, closing, describeOnBackends, makeBoard, openDriver } from '../helpers/backends.ts';

const stepped = backends.find(({ options }) => options.progress === 'stepped')!;
const sendQueue = { entries: 4, gatherEntries: 0, inlineBytes: 0 };
const page = 4096;

const scatterOf = (count: number, from = 0): GatherEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    addressLow: (0xffff_fff0 + from * 64 + index) >>> 0,
    addressHigh: 0x8000_0000 + index,
    length: 0xffff_ffff - from - index,
    localKey: 0x9000_0000 + from + index,
  }));

/** A completion with these fields of a completion queue entry; the others are zero. */
function completionOf(fields: Readonly<Record<string, number>>): Completion {
  const completion = new Completion();
  completion.read(new Int32Array(encode('completion_queue_entry', fields).slice().buffer), 0);
  return completion;
}

function makeQueue(sizes: ReceiveQueueSizes): ReceiveQueue {
  return new ReceiveQueue(openDriver(makeBoard(stepped)).device, sizes);
}

/** An open function that records the names of its called methods. */
function recording(board: BoardFunction): { board: BoardFunction; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const recorded = new Proxy(board, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push([property, ...args]);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  return { board: recorded, calls };
}

/** The blocks of the device that read receive queues, on a copy of the memory that the driver has written. */
class Reader {
  private readonly port: ReceiveQueuePort = makeReceiveQueues();
  private readonly bytes = new Uint8Array(this.port.memory);
  private readonly number: number;
  private readonly queue: ReceiveQueue;

  constructor(queue: ReceiveQueue) {
    this.queue = queue;
    const pagesOf = (at: number, { byteLength }: ArrayBuffer): bigint[] =>
      Array.from({ length: byteLength / page }, (_, index) => this.port.base + BigInt(at + index * page));
    const [references, entryArea, tail] = this.copy();
    this.number = this.port.createQueuePair({
      underlyingFunction: 1,
      receiveQueueLog2: queue.entriesLog2,
      receiveQueuePages: pagesOf(references!, queue.references.buffer),
      receiveEntryPages: pagesOf(entryArea!, queue.entryArea.buffer),
      receiveEntryBytes: queue.entryArea.buffer.byteLength,
      receiveTailAddress: this.port.base + BigInt(tail!),
    });
  }

  /** Continues as if all work requests before this one were complete. */
  startAt(sequenceNumber: number): void {
    this.port.setPosition(1, this.number, sequenceNumber & 0xffff);
  }

  /** The next posted work request: its descriptor and its entry. */
  take(): (Descriptor & ReturnType<ReceiveQueuePort['entry']>) | null {
    this.copy();
    const descriptor = this.port.take(1, this.number);
    if (descriptor === null) {
      expect(this.port.state(1, this.number)).toBe(QueuePairState.readyToReceive);
      return null;
    }
    const packet = this.port.accept({
      underlyingFunction: 1,
      queuePairNumber: this.number,
      action: ReceiveAction.send,
      first: true,
      last: true,
      ...descriptor,
    })!;
    while (this.port.step());
    const entry = this.port.entry(this.port.takePlaced()!.place!);
    this.port.release(packet);
    return { ...descriptor, ...entry };
  }

  /** Copies the queue's memories, and returns their addresses. */
  private copy(): number[] {
    const { references, entryArea, tail } = this.queue;
    let next = page;
    return [references, entryArea, tail].map(({ buffer }) => {
      const at = next;
      this.bytes.set(new Uint8Array(buffer), at);
      next += buffer.byteLength;
      return at;
    });
  }
}

describe('a receive queue', () => {
  it('stores the entries that the device takes, in order', () => {
    const queue = makeQueue({ entries: 20, scatterEntries: 16 });
    expect(queue.capacity).toBe(32);
    const reader = new Reader(queue);
    expect(reader.take()).toBeNull();
    for (let count = 0; count <= 16; count++)
      expect(queue.post({ scatter: scatterOf(count, count) })).toBe(count);
    queue.post({});
    for (let count = 0; count <= 17; count++) {
      const scatter = count === 17 ? [] : scatterOf(count, count);
      expect(reader.take()).toMatchObject({
        sequenceNumber: count,
        refusal: Refusal.none,
        capacity: scatter.reduce((sum, { length }) => sum + length, 0),
        scatter: scatter.map(({ addressHigh, addressLow, length, localKey }) => ({
          address: (BigInt(addressHigh) << 32n) | BigInt(addressLow),
          length,
          localKey,
        })),
      });
    }
    expect(reader.take()).toBeNull();
  });

  it('is full until completions free its slots, and then accepts as many again', () => {
    const queue = makeQueue({ entries: 4, scatterEntries: 1 });
    for (const expected of [0, 1, 2, 3]) expect(queue.post({})).toBe(expected);
    const full = expect.objectContaining({
      code: 'ENOMEM',
      verb: 'postReceive',
      message: 'the receive queue is full: 4 work requests are not completed',
    }) as unknown;
    expect(() => queue.post({})).toThrow(full);
    expect(queue.outstanding).toBe(4);
    expect(queue.nextSequenceNumber).toBe(4);
    queue.completedThrough(1);
    for (const expected of [4, 5]) expect(queue.post({})).toBe(expected);
    expect(() => queue.post({})).toThrow(full);
  });

  it('refuses more scatter entries than its limit, and posts nothing', () => {
    const queue = makeQueue({ entries: 4, scatterEntries: 2 });
    expect(() => queue.post({ scatter: scatterOf(3) })).toThrow(
      expect.objectContaining({
        code: 'EINVAL',
        attribute: 'scatter.length',
        expected: 'at most 2 (maxScatterEntries)',
        message: 'scatter.length must be at most 2 (maxScatterEntries), got 3',
      }),
    );
    expect(queue.nextSequenceNumber).toBe(0);
    expect(new Reader(queue).take()).toBeNull();
  });

  it('stores the tail once per batch, and reports the number posted before a wrong request', () => {
    const queue = makeQueue({ entries: 8, scatterEntries: 2 });
    const requests = [{}, { scatter: scatterOf(1) }, { scatter: scatterOf(3) }, {}];
    expect(() => queue.postBatch(requests)).toThrow(expect.objectContaining({ code: 'EINVAL', posted: 2 }));
    const reader = new Reader(queue);
    expect(reader.take()).toMatchObject({ sequenceNumber: 0, scatter: [] });
    expect(reader.take()).toMatchObject({ sequenceNumber: 1, capacity: scatterOf(1)[0]!.length });
    expect(reader.take()).toBeNull();
    expect(queue.postBatch([{}, {}])).toBe(2);
    expect(reader.take()).toMatchObject({ sequenceNumber: 2 });
    expect(() => queue.postBatch(Array.from({ length: 9 }, () => ({})))).toThrow(
      expect.objectContaining({ code: 'ENOMEM', posted: 4 }),
    );
  });

  it('keeps the wrId of each work request until it is completed', () => {
    const queue = makeQueue({ entries: 4, scatterEntries: 0 });
    const holder = new Completion();
    for (let number = 0; number < 9; number++) {
      queue.post(number % 3 === 0 ? {} : { wrId: 0x8000_0000_ffff_fff0n + BigInt(number) });
      queue.completedThrough(number, holder);
      expect(holder).toMatchObject(
        number % 3 === 0
          ? { wrIdLow: 0, wrIdHigh: 0 }
          : { wrIdLow: 0xffff_fff0 + number, wrIdHigh: 0x8000_0000 },
      );
    }
    expect(() => queue.post({ wrId: -1 })).toThrow(RangeError);
    expect(queue.nextSequenceNumber).toBe(9);
  });

  it('restarts after a reset', () => {
    const queue = makeQueue({ entries: 4, scatterEntries: 1 });
    queue.postBatch([{}, {}, {}]);
    queue.reset();
    const reader = new Reader(queue);
    expect(reader.take()).toBeNull();
    expect(queue.outstanding).toBe(0);
    expect(queue.post({ scatter: scatterOf(1) })).toBe(0);
    expect(reader.take()).toMatchObject({ sequenceNumber: 0, capacity: scatterOf(1)[0]!.length });
  });

  it.each([
    [{ entries: 0, scatterEntries: 1 }, 'maxReceiveWorkRequests', '1 to 32768'],
    [{ entries: 32769, scatterEntries: 1 }, 'maxReceiveWorkRequests', '1 to 32768'],
    [{ entries: 1.5, scatterEntries: 1 }, 'maxReceiveWorkRequests', '1 to 32768'],
    [{ entries: 1, scatterEntries: 17 }, 'maxScatterEntries', '0 to 16'],
    [{ entries: 1, scatterEntries: -1 }, 'maxScatterEntries', '0 to 16'],
  ])("refuses sizes beyond the device's limits: %j", (sizes, attribute, expected) => {
    const driver = openDriver(makeBoard(stepped));
    expect(() => new UnansweredQueuePair(driver, sendQueue, { receiveQueue: sizes })).toThrow(
      expect.objectContaining({ code: 'EINVAL', verb: 'createQueuePair', attribute, expected }),
    );
  });

  it('delivers each work request once, in order, for every size and beyond 2^16 requests', () => {
    const steps = fc.array(
      fc.record({ posts: fc.nat(9), takes: fc.nat(9), completes: fc.nat(9), batch: fc.boolean() }),
      { size: 'max', maxLength: 60 },
    );
    fc.assert(
      fc.property(
        fc.record({ entries: fc.integer({ min: 1, max: 40 }), scatterEntries: fc.nat(16) }),
        fc.boolean(),
        steps,
        (sizes, around, taken) => {
          const queue = makeQueue(sizes);
          const reader = new Reader(queue);
          const holder = new Completion();
          let posted = 0;
          let received = 0;
          let completed = 0;
          if (around) {
            // Up to the end of the sequence numbers.
            for (; posted < 0xfff0; posted++) {
              queue.post({});
              queue.completedThrough(posted & 0xffff);
            }
            received = completed = posted;
            reader.startAt(posted);
          }
          for (const { posts, takes, completes, batch } of taken) {
            const room = queue.capacity - (posted - completed);
            const requests = Array.from({ length: Math.min(posts, room) }, (_, index): ReceiveRequest => ({
              scatter: scatterOf((posted + index) % (sizes.scatterEntries + 1), posted + index),
              wrId: posted + index,
            }));
            if (batch) queue.postBatch(requests);
            else for (const request of requests) queue.post(request);
            posted += requests.length;
            for (let count = 0; count < Math.min(takes, posted - received); count++) {
              const scatter = scatterOf(received % (sizes.scatterEntries + 1), received);
              expect(reader.take()).toMatchObject({
                sequenceNumber: received & 0xffff,
                capacity: scatter.reduce((sum, { length }) => sum + length, 0),
              });
              received++;
            }
            if (received === posted) expect(reader.take()).toBeNull();
            const done = Math.min(completes, received - completed);
            completed += done;
            if (done > 0) {
              queue.completedThrough((completed - 1) & 0xffff, holder);
              expect(holder).toMatchObject({ wrIdLow: completed - 1, wrIdHigh: 0 });
            }
            expect(queue.outstanding).toBe(posted - completed);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

describeOnBackends('a queue pair with a receive queue', (backend) => {
  /** A queue pair, and the methods of the board that are called from now on. */
  function makeReceiver(receiveQueue?: ReceiveQueueSizes): {
    driver: HcaDriver;
    queuePair: QueuePair;
    calls: unknown[][];
  } {
    const { board, calls } = recording(makeBoard(backend).open(0));
    const driver = closing(new HcaDriver(board));
    const { queuePair } = new UnansweredQueuePair(driver, sendQueue, receiveQueue ? { receiveQueue } : {});
    calls.length = 0;
    return { driver, queuePair, calls };
  }
  const sizes = { entries: 64, scatterEntries: 4 };

  it.each([1, 64, 32768])('is created with %i entries, and destroyed', (entries) => {
    const { queuePair } = makeReceiver({ entries, scatterEntries: 4 });
    expect(queuePair.query().state).toBe(QueuePairState.readyToSend);
    queuePair.destroy();
  });

  it('posts without crossing into native code', () => {
    const { queuePair, calls } = makeReceiver(sizes);
    for (let count = 0; count < 20; count++) queuePair.postReceive({ scatter: scatterOf(4) });
    queuePair.postReceiveBatch(Array.from({ length: 20 }, () => ({ scatter: scatterOf(1) })));
    expect(calls).toEqual([]);
    expect(queuePair.receiveQueue!.outstanding).toBe(40);
  });

  it('rings the doorbell for receives in the error state only', () => {
    const { driver, queuePair, calls } = makeReceiver(sizes);
    const doorbells = (work: () => void): unknown[][] => {
      calls.length = 0;
      work();
      return calls.filter(([method]) => method === 'write64').map(([, , ...args]) => args.slice(-2));
    };
    queuePair.postReceive({});
    expect(doorbells(() => queuePair.failed())).toEqual([[queuePair.number, 1]]);
    expect(calls[0]![2]).toBe(driver.device.page.place(UNDERLYING_FUNCTION_RECEIVE_DOORBELL_OFFSET).offset);
    expect(doorbells(() => queuePair.postReceive({}))).toEqual([[queuePair.number, 2]]);
    const batch = [{}, {}, { scatter: scatterOf(5) }];
    expect(doorbells(() => expect(() => queuePair.postReceiveBatch(batch)).toThrow(VerbsError))).toEqual([
      [queuePair.number, 4],
    ]);
    queuePair.modify({ state: QueuePairState.reset });
    expect(doorbells(() => queuePair.postReceive({}))).toEqual([]);
    queuePair.modify({ state: QueuePairState.error });
    expect(doorbells(() => queuePair.postReceive({}))).toEqual([[queuePair.number, 2]]);
    // The device accepted every doorbell: it counts refused accesses.
    expect(driver.device.page.read32(UNDERLYING_FUNCTION_READS_REFUSED_OFFSET)).toBe(0);
    queuePair.destroy();
    queuePair.failed();
    expect(driver.device.page.read32(UNDERLYING_FUNCTION_READS_REFUSED_OFFSET)).toBe(1);
  });

  it('frees the slots of completed receives, and learns of the error state from a completion that failed', () => {
    const { queuePair, calls } = makeReceiver(sizes);
    queuePair.postReceiveBatch([{ wrId: 7 }, { wrId: 8 }, { wrId: 9 }]);
    const completion = completionOf({ work_queue: 1 });
    queuePair.complete(completion);
    expect(completion.wrId).toBe(7);
    expect(queuePair.receiveQueue!.outstanding).toBe(2);
    expect(queuePair.sendQueue.outstanding).toBe(0);
    expect(calls).toEqual([]);
    for (const sequenceNumber of [1, 2]) {
      const flushed = completionOf({
        work_queue: 1,
        sequence_number: sequenceNumber,
        status: CompletionStatus.workRequestFlushedError,
      });
      queuePair.complete(flushed);
      expect(flushed.wrId).toBe(7 + sequenceNumber);
    }
    // One doorbell: work requests posted before the host learned of the error are flushed now, each later one
    // by its own doorbell.
    expect(calls.map(([method]) => method)).toEqual(['write64']);
    queuePair.postReceive({});
    expect(calls).toHaveLength(2);
  });

  it.each([ServiceType.unreliableConnection, ServiceType.unreliableDatagram])(
    'of an unreliable service keeps receiving after a send has failed: service %i',
    (serviceType) => {
      const { board, calls } = recording(makeBoard(backend).open(0));
      const driver = closing(new HcaDriver(board));
      const protectionDomain = new ProtectionDomain(driver.management);
      const queuePair = new QueuePair(driver, {
        protectionDomain,
        serviceType,
        sendQueue,
        receiveQueue: sizes,
      });
      const failed = { status: CompletionStatus.localProtectionError };
      calls.length = 0;
      queuePair.complete(completionOf(failed));
      queuePair.postReceive({});
      expect(calls).toEqual([]);
      queuePair.complete(completionOf({ ...failed, work_queue: 1 }));
      expect(calls).toHaveLength(1);
    },
  );

  it('refuses receives if created without a receive queue', () => {
    const { queuePair } = makeReceiver();
    const none = expect.objectContaining({
      code: 'EINVAL',
      verb: 'postReceive',
      attribute: 'maxReceiveWorkRequests',
      message: 'the queue pair has no receive queue',
    }) as unknown;
    expect(() => queuePair.postReceive({})).toThrow(none);
    expect(() => queuePair.postReceiveBatch([{}])).toThrow(none);
    queuePair.failed();
  });

  it('stores the tail in 32 bits, behind the entries', () => {
    const { queuePair } = makeReceiver(sizes);
    const queue = queuePair.receiveQueue!;
    queue.postBatch([{}, {}, {}]);
    expect(decode('receive_queue_tail', new Uint8Array(queue.tail.buffer, 0, 4))).toMatchObject({ tail: 3 });
  });
});
