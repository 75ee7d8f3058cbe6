import { afterEach, describe, expect, it, vi } from 'vitest';

import { Completion, EventType, Opcode, openDevice } from '../../lib/index.ts';
import { backends, describeOnBackends, settle } from '../helpers/backends.ts';
import { makeFailedQueuePair, makeQueuePair, makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

afterEach(() => vi.useRealTimers());

/** From now on the board answers nothing, and accepts nothing. */
function remove({ board }: Verbs): void {
  board.inject({ kind: 'read_all_ones', count: 0 });
  board.inject({ kind: 'drop', count: 0 });
  board.inject({ kind: 'lose_interrupt', count: 0 });
}

const gone: unknown = expect.objectContaining({
  code: 'ENODEV',
  message: 'the device is gone: all ones are read back from its registers',
});

describeOnBackends('a device that is gone', (backend) => {
  it('ends every wait within a second, and is reported as DEVICE_FATAL', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const verbs = makeVerbs(backend);
    const { completionQueue, context } = verbs;
    const other = context.createCompletionQueue();
    const waits = [
      completionQueue.wait(),
      completionQueue.wait({ solicitedOnly: true }),
      other.wait({ timeout: 1e9 }),
      other.completions().next(),
    ].map((wait) => expect(wait).rejects.toEqual(gone));
    vi.advanceTimersByTime(5000);
    remove(verbs);
    vi.advanceTimersByTime(1000);
    await Promise.all(waits);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(0);
    expect(context.pollEvent()).toMatchObject({ type: EventType.deviceFatal, name: 'deviceFatal' });
    expect(context.pollEvent()).toBeUndefined();
    await expect(completionQueue.wait()).rejects.toEqual(gone);
    expect(() => completionQueue.poll([new Completion()])).toThrow(
      expect.objectContaining({ code: 'ENODEV' }),
    );
    expect(() => context.createProtectionDomain()).toThrow(expect.objectContaining({ code: 'ENODEV' }));
    context[Symbol.dispose]();
  });

  it('is detected by any verb that accesses it', async () => {
    const verbs = makeVerbs(backend);
    const wait = expect(verbs.completionQueue.wait()).rejects.toEqual(gone);
    remove(verbs);
    expect(() => makeQueuePair(verbs)).toThrow(expect.objectContaining({ code: 'ENODEV' }));
    await wait;
    expect(verbs.context.pollEvent()).toMatchObject({ type: EventType.deviceFatal });
  });

  it('ends the kicks', async () => {
    const verbs = makeVerbs(backend);
    const kick = verbs.context.kicks().next();
    remove(verbs);
    expect(() => verbs.context.queryPort()).toThrow(expect.objectContaining({ code: 'ENODEV' }));
    await expect(kick).rejects.toEqual(gone);
  });
});

describe('a device', () => {
  it('reset by its control function ends the waits of the other functions', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const control = makeVerbs();
    const guest = openDevice(control.board.open(1));
    const wait = expect(guest.createCompletionQueue().wait()).rejects.toMatchObject({
      code: 'ENODEV',
      message: 'the control function reset the device',
    });
    control.context[Symbol.dispose]();
    vi.advanceTimersByTime(1000);
    await wait;
    guest[Symbol.dispose]();
  });

  it('is polled only while a caller waits', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { board, completionQueue } = makeVerbs();
    const readsOf = (milliseconds: number): number => {
      const { reads } = board.counters();
      vi.advanceTimersByTime(milliseconds);
      return board.counters().reads - reads;
    };
    expect(readsOf(10_000)).toBe(0);
    const controller = new AbortController();
    const wait = expect(completionQueue.wait({ signal: controller.signal })).rejects.toThrow('aborted');
    expect(readsOf(10_000)).toBe(10);
    controller.abort();
    await wait;
    expect(readsOf(10_000)).toBe(0);
  });
});

describe.each(backends)('an overrun completion queue on $name', (backend) => {
  /** `count` flushed work requests; the queue holds four. */
  function overrun(count: number, solicitedOnly = false): { verbs: Verbs; wait: Promise<void> } {
    const verbs = makeVerbs(backend);
    const completionQueue = verbs.context.createCompletionQueue({ entries: 4 });
    const small = { ...verbs, completionQueue };
    const queuePair = makeFailedQueuePair(small);
    const wait = solicitedOnly ? completionQueue.wait({ solicitedOnly }) : Promise.resolve();
    queuePair.postSend(Array.from({ length: count }, (_, wrId) => ({ opcode: Opcode.send, wrId })));
    if (backend === stepped) verbs.board.runUntilIdle();
    return { verbs: small, wait };
  }

  it('returns its completions, and then rejects waits', async () => {
    const { verbs } = overrun(6);
    const { board, completionQueue, context } = verbs;
    settle(board, backend, () => context.pollEvent()?.type === EventType.completionQueueError);
    await completionQueue.wait();
    const completions = Array.from({ length: 2 }, () => new Completion());
    const taken: number[] = [];
    const reason: unknown = await (async () => {
      for (;;) {
        await completionQueue.wait({ timeout: 10_000 });
        const count = completionQueue.poll(completions);
        taken.push(...completions.slice(0, count).map(({ wrId }) => wrId));
      }
    })().catch((error: unknown) => error);
    expect(taken).toEqual([0, 1, 2, 3]);
    expect(reason).toMatchObject({
      code: 'EOVERFLOW',
      message: expect.stringContaining(`overran: it holds 4 completions`) as string,
    });
    expect(() => completionQueue.poll(completions)).toThrow(expect.objectContaining({ code: 'EOVERFLOW' }));
  });

  it('wakes current waits', async () => {
    const { wait, verbs } = overrun(6, true);
    await wait;
    const completions = Array.from({ length: 8 }, () => new Completion());
    for (let taken = 0; taken < 4;) taken += verbs.completionQueue.poll(completions);
    await expect(verbs.completionQueue.wait({ solicitedOnly: true })).rejects.toMatchObject({
      code: 'EOVERFLOW',
    });
  });
});
