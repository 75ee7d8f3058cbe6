import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { EventType, ManagementStatus } from '../../lib/spec/index.ts';
import { makeCompletionQueues } from './completion_queue_port.ts';
import { HostCompletionQueue } from './host_completion_queue.ts';

const { success, badParameter, badState, mailboxFault } = ManagementStatus;

describe('a resized completion queue', () => {
  it.each([
    ['larger', 2, 5],
    ['smaller', 5, 2],
  ])('is %s and continues from its position, in every round', (_, from, to) => {
    for (let before = 0; before < 40; before++) {
      const queue = new HostCompletionQueue({ entriesLog2: from });
      let written = 0;
      const pass = (): void => {
        expect(queue.write({ byte_length: written })).toBe(true);
        expect(queue.take()).toMatchObject({ byte_length: written, sequence: written });
        queue.publish();
        written++;
      };
      for (let count = 0; count < before; count++) pass();
      const first = written;
      for (let held = 0; held < 3; held++) queue.write({ byte_length: written++ });
      expect(queue.resize(to, 1)).toBe(success);
      for (let held = first; held < written; held++)
        expect(queue.take()).toMatchObject({ byte_length: held, sequence: held });
      expect(queue.peek()).toBeUndefined();
      queue.publish();
      for (let count = 0; count < 70; count++) pass();
    }
  });

  it('holds as many completions as it has room for, and no more', () => {
    const queue = new HostCompletionQueue({ entriesLog2: 1 });
    queue.write();
    queue.write();
    expect(queue.resize(3, 1)).toBe(success);
    for (let count = 2; count < 8; count++) expect(queue.write()).toBe(true);
    expect(queue.write()).toBe(false);
    expect(queue.events()).toMatchObject([{ type: EventType.completionQueueError, object: queue.number }]);
    expect(queue.resize(4, 2)).toBe(badState);
  });

  it("is refused if the entries beyond the host's current head do not fit", () => {
    const queue = new HostCompletionQueue({ entriesLog2: 3 });
    for (let count = 0; count < 5; count++) queue.write({ byte_length: count });
    expect(queue.resize(2, 1)).toBe(badParameter);
    expect(queue.take()).toMatchObject({ byte_length: 0 });
    expect(queue.resize(2, 1)).toBe(success);
    for (let count = 1; count < 5; count++) expect(queue.take()).toMatchObject({ byte_length: count });
    queue.publish();
    expect(queue.write()).toBe(true);
    expect(queue.port.verify()).toBeNull();
  });

  it('is refused if its head cannot be read, and stays unchanged', () => {
    const queue = new HostCompletionQueue({ entriesLog2: 2 });
    queue.write({ byte_length: 7 });
    queue.port.faultAccess(1); // after the page table
    expect(queue.resize(4, 1)).toBe(mailboxFault);
    expect(queue.events()).toMatchObject([{ type: EventType.dmaFault }]);
    expect(queue.take()).toMatchObject({ byte_length: 7 });
    queue.publish();
    expect(queue.write({ byte_length: 8 })).toBe(true);
    expect(queue.take()).toMatchObject({ byte_length: 8 });
  });

  it('loses nothing in any order of writes, reads and sizes', () => {
    const action = fc.oneof(
      { weight: 6, arbitrary: fc.constant('write' as const) },
      { weight: 5, arbitrary: fc.constant('take' as const) },
      { weight: 1, arbitrary: fc.nat(5) },
    );
    fc.assert(
      fc.property(fc.nat(3), fc.array(action, { maxLength: 200 }), (entriesLog2, actions) => {
        const queue = new HostCompletionQueue({ entriesLog2 }, makeCompletionQueues());
        let [written, taken, slot] = [0, 0, 0];
        for (const step of actions) {
          if (step === 'take') {
            if (taken < written) expect(queue.take()).toMatchObject({ byte_length: taken++ });
            else expect(queue.peek()).toBeUndefined();
            queue.publish();
          } else if (step === 'write') {
            if (written - taken < queue.entries) expect(queue.write({ byte_length: written++ })).toBe(true);
          } else {
            const fits = written - taken <= 1 << step;
            slot ^= 1;
            expect(queue.resize(step, slot)).toBe(fits ? success : badParameter);
            if (!fits) slot ^= 1;
          }
        }
        while (taken < written) expect(queue.take()).toMatchObject({ byte_length: taken++ });
        expect(queue.peek()).toBeUndefined();
        expect(queue.port.verify()).toBeNull();
      }),
    );
  });
});
