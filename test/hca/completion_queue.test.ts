import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  CompletionOpcode,
  CompletionStatus,
  EventType,
  QueuePairState,
  Refusal,
} from '../../lib/spec/index.ts';
import { makeCompletionQueues } from './completion_queue_port.ts';
import { HostCompletionQueue } from './host_completion_queue.ts';

describe('completion_queue', () => {
  it('writes an entry unchanged, with phase, sequence and time', () => {
    const queue = new HostCompletionQueue();
    queue.port.setTime(12_345n);
    const fields = {
      opcode: CompletionOpcode.receive,
      status: CompletionStatus.localLengthError,
      with_immediate: 1,
      queue_pair_number: 0x123456,
      byte_length: 0x89abcdef,
      immediate_data: 0xfedcba98,
      sequence_number: 0xffff,
      work_queue: 1,
    };
    expect(queue.write({ ...fields, phase: 0, sequence: 77, timestamp: 1n })).toBe(true);
    expect(queue.take()).toMatchObject({ ...fields, phase: 1, sequence: 0, timestamp: 12_345n });
    expect(queue.take()).toBeUndefined();
  });

  it.each([false, true])('wraps in every size, variable entries: %s', (variable) => {
    for (let entriesLog2 = 0; entriesLog2 <= 5; ++entriesLog2) {
      const queue = new HostCompletionQueue({ entriesLog2, variable });
      for (let number = 0; number < queue.entries * 7 + 3; ++number) {
        expect(queue.peek()).toBeUndefined();
        expect(queue.write({ byte_length: number })).toBe(true);
        expect(queue.take()).toMatchObject({ byte_length: number, sequence: number });
        queue.publish();
      }
    }
  });

  it.each([false, true])('wraps through pages that are not contiguous, variable entries: %s', (variable) => {
    const queue = new HostCompletionQueue({ entriesLog2: 10, variable });
    expect(queue.pages.length).toBe(variable ? 18 : 16);
    for (let number = 0; number < 3000; ++number) {
      queue.write({ byte_length: number });
      expect(queue.take()).toMatchObject({ byte_length: number });
      queue.publish();
    }
  });

  it('writes an entry in one access, and its reference after it', () => {
    const plain = new HostCompletionQueue({ entriesLog2: 5 });
    plain.write();
    const before = plain.port.accessesOf(1);
    plain.write();
    expect(plain.port.accessesOf(1) - before).toBe(1);

    // The reference cannot be written: the entry is written, but nothing refers to it.
    const variable = new HostCompletionQueue({ entriesLog2: 5, variable: true });
    variable.write();
    variable.take();
    variable.port.faultAccess(1);
    expect(variable.write({ byte_length: 99 })).toBe(false);
    const area = new DataView(variable.port.memory, variable.offset(4096 + 64));
    expect(area.getUint32(8, true)).toBe(99);
    expect(variable.peek()).toBeUndefined();
  });

  it('reads the head only when its copy says nearly full', () => {
    const queue = new HostCompletionQueue({ entriesLog2: 4 });
    const accessesOf = (work: () => void): number => {
      const before = queue.port.accessesOf(1);
      work();
      return queue.port.accessesOf(1) - before;
    };
    for (let number = 0; number < 14; ++number) expect(accessesOf(() => queue.write())).toBe(1);
    expect(accessesOf(() => queue.write())).toBe(2);
    for (let number = 0; number < 15; ++number) queue.take();
    queue.publish();
    expect(accessesOf(() => queue.write())).toBe(2);
    expect(accessesOf(() => queue.write())).toBe(1);
  });

  it('ignores a head beyond the tail, and one that moves back', () => {
    const queue = new HostCompletionQueue({ entriesLog2: 1 });
    queue.write();
    queue.write();
    queue.publish(3);
    expect(queue.write()).toBe(false);

    const other = new HostCompletionQueue({ entriesLog2: 1 });
    for (let number = 0; number < 2; ++number) other.write();
    other.publish(1);
    expect(other.write()).toBe(true);
    other.publish(0);
    expect(other.write()).toBe(false);
    expect(other.port.verify()).toBeNull();
  });

  it('numbers queues from 1 and reuses free numbers', () => {
    const port = makeCompletionQueues();
    const queues = Array.from({ length: 7 }, (_, slot) => new HostCompletionQueue({}, port, slot));
    expect(queues.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(() => new HostCompletionQueue({}, port)).toThrow('no completion queue is left');
    port.destroy(3);
    expect(port.exists(1, 3)).toBe(false);
    expect(port.write(1, 3, new Uint8Array(64))).toBe(false);
    expect(new HostCompletionQueue({}, port, 2).number).toBe(3);
    expect(port.verify()).toBeNull();
  });

  it("drops and counts completions for another function's queue or a nonexistent one; number 0 requests none", () => {
    const queue = new HostCompletionQueue({ underlyingFunction: 1 });
    expect(queue.write({}, 2)).toBe(false);
    expect(queue.port.dropped(2)).toBe(1);
    expect(queue.peek()).toBeUndefined();
    for (const number of [2, 8, 0xffffff])
      expect(queue.port.write(1, number, new Uint8Array(64))).toBe(false);
    expect(queue.port.dropped(1)).toBe(3);
    expect(queue.port.write(1, 0, new Uint8Array(64))).toBe(false);
    expect(queue.port.dropped(1)).toBe(3);
  });

  it('removes the queues of a reset function, and keeps those of others', () => {
    const port = makeCompletionQueues();
    const queue = new HostCompletionQueue({ underlyingFunction: 1 }, port, 0);
    const other = new HostCompletionQueue({ underlyingFunction: 2 }, port, 1);
    port.resetFunction(1);
    const accesses = port.accessesOf(1);
    expect(queue.write()).toBe(false);
    expect(port.accessesOf(1)).toBe(accesses);
    expect(other.write()).toBe(true);
    expect(other.take()).toBeDefined();
    expect(port.verify()).toBeNull();
  });
});

describe('completion_queue without room', () => {
  const fill = (queue: HostCompletionQueue): void => {
    for (let number = 0; number < queue.entries; ++number)
      expect(queue.write({ byte_length: number })).toBe(true);
  };
  const finish = (queue: HostCompletionQueue): void => {
    for (let steps = 0; queue.port.step(); ++steps)
      if (steps > 1000) throw new Error('it does not come to rest');
  };

  it('enters error, reports it once, and overwrites nothing, in every size', () => {
    for (let entriesLog2 = 0; entriesLog2 <= 5; ++entriesLog2) {
      const queue = new HostCompletionQueue({ entriesLog2, userHandle: 0xffeeddccbbaa });
      fill(queue);
      expect(queue.port.isInError(queue.number)).toBe(false);
      for (let number = 0; number < 3; ++number) expect(queue.write({ byte_length: 1000 })).toBe(false);
      expect(queue.port.isInError(queue.number)).toBe(true);
      expect(queue.port.dropped(1)).toBe(3);
      expect(queue.events()).toMatchObject([
        {
          type: EventType.completionQueueError,
          underlying_function: 1,
          event_queue: 0,
          object: queue.number,
          detail: 0xffeeddccbbaa,
        },
      ]);
      for (let number = 0; number < queue.entries; ++number)
        expect(queue.take()).toMatchObject({ byte_length: number });
      expect(queue.take()).toBeUndefined();
      // Room does not end the error state.
      queue.publish();
      expect(queue.write()).toBe(false);
    }
  });

  it('fails the queue pairs that name it, each with an event, and no others', () => {
    const port = makeCompletionQueues();
    const failed = new HostCompletionQueue({ underlyingFunction: 1 }, port, 0);
    const sound = new HostCompletionQueue({ underlyingFunction: 1 }, port, 1);
    const sender = port.createQueuePair(1, failed.number, sound.number);
    const spared = port.createQueuePair(1, sound.number, sound.number);
    const receiver = port.createQueuePair(1, 0, failed.number);
    const foreign = port.createQueuePair(2, failed.number, failed.number);
    fill(failed);
    failed.write();
    expect(failed.events()).toMatchObject([{ type: EventType.completionQueueError }]);
    finish(failed);
    expect([sender, spared, receiver].map((number) => port.state(1, number))).toEqual([
      QueuePairState.error,
      QueuePairState.readyToSend,
      QueuePairState.error,
    ]);
    expect(port.state(2, foreign)).toBe(QueuePairState.readyToSend);
    expect(failed.events()).toMatchObject(
      [sender, receiver].map((object) => ({
        type: EventType.queuePairFatal,
        underlying_function: 1,
        reason: Refusal.completionQueueFailed,
        object,
        detail: failed.number,
      })),
    );
    expect(sound.write()).toBe(true);
  });

  it('reports each of its queue pairs once', () => {
    const queue = new HostCompletionQueue({ entriesLog2: 0 });
    const numbers = [1, 2, 3].map(() => queue.port.createQueuePair(1, queue.number, queue.number));
    fill(queue);
    queue.write();
    finish(queue);
    const fatal = queue.events().filter(({ type }) => type === EventType.queuePairFatal);
    expect(fatal.map(({ object }) => object)).toEqual(numbers);
  });

  it('continues with the next failed queue when one is destroyed meanwhile', () => {
    const port = makeCompletionQueues();
    const first = new HostCompletionQueue({ entriesLog2: 0 }, port, 0);
    const second = new HostCompletionQueue({ entriesLog2: 0 }, port, 1);
    const queuePair = port.createQueuePair(1, second.number, 0);
    for (let filler = 0; filler < 5; ++filler) port.createQueuePair(1, 0, 0);
    for (const queue of [second, first]) {
      fill(queue);
      queue.write();
      port.step();
    }
    port.destroy(first.number);
    expect(port.verify()).toBeNull();
    finish(second);
    expect(port.state(1, queuePair)).toBe(QueuePairState.error);
    expect(port.step()).toBe(false);
  });

  it('fails all queue pairs of each of two queues, in any order of creation', () => {
    const port = makeCompletionQueues();
    const queues = [0, 1].map((slot) => new HostCompletionQueue({ entriesLog2: 0 }, port, slot));
    const queuePairs = [...queues].reverse().map(({ number }) => port.createQueuePair(1, number, number));
    for (const queue of queues) {
      fill(queue);
      queue.write();
      finish(queue);
    }
    expect(queuePairs.map((number) => port.state(1, number))).toEqual([
      QueuePairState.error,
      QueuePairState.error,
    ]);
  });

  it('does not fail the queue pairs of a new queue that gets its number meanwhile', () => {
    const port = makeCompletionQueues();
    const failed = new HostCompletionQueue({ entriesLog2: 0 }, port);
    port.createQueuePair(1, 0, 0);
    fill(failed);
    failed.write();
    port.step();
    port.destroy(failed.number);
    const next = new HostCompletionQueue({}, port, 1);
    expect(next.number).toBe(failed.number);
    const queuePair = port.createQueuePair(1, next.number, 0);
    finish(next);
    expect(port.state(1, queuePair)).toBe(QueuePairState.readyToSend);
  });

  it('enters error if its head or its pages cannot be accessed', () => {
    for (const part of ['entry', 'head'] as const) {
      const queue = new HostCompletionQueue({ entriesLog2: 3 });
      const begin = queue.port.base + BigInt(part === 'entry' ? queue.offset(0) : queue.headOffset);
      queue.port.setFaults([{ underlyingFunction: 1, begin, end: begin + 8n }]);
      const written = part === 'entry' ? 0 : 7;
      for (let number = 0; number < written; ++number) expect(queue.write()).toBe(true);
      expect(queue.write()).toBe(false);
      expect(queue.events()).toMatchObject([
        { type: EventType.dmaFault, underlying_function: 1, detail: Number(begin) },
        { type: EventType.completionQueueError, object: queue.number },
      ]);
      expect(queue.port.isInError(queue.number)).toBe(true);
    }
  });
});

describe('completion_queue against a plain model', () => {
  /** Writes; in between the host consumes some entries, and publishes its head or not. */
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('write' as const) }),
      fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant('publish' as const) }),
    ),
    { maxLength: 400 },
  );

  it('loses and repeats nothing, and fails exactly if there is no room', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5 }), fc.boolean(), steps, (entriesLog2, variable, taken) => {
        const queue = new HostCompletionQueue({ entriesLog2, variable });
        let written = 0;
        let published = 0;
        let failed = false;
        for (const step of taken) {
          if (step.kind === 'write') {
            const fits = !failed && written - published < queue.entries;
            expect(queue.write({ byte_length: written })).toBe(fits);
            if (fits) ++written;
            else failed = true;
          } else if (step.kind === 'publish') {
            queue.publish();
            published = queue.head;
          } else {
            const expected = Math.min(step.count, written - queue.head);
            for (let count = 0; count < expected; ++count)
              expect(queue.take()).toMatchObject({ byte_length: queue.head - 1, sequence: queue.head - 1 });
            if (expected < step.count) expect(queue.take()).toBeUndefined();
          }
          expect(queue.port.verify()).toBeNull();
        }
        expect(queue.port.isInError(queue.number)).toBe(failed);
      }),
    );
  });
});
