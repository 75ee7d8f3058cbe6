import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Completion, Opcode, type CompletionQueue } from '../../lib/index.ts';
import { describeOnBackends, settle, type Backend } from '../helpers/backends.ts';
import { connect, everyRight, makeEnd } from '../helpers/connected.ts';
import { makeFailedQueuePair, makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

/** A queue pair that writes to another of its board, and completes into one queue. */
class Line {
  readonly verbs: Verbs;
  readonly queue: CompletionQueue;
  /** Posted work requests, and their polled completions. */
  posted = 0;
  taken = 0;
  private readonly backend: Backend;
  private readonly write: () => void;

  constructor(backend: Backend) {
    this.backend = backend;
    this.verbs = makeVerbs(backend);
    this.queue = this.verbs.completionQueue;
    const [client, server] = [makeEnd(this.verbs), makeEnd(this.verbs)];
    connect(client, server);
    connect(server, client);
    const region = this.verbs.protectionDomain.allocate(4096, everyRight);
    const [gather, remote] = [[region.slice(0, 8)], region.remote()];
    this.write = () =>
      client.queuePair.postSend({
        opcode: Opcode.rdmaWrite,
        wrId: this.posted++,
        signaled: true,
        gather,
        remote,
      });
  }

  get outstanding(): number {
    return this.posted - this.taken;
  }

  post(count: number, steps = 0): void {
    for (let left = count; left > 0; left--) this.write();
    if (this.backend === stepped) this.verbs.board.step(steps);
  }

  /** Polls all available completions, in order. */
  take(most = 64): number {
    const completions = Array.from({ length: most }, () => new Completion());
    const count = this.queue.poll(completions);
    for (const { wrId, status } of completions.slice(0, count))
      expect({ wrId, status }).toEqual({ wrId: this.taken++, status: 0 });
    return count;
  }

  takeAll(): void {
    settle(this.verbs.board, this.backend, () => {
      while (this.take() > 0);
      return this.outstanding === 0;
    });
    expect(this.queue.poll([new Completion()])).toBe(0);
  }

  /** Waits until the queue holds all posted work requests. */
  fill(): void {
    settle(this.verbs.board, this.backend, () => {
      this.verbs.context.driver.device.board.advance();
      return this.queue.driver.held === this.outstanding;
    });
  }
}

describeOnBackends('a completion queue of another size', (backend) => {
  it('keeps its completions when resized', () => {
    const line = new Line(backend);
    for (const size of [256, 8, 512, 5, 64]) {
      line.post(5);
      line.fill();
      line.queue.resize(size);
      expect(line.queue.capacity).toBe(2 ** Math.ceil(Math.log2(size)));
      line.takeAll();
      line.post(3);
      line.takeAll();
    }
  });

  it('loses nothing under traffic', () => {
    const action = fc.record({
      post: fc.nat(8),
      steps: fc.nat(30),
      take: fc.nat(12),
      sizeLog2: fc.integer({ min: 0, max: 7 }),
      resizes: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const line = new Line(backend);
        for (const { post, steps, take, sizeLog2, resizes } of actions) {
          // Never more than the queue holds, because it would be overrun.
          line.post(Math.min(post, line.queue.capacity - line.outstanding, 40 - line.outstanding), steps);
          if (take > 0) line.take(take);
          const size = 1 << sizeLog2;
          if (!resizes || line.outstanding > size) continue;
          line.queue.resize(size);
          expect(line.queue.capacity).toBe(size);
        }
        line.takeAll();
      }),
      { numRuns: backend === stepped ? 40 : 10 },
    );
  });

  it('is refused if the queue holds more completions, and stays unchanged', () => {
    const line = new Line(backend);
    line.post(9);
    line.fill();
    expect(() => line.queue.resize(8)).toThrow(
      expect.objectContaining({
        code: 'EINVAL',
        verb: 'resizeCompletionQueue',
        attribute: 'entries',
        message: expect.stringContaining('the queue holds 9 completions') as string,
      }),
    );
    expect(line.queue.capacity).toBe(64);
    line.take(1);
    line.queue.resize(8);
    line.takeAll();
  });

  it('raises the event requested before the resize', async () => {
    const line = new Line(backend);
    const wait = line.queue.wait({ timeout: 10_000 });
    line.queue.resize(4);
    line.post(1);
    if (backend === stepped) line.verbs.board.runUntilIdle();
    await wait;
    line.takeAll();
  });
});

describe('sizes of a completion queue', () => {
  it.each([0, -1, 32_769, 1.5, '4', undefined])('cannot be %o', (entries) => {
    const { completionQueue } = makeVerbs();
    expect(() => completionQueue.resize(entries as number)).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'entries' }),
    );
    expect(completionQueue.capacity).toBe(64);
  });

  it('take no memory beyond their own', () => {
    const { completionQueue } = makeVerbs();
    for (let round = 0; round < 2000; round++) completionQueue.resize(round % 2 === 0 ? 32_768 : 64);
  });
});

describe('moderation of a completion queue, in the time of the board', () => {
  /** Ticks of a stepped board in a microsecond. */
  const microsecond = 1000n;

  /** Whether a wait has ended after the board has worked until this time and Node has handled its events. */
  function makeWaiter(count: number, period: number) {
    const verbs = makeVerbs();
    const { board, completionQueue } = verbs;
    const queuePair = makeFailedQueuePair(verbs);
    completionQueue.moderate({ count, period });
    let [ended, posted] = [0, 0];
    return {
      completionQueue,
      wait: () => completionQueue.wait().then(() => ended++),
      post: () => queuePair.postSend({ opcode: Opcode.send, wrId: posted++ }),
      endedAfter: async (microseconds: bigint) => {
        board.advanceTime(microseconds * microsecond);
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
        return ended;
      },
    };
  }

  it('wakes a wait at that completion, or that time after the first', async () => {
    const { wait, post, endedAfter, completionQueue } = makeWaiter(3, 1000);
    const first = wait();
    expect(await endedAfter(5000n)).toBe(0);
    post();
    expect(await endedAfter(900n)).toBe(0);
    post();
    expect(await endedAfter(50n)).toBe(0);
    expect(await endedAfter(51n)).toBe(1);
    await first;
    expect(completionQueue.poll([new Completion(), new Completion()])).toBe(2);
    const second = wait();
    for (let count = 0; count < 3; count++) post();
    expect(await endedAfter(50n)).toBe(2);
    await second;
  });

  it('is off again with 0', async () => {
    const { wait, post, endedAfter, completionQueue } = makeWaiter(3, 60_000);
    completionQueue.moderate({ count: 0, period: 60_000 });
    const waited = wait();
    post();
    expect(await endedAfter(50n)).toBe(1);
    await waited;
  });

  it('refuses a size that is too small, and names the argument', () => {
    const { completionQueue } = makeVerbs();
    expect(() => completionQueue.moderate({ count: 65_536, period: 0 })).toThrow(
      'count must be 0 to 65535, got 65536',
    );
    expect(() => completionQueue.moderate({ count: 1, period: -1 })).toThrow(
      'period must be 0 to 65535, got -1',
    );
    expect(() => completionQueue.moderate({ cq_count: 1, period: 1 } as never)).toThrow(
      'cq_count is not known: use count',
    );
  });
});
