import { describe, expect, it, vi } from 'vitest';

import type { BoardOptions, EmulatedBoard } from '../../lib/board/addon.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import { Completion } from '../../lib/driver/completion.ts';
import { CompletionQueue, type CompletionQueueOptions } from '../../lib/driver/completion_queue.ts';
import { EventQueue, type DeviceEvent } from '../../lib/driver/event_queue.ts';
import type { HcaDriver } from '../../lib/driver/hca_driver.ts';
import type { QueuePair } from '../../lib/driver/queue_pair.ts';
import { storeRelease } from '../../lib/driver/memory_order.ts';
import {
  CompletionOpcode,
  CompletionStatus,
  EventType,
  Opcode,
  QueuePairState,
  Refusal,
  encode,
} from '../../lib/spec/index.ts';
import {
  backends,
  describeOnBackends,
  makeBoard,
  openDriver,
  settle,
  type Backend,
} from '../helpers/backends.ts';

vi.mock('../../lib/driver/memory_order.ts', { spy: true });

const stepped = backends.find(({ options }) => options.progress === 'stepped')!;
const sizes = { entries: 64, gatherEntries: 0, inlineBytes: 64 };

interface Bench {
  board: EmulatedBoard;
  driver: HcaDriver;
  queue: CompletionQueue;
  queuePair: QueuePair;
  /** Posts SENDs, signaled or not. */
  post: (count: number, signaled?: boolean) => void;
  /** Polls until `count` completions have arrived. */
  poll: (count: number) => Completion[];
}

/** A queue pair that completes into a queue. */
function makeBench(backend: Backend, options: CompletionQueueOptions, board: BoardOptions = {}): Bench {
  const made = makeBoard(backend, board);
  const driver = openDriver(made);
  const queue = new CompletionQueue(driver, options);
  const { queuePair } = new UnansweredQueuePair(driver, sizes, { sendCompletionQueue: queue.number });
  return {
    board: made,
    driver,
    queue,
    queuePair,
    post: (count, signaled = true) => {
      for (let index = 0; index < count; index++) queuePair.post({ opcode: Opcode.send, signaled });
    },
    poll: (count) => {
      const taken: Completion[] = [];
      settle(made, backend, () => {
        while (taken.length < count) {
          const completion = new Completion();
          if (queue.poll([completion]) === 0) return false;
          taken.push(completion);
        }
        return true;
      });
      expect(queue.poll([new Completion()])).toBe(0);
      return taken;
    },
  };
}

function eventsOf(queue: EventQueue): DeviceEvent[] {
  const taken: DeviceEvent[] = [];
  for (let event = queue.poll(); event !== undefined; event = queue.poll()) taken.push(event);
  return taken;
}

