import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

import { Completion, CompletionError, CompletionStatus, Opcode } from '../../lib/index.ts';
import { describeOnBackends, type Backend } from '../helpers/backends.ts';
import { makeFailedQueuePair, makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

/** Lets a stepped board work; other boards need no call. */
function work({ board }: Verbs, backend: Backend): void {
  if (backend === stepped) board.runUntilIdle();
}

describeOnBackends('a completion queue', (backend) => {
  it('wait() needs no polling, and returns at once if a completion is there', async () => {
    const verbs = makeVerbs(backend);
    const { completionQueue } = verbs;
    const queuePair = makeFailedQueuePair(verbs);
    const completions = [new Completion(), new Completion()];
    for (let round = 0; round < 20; round++) {
      const waits = [completionQueue.wait({ timeout: 10_000 }), completionQueue.wait()];
      queuePair.postSend({ opcode: Opcode.send, wrId: round });
      work(verbs, backend);
      await Promise.all(waits);
      await completionQueue.wait();
      expect(completionQueue.poll(completions)).toBe(1);
      expect(completions[0]).toMatchObject({ wrId: round, queuePairNumber: queuePair.number });
    }
  });

  it('wakes waiters for solicited completions on a failure', async () => {
    const verbs = makeVerbs(backend);
    const queuePair = makeFailedQueuePair(verbs);
    const wait = verbs.completionQueue.wait({ solicitedOnly: true, timeout: 10_000 });
    queuePair.postSend({ opcode: Opcode.send });
    work(verbs, backend);
    await wait;
  });

  it('wakes waiters for completions left by earlier polls, by one event each time', async () => {
    const verbs = makeVerbs(backend);
    const { completionQueue } = verbs;
    const queuePair = makeFailedQueuePair(verbs);
    const completion = new Completion();
    const take = (): void => {
      while (completionQueue.poll([completion]) === 0) work(verbs, backend);
    };
    for (let wrId = 0; wrId < 10; wrId += 2) {
      // The event of this completion is raised when its completion has been polled and the program waits for
      // another one.
      await expect(completionQueue.wait({ timeout: 0 })).rejects.toMatchObject({ name: 'TimeoutError' });
      queuePair.postSend({ opcode: Opcode.send, wrId });
      take();
      let isAwake = false;
      const wait = completionQueue.wait({ timeout: 10_000 }).then(() => (isAwake = true));
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      expect(isAwake).toBe(false);
      queuePair.postSend({ opcode: Opcode.send, wrId: wrId + 1 });
      work(verbs, backend);
      await wait;
      take();
      expect(completion.wrId).toBe(wrId + 1);
    }
  });

  it('loses nothing to ended waits', async () => {
    const verbs = makeVerbs(backend);
    const { completionQueue } = verbs;
    const queuePair = makeFailedQueuePair(verbs);
    await expect(completionQueue.wait({ timeout: 1 })).rejects.toMatchObject({ name: 'TimeoutError' });
    const reason = new Error('enough');
    const controller = new AbortController();
    const aborted = completionQueue.wait({ signal: controller.signal });
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await expect(completionQueue.wait({ signal: controller.signal })).rejects.toBe(reason);
    for (let wrId = 0; wrId < 3; wrId++) {
      queuePair.postSend({ opcode: Opcode.send, wrId });
      work(verbs, backend);
      await completionQueue.wait();
      const completion = new Completion();
      expect(completionQueue.poll([completion])).toBe(1);
      expect(completion.wrId).toBe(wrId);
    }
    expect(completionQueue.poll([new Completion()])).toBe(0);
  });

  it('fills objects up to the first missing one of an array, and loses nothing', async () => {
    const verbs = makeVerbs(backend);
    const { completionQueue } = verbs;
    const queuePair = makeFailedQueuePair(verbs);
    queuePair.postSend([0, 1].map((wrId) => ({ opcode: Opcode.send, wrId })));
    const completion = new Completion();
    const poll = (...completions: (Completion | undefined)[]): number =>
      completionQueue.poll(completions as Completion[]);
    for (const wrId of [0, 1]) {
      work(verbs, backend);
      await completionQueue.wait({ timeout: 10_000 });
      expect(() => poll(undefined, completion)).toThrow(
        /^completions\[0\] must be a Completion, got undefined/,
      );
      expect(poll(completion, undefined)).toBe(1);
      expect(completion.wrId).toBe(wrId);
    }
  });

  it('is iterated over', async () => {
    const verbs = makeVerbs(backend);
    const queuePair = makeFailedQueuePair(verbs);
    const seen: Completion[] = [];
    const iteration = (async () => {
      for await (const completion of verbs.completionQueue) {
        seen.push(completion);
        if (seen.length === 40) break;
      }
    })();
    for (let wrId = 0; wrId < 40; wrId += 10) {
      queuePair.postSend(
        Array.from({ length: 10 }, (_, index) => ({ opcode: Opcode.send, wrId: wrId + index })),
      );
      work(verbs, backend);
      await new Promise(setImmediate);
    }
    await iteration;
    expect(seen.map(({ wrId }) => wrId)).toEqual(Array.from({ length: 40 }, (_, index) => index));
    const error = new CompletionError(seen[7]!);
    expect(error).toMatchObject({
      status: CompletionStatus.workRequestFlushedError,
      wrId: 7n,
      qpNumber: queuePair.number,
      vendorError: 0,
    });
    expect(error.message).toMatch(
      /work request 7 of queue pair \d+ failed: CompletionStatus\.workRequestFlushedError/,
    );
  });

  it('wakes its waiters when closed', async () => {
    const { completionQueue } = makeVerbs(backend);
    const wait = completionQueue.wait();
    completionQueue.close();
    await expect(wait).rejects.toMatchObject({ name: 'AbortError' });
  });
});

it('an open device does not keep the process alive, a pending wait does', () => {
  const run = (last: string): number | null =>
    spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { openDevice } from './dist/lib/index.js';
         const context = openDevice('emu:');
         const queue = context.createCompletionQueue();
         ${last}`,
      ],
      { timeout: 20_000 },
    ).status;
  expect(run('')).toBe(0);
  expect(run('await queue.wait({ timeout: 1 }).catch(() => {});')).toBe(0);
  expect(run(`setTimeout(() => process.exit(3), 50).unref(); void queue.wait();`)).toBe(3);
});
