import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CompletionStatus, EventType } from '../../lib/spec/index.ts';
import { HostCompletionQueue } from './host_completion_queue.ts';

describe('arming a completion queue', () => {
  it('raises one event, at the next completion', () => {
    const queue = new HostCompletionQueue({ eventQueue: 5, userHandle: 0xabcdef0123 });
    queue.write();
    queue.take();
    expect(queue.arm(4)).toBe(true);
    expect(queue.events()).toEqual([]);
    queue.write();
    expect(queue.events()).toMatchObject([
      {
        type: EventType.completion,
        underlying_function: 1,
        event_queue: 5,
        reason: 4,
        object: queue.number,
        detail: 0xabcdef0123,
      },
    ]);
    queue.write();
    expect(queue.events()).toEqual([]);
  });

  it('raises the event at once if a completion is beyond its head', () => {
    const queue = new HostCompletionQueue();
    queue.write();
    queue.arm(0);
    expect(queue.completionEvents()).toBe(1);
    queue.take();
    queue.arm(1);
    expect(queue.completionEvents()).toBe(0);
  });

  it('for solicited completions ignores others', () => {
    const queue = new HostCompletionQueue();
    queue.write();
    queue.arm(0, { solicited: true });
    queue.write();
    expect(queue.completionEvents()).toBe(0);
    queue.write({ solicited: 1 });
    expect(queue.completionEvents()).toBe(1);
    // The solicited completion is beyond this head, but not beyond the later one.
    queue.arm(1, { solicited: true, head: 2 });
    expect(queue.completionEvents()).toBe(1);
    queue.arm(2, { solicited: true, head: 3 });
    expect(queue.completionEvents()).toBe(0);
  });

  it('for solicited completions raises the event at a failure', () => {
    const queue = new HostCompletionQueue();
    queue.arm(0, { solicited: true });
    queue.write({ status: CompletionStatus.workRequestFlushedError });
    expect(queue.completionEvents()).toBe(1);
  });

  it('for any completion stays in force after one for solicited completions', () => {
    const queue = new HostCompletionQueue();
    queue.arm(0);
    queue.arm(0, { solicited: true });
    queue.write();
    expect(queue.completionEvents()).toBe(1);
    queue.take();
    queue.arm(1, { solicited: true });
    queue.arm(1);
    queue.write();
    expect(queue.completionEvents()).toBe(1);
  });

  it('is ignored while the event of the previous one is in flight', () => {
    const queue = new HostCompletionQueue({ entriesLog2: 4 });
    queue.arm(9);
    queue.write();
    expect(queue.completionEvents()).toBe(1);
    queue.arm(9);
    queue.write();
    expect(queue.completionEvents()).toBe(0);
    queue.arm(10);
    expect(queue.completionEvents()).toBe(1);
  });

  it('carries the head, so that the device need not read the record', () => {
    const queue = new HostCompletionQueue({ entriesLog2: 3 });
    for (let number = 0; number < 7; ++number) queue.write();
    for (let number = 0; number < 7; ++number) queue.take();
    queue.arm(0);
    const before = queue.port.accessesOf(1);
    queue.write();
    expect(queue.port.accessesOf(1) - before).toBe(1);
  });

  it('waits if its head is beyond the written entries', () => {
    const queue = new HostCompletionQueue();
    queue.write();
    queue.arm(0, { head: 2 });
    expect(queue.completionEvents()).toBe(0);
    queue.write();
    expect(queue.completionEvents()).toBe(1);
  });

  it("refuses another function's queue, and one that does not exist", () => {
    const queue = new HostCompletionQueue();
    expect(queue.arm(0, { underlyingFunction: 2 })).toBe(false);
    queue.write();
    expect(queue.events()).toEqual([]);
    expect(queue.port.arm(1, 0n)).toBe(false);
    expect(queue.port.arm(1, 5n)).toBe(false);
    expect(queue.port.arm(1, 0xffffffn)).toBe(false);
  });
});

describe('arming and completions in any order', () => {
  /** Steps of a host and a device; the host learns of an event only when it consumes it. */
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('write' as const), solicited: fc.boolean() }),
      fc.record({ kind: fc.constant('poll' as const) }),
      fc.record({ kind: fc.constant('arm' as const), solicited: fc.boolean() }),
      fc.record({ kind: fc.constant('take event' as const) }),
    ),
    { maxLength: 200 },
  );

  it('leaves no armed completion without an event, and no second event in flight', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const queue = new HostCompletionQueue({ entriesLog2: 5 });
        let eventsTaken = 0;
        let onTheWay = 0;
        let armed: 'no' | 'solicited' | 'any' = 'no';
        let unpolled: boolean[] = []; // whether each is solicited
        for (const step of taken) {
          let expected = 0;
          const matches = (solicited: boolean): boolean =>
            armed === 'any' || (armed === 'solicited' && solicited);
          if (step.kind === 'write') {
            if (unpolled.length === queue.entries) continue;
            queue.write({ solicited: Number(step.solicited) });
            unpolled.push(step.solicited);
            if (matches(step.solicited)) expected = 1;
          } else if (step.kind === 'poll') {
            while (queue.take() !== undefined);
            queue.publish();
            unpolled = [];
          } else if (step.kind === 'arm') {
            queue.arm(eventsTaken, { solicited: step.solicited });
            // The arm sequence shows that the host has not consumed the last event.
            if (onTheWay === 0) {
              if (armed !== 'any') armed = step.solicited ? 'solicited' : 'any';
              if (unpolled.some(matches)) expected = 1;
            }
          } else if (onTheWay > 0) {
            --onTheWay;
            ++eventsTaken;
          }
          expect(queue.completionEvents()).toBe(expected);
          if (expected === 1) {
            armed = 'no';
            ++onTheWay;
          }
          expect(onTheWay).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});