describeOnBackends('a completion queue', (backend) => {
  it('returns the completions of signaled work requests in order', () => {
    const { queuePair, post, poll } = makeBench(backend, { entries: 16 });
    post(1);
    post(2, false);
    post(1);
    const { success } = CompletionStatus;
    const common = {
      queuePairNumber: queuePair.number,
      workQueue: 0,
      status: success,
      opcode: CompletionOpcode.send,
    };
    expect(poll(2)).toMatchObject([
      { ...common, sequenceNumber: 0 },
      { ...common, sequenceNumber: 3 },
    ]);
  });

  it('wraps many times', () => {
    const { queuePair, post, poll } = makeBench(backend, { entries: 4 });
    let sequenceNumber = 0;
    for (let round = 0; round < 50; round++) {
      const count = (round % 4) + 1;
      post(count);
      for (const completion of poll(count)) {
        expect(completion.sequenceNumber).toBe(sequenceNumber++);
        queuePair.sendQueue.completedThrough(completion.sequenceNumber);
      }
    }
  });

  it('raises the requested event once', () => {
    const bench = makeBench(backend, { entries: 64, eventQueue: 1 });
    const { board, driver, queue, post, poll } = bench;
    const events = new EventQueue(driver.device, driver.management, 1, 4);
    const come = (): DeviceEvent[] => {
      const taken: DeviceEvent[] = [];
      settle(board, backend, () => {
        driver.device.board.advance();
        taken.push(...eventsOf(events));
        return taken.length > 0;
      });
      return taken;
    };
    queue.arm();
    post(3);
    expect(come()).toMatchObject([{ type: EventType.completion, object: queue.number, reason: 0 }]);
    poll(3);
    expect(eventsOf(events)).toEqual([]);
    // A completion that arrived before the queue was armed again counts too.
    post(1);
    settle(board, backend, () => driver.device.board.advance() || true);
    queue.eventTaken();
    queue.arm();
    expect(come()).toMatchObject([{ type: EventType.completion, reason: 1 }]);
    poll(1);
    // Only solicited or failed completions raise the event.
    queue.eventTaken();
    queue.arm(true);
    post(1);
    poll(1);
    expect(eventsOf(events)).toEqual([]);
    bench.queuePair.modify({ state: QueuePairState.error });
    post(1);
    expect(come()).toMatchObject([{ reason: 2 }]);
    expect(poll(1)).toMatchObject([{ status: CompletionStatus.workRequestFlushedError }]);
  });

  it('that overruns enters error with its queue pairs, and keeps its entries', () => {
    const { board, driver, queue, queuePair, post } = makeBench(backend, { entries: 2 });
    post(3);
    const events: DeviceEvent[] = [];
    settle(board, backend, () => {
      driver.device.board.advance();
      events.push(...eventsOf(driver.events));
      return events.length >= 2;
    });
    expect(events).toMatchObject([
      { type: EventType.completionQueueError, object: queue.number },
      { type: EventType.queuePairFatal, object: queuePair.number, reason: Refusal.completionQueueFailed },
    ]);
    expect(queuePair.query().state).toBe(QueuePairState.error);
    const completions = Array.from({ length: 3 }, () => new Completion());
    expect(queue.poll(completions)).toBe(2);
    expect(completions.slice(0, 2).map(({ sequenceNumber }) => sequenceNumber)).toEqual([0, 1]);
    expect(() => queue.poll(completions)).toThrow(expect.objectContaining({ code: 'EOVERFLOW' }));
    queuePair.destroy();
    queue.destroy();
  });
});

