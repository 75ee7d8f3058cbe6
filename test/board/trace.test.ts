import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { BoardFunction, EmulatedBoard, Transaction } from '../../lib/board/addon.ts';
import {
  job,
  makeBoard,
  openFunction,
  pageBytes,
  pattern,
  readPage,
  registerBar,
  registerOffset,
  startJob,
  vcbBar,
  writeCommand,
} from '../helpers/register_file_board.ts';

type Action = (board: EmulatedBoard, opened: readonly BoardFunction[]) => void;

const functions = fc.constantFrom(0, 1);
const actions = fc.array(
  fc.oneof(
    fc.record({ uf: functions, page: fc.nat({ max: 15 }), dwords: fc.integer({ min: 1, max: 80 }) }).map(
      ({ uf, page, dwords }): Action =>
        (_, opened) =>
          writeCommand(at(opened, uf), page * pageBytes, pattern(4 * dwords, page)),
    ),
    fc.record({ uf: functions, page: fc.nat({ max: 7 }) }).map(
      ({ uf, page }): Action =>
        (_, opened) =>
          startJob(at(opened, uf), uf, job.interrupt, { page }),
    ),
    functions.map(
      (uf): Action =>
        (_, opened) =>
          at(opened, uf).read32(registerBar, registerOffset(uf, 0x1014)),
    ),
    fc.nat({ max: 20 }).map(
      (count): Action =>
        (board) =>
          board.step(count),
    ),
    fc.nat({ max: 1000 }).map(
      (ticks): Action =>
        (board) =>
          board.advanceTime(ticks),
    ),
  ),
  { maxLength: 40 },
);

function at(opened: readonly BoardFunction[], underlyingFunction: number): BoardFunction {
  const found = opened[underlyingFunction];
  if (found === undefined) throw new RangeError(`no function ${underlyingFunction}`);
  return found;
}

describe('a trace', () => {
  it('holds the transactions in order, with rising times, and counts those that do not fit', () => {
    const board = makeBoard();
    board.startTrace(3);
    for (let i = 0; i < 5; i++) board.post({ bar: vcbBar, offset: 4 * i, data: new Uint8Array(4) });
    board.runUntilIdle();
    const trace = board.takeTrace();
    expect(trace.map(({ offset }) => offset)).toEqual([0, 4, 8]);
    trace.forEach(({ time }, i) => expect(time > (trace[i - 1]?.time ?? -1n)).toBe(true));
    expect(board.counters().traceDropped).toBe(2);
  });

  it('holds only the transactions between its start and its stop', () => {
    const board = makeBoard();
    const write = (): void => {
      board.post({ bar: vcbBar, data: new Uint8Array(4) });
      board.runUntilIdle();
    };
    write();
    board.startTrace();
    write();
    board.stopTrace();
    write();
    expect(board.takeTrace()).toHaveLength(1);
    expect(board.takeTrace()).toEqual([]);
  });
});

describe('a replay', () => {
  it('of any recording on a fresh board gives the same trace, answers and counters', () => {
    fc.assert(
      fc.property(actions, fc.nat(), (list, seed) => {
        const recorded = makeBoard({ progress: 'stepped', mapping: 'adversarial', seed });
        recorded.startTrace();
        const opened = [openFunction(recorded, 0), openFunction(recorded, 1)];
        recorded.inject({ kind: 'reorder', probability: 0.1, count: 0 });
        for (const action of list) action(recorded, opened);
        recorded.clearFaults();
        recorded.runUntilIdle();
        const trace = recorded.takeTrace();

        const fresh = makeBoard();
        fresh.startTrace();
        expect(fresh.replay(trace)).toBe(0);
        fresh.runUntilIdle();
        expect(fresh.takeTrace()).toEqual(trace);
        const { reads, writes, steps, interrupts } = recorded.counters();
        expect(fresh.counters()).toMatchObject({ reads, writes, steps, interrupts });
        const again = openFunction(fresh);
        const same = openFunction(recorded);
        for (let page = 0; page < 16; page++)
          expect(readPage(again, page, 32)).toEqual(readPage(same, page, 32));
        for (const object of [...opened, again, same, fresh, recorded]) object.close();
      }),
      { numRuns: 50 },
    );
  });

  it('counts the reads whose answers differ', () => {
    const read: Transaction = {
      kind: 'read',
      underlyingFunction: 0,
      bar: registerBar,
      offset: 0,
      data: new Uint8Array(4),
      byteEnables: 0xfn,
      time: 5n,
    };
    expect(makeBoard().replay([read])).toBe(1);
    expect(() => makeBoard({ progress: 'shared' }).replay([])).toThrow(/needs a board with progress stepped/);
  });
});
