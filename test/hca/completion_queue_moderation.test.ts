import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CompletionStatus } from '../../lib/spec/index.ts';
import { HostCompletionQueue } from './host_completion_queue.ts';

/** Ticks of the device clock in a microsecond. */
const microsecond = 1000n;

/** A queue with a clock that the test sets, and a block that works when its deadline has arrived. */
class ModeratedQueue extends HostCompletionQueue {
  time = 5_000_000n;

  constructor(count: number, period: number, entriesLog2 = 5) {
    super({ entriesLog2 });
    this.port.setTime(this.time);
    this.port.moderate(this.number, count, period);
  }

  pass(ticks: bigint): void {
    this.time += ticks;
    this.port.setTime(this.time);
    while (this.port.step());
  }

  writeSome(count: number, fields = {}): void {
    for (let left = count; left > 0; left--) expect(this.write(fields)).toBe(true);
  }
}

describe('a completion queue with moderation', () => {
  it('raises its event at the completion with that count', () => {
    const queue = new ModeratedQueue(4, 100);
    queue.arm(0);
    queue.writeSome(3);
    expect(queue.completionEvents()).toBe(0);
    queue.writeSome(1);
    expect(queue.completionEvents()).toBe(1);
    expect(queue.port.nextDeadline()).toBeNull();
    queue.writeSome(9);
    queue.pass(1000n * microsecond);
    expect(queue.completionEvents()).toBe(0);
  });

  it('raises it the moderation time after the first completion, not after the last', () => {
    const queue = new ModeratedQueue(10, 100);
    queue.arm(0);
    queue.pass(500n * microsecond);
    queue.writeSome(1);
    queue.pass(99n * microsecond);
    queue.writeSome(1);
    queue.pass(microsecond - 1n);
    expect(queue.completionEvents()).toBe(0);
    expect(queue.port.nextDeadline()).toBe(queue.time + 1n);
    queue.pass(1n);
    expect(queue.completionEvents()).toBe(1);
    queue.pass(1000n * microsecond);
    expect(queue.completionEvents()).toBe(0);
  });

  it.each([
    [0, 100],
    [16, 0],
    [1, 100],
    [0, 0],
  ])('of count %i and period %i raises it with the first', (count, period) => {
    const queue = new ModeratedQueue(count, period);
    queue.arm(0);
    queue.writeSome(1);
    expect(queue.completionEvents()).toBe(1);
    queue.arm(1);
    expect(queue.completionEvents()).toBe(1);
  });

  it('counts completions beyond the head when armed, and starts its timer then', () => {
    const queue = new ModeratedQueue(3, 100);
    queue.writeSome(2);
    queue.pass(1000n * microsecond);
    queue.arm(0);
    expect(queue.completionEvents()).toBe(0);
    queue.pass(99n * microsecond);
    expect(queue.completionEvents()).toBe(0);
    queue.writeSome(1);
    expect(queue.completionEvents()).toBe(1);
    queue.arm(1);
    expect(queue.completionEvents()).toBe(1);
    queue.arm(2, { head: 1 });
    queue.pass(100n * microsecond);
    expect(queue.completionEvents()).toBe(1);
  });

  it('does not restart its timer when armed again', () => {
    const queue = new ModeratedQueue(8, 100);
    queue.arm(0);
    queue.writeSome(1);
    queue.pass(60n * microsecond);
    queue.arm(0);
    queue.pass(40n * microsecond);
    expect(queue.completionEvents()).toBe(1);
  });

  it('waits for another completion when armed again beyond the expected one', () => {
    const queue = new ModeratedQueue(8, 100);
    queue.arm(0);
    queue.writeSome(1);
    queue.take();
    queue.arm(0);
    expect(queue.port.nextDeadline()).toBeNull();
    queue.pass(1000n * microsecond);
    expect(queue.completionEvents()).toBe(0);
    queue.writeSome(1);
    queue.pass(100n * microsecond);
    expect(queue.completionEvents()).toBe(1);
  });

  it('armed for solicited completions counts only these and failures', () => {
    const queue = new ModeratedQueue(2, 100);
    queue.arm(0, { solicited: true });
    queue.writeSome(5);
    queue.pass(1000n * microsecond);
    expect(queue.completionEvents()).toBe(0);
    queue.writeSome(1, { solicited: 1 });
    queue.writeSome(5);
    expect(queue.completionEvents()).toBe(0);
    queue.writeSome(1, { status: CompletionStatus.workRequestFlushedError });
    expect(queue.completionEvents()).toBe(1);
  });

  it('raises a due event by the new rule after a change', () => {
    const queue = new ModeratedQueue(8, 100);
    queue.arm(0);
    queue.writeSome(3);
    queue.port.moderate(queue.number, 8, 20);
    queue.pass(19n * microsecond);
    expect(queue.completionEvents()).toBe(0);
    queue.pass(microsecond);
    expect(queue.completionEvents()).toBe(1);
    queue.head = 3;
    queue.arm(1);
    queue.writeSome(3);
    queue.port.moderate(queue.number, 3, 20);
    expect(queue.completionEvents()).toBe(1);
    queue.head = 6;
    queue.arm(2);
    queue.writeSome(1);
    queue.port.moderate(queue.number, 0, 0);
    expect(queue.completionEvents()).toBe(1);
  });

  it('raises no event after its destruction', () => {
    const queue = new ModeratedQueue(8, 100);
    queue.arm(0);
    queue.writeSome(1);
    queue.port.destroy(queue.number);
    expect(queue.port.nextDeadline()).toBeNull();
    queue.pass(1000n * microsecond);
    expect(queue.events()).toEqual([]);
  });

  it('keeps count and time when resized', () => {
    const queue = new ModeratedQueue(8, 100);
    queue.arm(0);
    queue.writeSome(5);
    queue.pass(50n * microsecond);
    queue.resize(6, 1);
    queue.writeSome(2);
    expect(queue.completionEvents()).toBe(0);
    queue.pass(50n * microsecond);
    expect(queue.completionEvents()).toBe(1);
  });

  it('raises the events of several queues, each at its time', () => {
    const first = new ModeratedQueue(8, 300);
    const { port } = first;
    const others = [200, 100, 200].map((period, index) => {
      const queue = new HostCompletionQueue({ entriesLog2: 3 }, port, index + 1);
      port.moderate(queue.number, 8, period);
      return queue;
    });
    const queues = [first, ...others];
    for (const queue of queues) {
      queue.arm(0);
      queue.write();
    }
    const given = (): number[] => first.events().map(({ object }) => Number(object));
    const [one, two, three, four] = queues.map(({ number }) => number);
    const times: number[][] = [];
    for (let round = 0; round < 4; round++) {
      first.pass(100n * microsecond);
      times.push(given());
    }
    expect(times).toEqual([[three], [two, four], [one], []]);
    expect(port.verify()).toBeNull();
  });

  it('raises events exactly like a model', () => {
    const action = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const) }) },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('pass' as const), time: fc.integer({ min: 1, max: 15 }) }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('arm' as const) }) },
    );
    fc.assert(
      fc.property(fc.nat(4), fc.nat(20), fc.array(action, { maxLength: 80 }), (count, period, actions) => {
        const queue = new ModeratedQueue(count, period, 7);
        let [armed, waiting, sequence] = [false, 0, 0];
        let due: bigint | undefined;
        let expected = 0;
        const check = (): void => {
          const enough = waiting > 0 && (count === 0 || period === 0 || waiting >= count);
          if (!armed || (!enough && !(due !== undefined && queue.time >= due))) return;
          [armed, waiting, due] = [false, 0, undefined];
          expected++;
          sequence++;
        };
        for (const step of actions) {
          if (step.kind === 'write') {
            queue.writeSome(1);
            if (armed) waiting++;
          } else if (step.kind === 'pass') queue.pass(BigInt(step.time) * microsecond);
          else if (!armed) {
            // Before that, the host has consumed everything and learned of the event.
            while (queue.take() !== undefined);
            queue.publish();
            queue.arm(sequence);
            armed = true;
          }
          if (waiting > 0) due ??= queue.time + BigInt(period) * microsecond;
          check();
          expect(queue.completionEvents()).toBe(expected);
          expected = 0;
          expect(queue.port.verify()).toBeNull();
        }
      }),
    );
  });
});
