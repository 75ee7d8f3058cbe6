import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

import type { BoardFunction } from '../../lib/board/addon.ts';
import {
  engine,
  job,
  makeBoard,
  openFunction,
  registerBar,
  registerOffset,
  startJob,
} from '../helpers/register_file_board.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The next callback of a vector: the number of signals since the last one. */
function nextSignal(opened: BoardFunction, vector: number): Promise<number> {
  return new Promise((resolve) => {
    const interrupt = opened.interrupt(vector, (count) => {
      interrupt.close();
      resolve(count);
    });
    interrupt.ref();
  });
}

describe.each(['shared', 'own', 'stepped'] as const)('an interrupt, progress %s', (progress) => {
  it('wakes the event loop for its own function and vector', async () => {
    const board = makeBoard({ progress });
    const opened = openFunction(board);
    const wrong: string[] = [];
    const others = [
      opened.interrupt(2, () => wrong.push('vector 2')),
      openFunction(board, 1).interrupt(3, () => wrong.push('function 1')),
    ];
    const signal = nextSignal(opened, 3);
    startJob(opened, 0, job.interrupt, { page: 3 });
    if (progress === 'stepped') board.runUntilIdle();
    expect(await signal).toBe(1);
    for (const other of others) other.close();
    expect(wrong).toEqual([]);
  });

  it('reaches every program that has opened the function', async () => {
    const board = makeBoard({ progress });
    const [opened, again] = [openFunction(board), openFunction(board)];
    const signals = Promise.all([nextSignal(opened, 0), nextSignal(again, 0)]);
    startJob(opened, 0, job.interrupt, { page: 0 });
    if (progress === 'stepped') board.runUntilIdle();
    expect(await signals).toEqual([1, 1]);
  });

  it('is counted with those before it when the event loop was busy', async () => {
    const board = makeBoard({ progress });
    const opened = openFunction(board);
    const signal = nextSignal(opened, 1);
    for (let i = 0; i < 5; i++) startJob(opened, 0, job.interrupt, { page: 1 });
    if (progress === 'stepped') board.runUntilIdle();
    while (board.counters().interrupts < 5) opened.advance();
    expect(await signal).toBe(5);
  });
});

describe('an interrupt', () => {
  it.each(['shared', 'own'] as const)(
    'arrives when its timer expires, without a poll, progress %s',
    async (progress) => {
      const board = makeBoard({ progress });
      const opened = openFunction(board);
      const signal = nextSignal(opened, 1);
      const due = board.now() + 2_000_000n;
      opened.write64(
        registerBar,
        registerOffset(0, engine.deadline),
        Number(due & 0xffffffffn),
        Number(due >> 32n),
      );
      expect(await signal).toBe(1);
      expect(board.now() >= due).toBe(true);
    },
  );

  it('of a nonexistent vector is refused', () => {
    const opened = openFunction(makeBoard());
    expect(() => opened.interrupt(8, () => undefined)).toThrow(/vector is 8, but the function has 8/);
  });

  it('does not call back after its subscription is closed', async () => {
    const board = makeBoard({ progress: 'shared' });
    const opened = openFunction(board);
    const interrupt = opened.interrupt(4, () => expect.unreachable());
    interrupt.close();
    interrupt.close();
    expect(() => interrupt.ref()).toThrow(/closed/);
    startJob(opened, 0, job.interrupt, { page: 4 });
    const last = nextSignal(opened, 5);
    startJob(opened, 0, job.interrupt, { page: 5 });
    await last;
  });
});

// The event loop polls descriptors before it runs the finalizers of collected objects.
it('an interrupt that is garbage-collected, and signaled before its finalizer runs, throws nothing', async () => {
  const board = makeBoard({ progress: 'stepped' });
  const opened = openFunction(board);
  const thrown: unknown[] = [];
  const note = (error: unknown): unknown => thrown.push(error);
  process.on('uncaughtException', note);
  opened.interrupt(3, () => undefined);
  await new Promise(setImmediate);
  startJob(opened, 0, job.interrupt, { page: 3 });
  board.runUntilIdle();
  collectGarbage();
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  process.off('uncaughtException', note);
  expect(thrown).toEqual([]);
});