describe('a completion queue', () => {
  it('is read without crossing into native code, and once more when the device has advanced', () => {
    const { board, driver, queue, post } = makeBench(stepped, { entries: 16 });
    post(3);
    board.runUntilIdle();
    const advance = vi.spyOn(driver.device, 'advance');
    const completions = [new Completion(), new Completion()];
    expect(queue.poll(completions)).toBe(2);
    expect(queue.poll(completions)).toBe(1);
    expect(advance).toHaveBeenCalledTimes(0);
    expect(queue.poll(completions)).toBe(0);
    expect(advance).toHaveBeenCalledTimes(1);
    post(1);
    advance.mockImplementation(() => board.runUntilIdle() > 0);
    expect(queue.poll(completions)).toBe(1);
    expect(completions[0]!.sequenceNumber).toBe(3);
  });

  it('returns every field of an entry, and stores the head once per poll', () => {
    const { driver, queuePair } = makeBench(stepped, { entries: 1 });
    const allocate = vi.spyOn(driver.device, 'allocate');
    const queue = new CompletionQueue(driver, { entries: 3 });
    const [ring, head] = allocate.mock.results.map(({ value }) => value as { buffer: ArrayBuffer });
    expect(queue.capacity).toBe(4);
    const fields = {
      queuePairNumber: queuePair.number,
      workQueue: 1,
      sequenceNumber: 0xabcd,
      status: CompletionStatus.remoteAccessError,
      vendorError: 0x81,
      opcode: CompletionOpcode.receiveRdmaWithImmediate,
      byteLength: 0x8000_0000,
      immediateData: 0xdeadbeef,
      port: 2,
      partitionKeyIndex: 0x9876,
      sourceQueuePair: 0xaaaaab,
      sourceLocalIdentifier: 0xc001,
      serviceLevel: 13,
      destinationPathBits: 0x7f,
      sourceMacLow: 0x8899_aabb,
      sourceMacHigh: 0xccdd,
      timestamp: 2 ** 52 + 12_345,
    };
    const specified = (name: string): string =>
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const flags = ['withImmediate', 'withInvalidate', 'withGlobalRouteHeader', 'solicited'];
    flags.forEach((flag, index) => {
      const entry = encode('completion_queue_entry', {
        ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [specified(name), value])),
        [specified(flag)]: 1,
        phase: 1,
      });
      new Uint8Array(ring!.buffer).set(entry, index * 64);
    });
    const completions = flags.map(() => new Completion());
    const store = vi.mocked(storeRelease).mockClear();
    expect(queue.poll(completions)).toBe(4);
    expect(store).toHaveBeenCalledTimes(1);
    expect(new Uint32Array(head!.buffer)[0]).toBe(4);
    flags.forEach((flag, index) =>
      expect(completions[index]).toMatchObject({
        ...fields,
        wrIdLow: 0,
        wrIdHigh: 0,
        ...Object.fromEntries(flags.map((other) => [other, other === flag])),
      }),
    );
  });

  it('returns the wrId of each work request, and frees its slots', () => {
    const { board, queue, queuePair } = makeBench(stepped, { entries: 64 });
    const wrIds = [0, 1, 0xffff_ffff, 2 ** 32, Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 64n - 1n];
    for (const wrId of wrIds) queuePair.post({ opcode: Opcode.send, signaled: true, wrId });
    queuePair.post({ opcode: Opcode.send, signaled: true });
    expect(queuePair.sendQueue.outstanding).toBe(8);
    board.runUntilIdle();
    const completions = Array.from({ length: 8 }, () => new Completion());
    expect(queue.poll(completions)).toBe(8);
    expect(completions.map(({ wrIdBig }) => wrIdBig)).toEqual([...wrIds.map(BigInt), 0n]);
    expect(completions.slice(0, 5).map(({ wrId }) => wrId)).toEqual(wrIds.slice(0, 5));
    for (const index of [5, 6]) expect(() => completions[index]!.wrId).toThrow(/read wrIdBig/);
    expect(queuePair.sendQueue.outstanding).toBe(0);
  });

  it.each([-1, 0.5, 2 ** 53, Number.NaN, -1n, 2n ** 64n])(
    'refuses %s as a wrId, and posts nothing',
    (wrId) => {
      const { queuePair } = makeBench(stepped, { entries: 64 });
      expect(() => queuePair.post({ opcode: Opcode.send, wrId })).toThrow(RangeError);
      expect(queuePair.sendQueue.outstanding).toBe(0);
    },
  );

  it('skips completions of a destroyed or reset queue pair', () => {
    const { board, driver, queue, queuePair, post, poll } = makeBench(stepped, { entries: 8 });
    const { queuePair: other } = new UnansweredQueuePair(driver, sizes, {
      sendCompletionQueue: queue.number,
    });
    const request = { opcode: Opcode.send, signaled: true };
    for (let index = 0; index < 3; index++) {
      post(1);
      other.post(request);
    }
    board.runUntilIdle();
    other.modify({ state: QueuePairState.reset });
    queue.forget(other.number);
    expect(poll(3).map(({ queuePairNumber }) => queuePairNumber)).toEqual(
      Array<number>(3).fill(queuePair.number),
    );
    post(8);
    board.runUntilIdle();
    expect(queue.hasCompletion).toBe(true);
    queuePair.destroy();
    expect(poll(0)).toEqual([]);
    expect(queue.hasCompletion).toBe(false);
  });

  it('returns the completions after skipped ones in the same poll, each to its object', () => {
    const { board, driver, queue, queuePair, post } = makeBench(stepped, { entries: 8 });
    const { queuePair: other } = new UnansweredQueuePair(driver, sizes, {
      sendCompletionQueue: queue.number,
    });
    for (let wrId = 0; wrId < 3; wrId++) {
      post(1);
      other.post({ opcode: Opcode.send, signaled: true, wrId });
    }
    board.runUntilIdle();
    // As when the queue pair is destroyed after the driver has searched the ring for its completions.
    driver.queuePairs.delete(queuePair.number);
    const completions = [new Completion(), new Completion()];
    expect(queue.poll(completions)).toBe(2);
    expect(completions.map(({ wrId, sequenceNumber }) => [wrId, sequenceNumber])).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(queue.poll(completions)).toBe(1);
    expect(completions[0]!.wrId).toBe(2);
    driver.queuePairs.set(queuePair.number, queuePair);
  });

  it('assigns completions to the current queue pair of a reused number', () => {
    const { board, driver, queue, queuePair, post, poll } = makeBench(stepped, { entries: 8 });
    const { queuePair: next } = new UnansweredQueuePair(driver, sizes, {
      sendCompletionQueue: queue.number,
    });
    next.post({ opcode: Opcode.send, wrId: 77 });
    post(1);
    board.runUntilIdle();
    expect(poll(1)).toHaveLength(1);
    queuePair.destroy();
    // A number is reused after all others: here the next queue pair takes the role of one with the reused
    // number.
    driver.queuePairs.set(queuePair.number, next);
    const entry = encode('completion_queue_entry', { queue_pair_number: queuePair.number, phase: 1 });
    new Uint8Array(queue.ring.buffer).set(entry, entry.length);
    expect(poll(1)[0]!.wrId).toBe(77);
    expect(next.sendQueue.outstanding).toBe(0);
    driver.queuePairs.delete(queuePair.number);
  });

  it('gets the completion of every work request of a queue pair that signals all', () => {
    const { driver, queue, poll } = makeBench(stepped, { entries: 16 });
    const { queuePair } = new UnansweredQueuePair(driver, sizes, {
      sendCompletionQueue: queue.number,
      signalAll: true,
    });
    queuePair.post({ opcode: Opcode.send });
    queuePair.post({ opcode: Opcode.send });
    expect(poll(2).map(({ sequenceNumber }) => sequenceNumber)).toEqual([0, 1]);
  });

  it('continues when sequence numbers wrap', () => {
    const { board, queue, queuePair } = makeBench(stepped, { entries: 64 });
    const completions = Array.from({ length: 16 }, () => new Completion());
    const request = { opcode: Opcode.send, signaled: true };
    for (let number = 0; number < 70_000; number += 16) {
      for (let index = 0; index < 16; index++) queuePair.post(request);
      board.runUntilIdle();
      expect(queue.poll(completions)).toBe(16);
      expect(completions[15]!.sequenceNumber).toBe((number + 15) & 0xffff);
      queuePair.sendQueue.completedThrough(completions[15]!.sequenceNumber);
    }
  });

  it.each([0, -1, 1.5, 32_769, Number.NaN])('of %d entries is refused', (entries) => {
    const driver = openDriver(makeBoard(stepped));
    expect(() => new CompletionQueue(driver, { entries })).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'entries', expected: '1 to 32768' }),
    );
  });

  it('is refused with a nonexistent event queue, which the error names', () => {
    const driver = openDriver(makeBoard(stepped));
    expect(() => new CompletionQueue(driver, { entries: 1, eventQueue: 8 })).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'eventQueue' }),
    );
  });

  it('is refused if all numbers are in use, and frees its memory', () => {
    const driver = openDriver(makeBoard(stepped, { completionQueues: 2 }));
    expect(driver.limits.completionQueues).toBe(1);
    const only = new CompletionQueue(driver, { entries: 1 });
    const free = vi.spyOn(driver.device, 'free');
    expect(() => new CompletionQueue(driver, { entries: 1 })).toThrow(
      expect.objectContaining({ code: 'ENOMEM', attribute: 'completionQueues' }),
    );
    expect(free).toHaveBeenCalledTimes(2);
    only.destroy();
    expect(new CompletionQueue(driver, { entries: 1 }).number).toBe(only.number);
  });

  it('is not destroyed while a queue pair completes into it', () => {
    const { queue, queuePair } = makeBench(stepped, { entries: 16 });
    expect(queuePair.query()).toMatchObject({
      sendCompletionQueue: queue.number,
      receiveCompletionQueue: 0,
    });
    expect(() => queue.destroy()).toThrow(expect.objectContaining({ code: 'EBUSY' }));
    queuePair.destroy();
    queue.destroy();
    expect(() => queue.destroy()).toThrow(expect.objectContaining({ code: 'EINVAL' }));
  });
});
