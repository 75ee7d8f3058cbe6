import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { EmulatedBoard } from '../../lib/board/addon.ts';
import type { FaultRule } from '../../lib/board/faults.ts';
import {
  allOnes,
  engine,
  job,
  magic,
  makeBoard,
  openFunction,
  pattern,
  readPage,
  registerBar,
  registerOffset,
  startJob,
  vcbBar,
  writeCommand,
} from '../helpers/register_file_board.ts';

/** Posts `count` writes, each with its number (from 1) as first byte; returns the numbers in order of arrival. */
function arrivals(board: EmulatedBoard, count: number): number[] {
  board.startTrace();
  for (let i = 1; i <= count; i++)
    board.post({ bar: vcbBar, offset: 64 * i, data: new Uint8Array(4).fill(i) });
  board.runUntilIdle();
  return board.takeTrace().map(({ data }) => data[0] ?? 0);
}

describe('a fault of writes', () => {
  const cases: [string, FaultRule, number[]][] = [
    ['drops the first', { kind: 'drop' }, [2, 3, 4, 5, 6]],
    ['drops the third', { kind: 'drop', nth: 2 }, [1, 2, 4, 5, 6]],
    ['drops two', { kind: 'drop', nth: 1, count: 2 }, [1, 4, 5, 6]],
    ['drops all from the third on', { kind: 'drop', nth: 2, count: 0 }, [1, 2]],
    [
      'drops a write by its address',
      { kind: 'drop', bar: 2, begin: 256, end: 260, count: 0 },
      [1, 2, 3, 5, 6],
    ],
    ['drops none of another BAR', { kind: 'drop', bar: 0, count: 0 }, [1, 2, 3, 4, 5, 6]],
    ['drops none of another function', { kind: 'drop', underlyingFunction: 1, count: 0 }, [1, 2, 3, 4, 5, 6]],
    ['lets the next write overtake one', { kind: 'reorder', nth: 1 }, [1, 3, 2, 4, 5, 6]],
    ['lets three writes overtake one', { kind: 'reorder', nth: 1, transactions: 3 }, [1, 3, 4, 5, 2, 6]],
    [
      'delays one, which holds back the writes behind it',
      { kind: 'delay', nth: 1, transactions: 3 },
      [1, 2, 3, 4, 5, 6],
    ],
  ];
  it.each(cases)('%s', (_, rule, expected) => {
    const board = makeBoard();
    const id = board.inject(rule);
    expect(arrivals(board, 6)).toEqual(expected);
    expect(board.injected(id)).toBe(rule.kind === 'drop' ? 6 - expected.length : 1);
    expect(board.counters().writesLost).toBe(6 - expected.length);
  });

  it('releases a delayed write and those behind it after a number of further transactions', () => {
    const board = makeBoard();
    board.inject({ kind: 'delay', nth: 1, transactions: 2 });
    expect(arrivals(board, 3)).toEqual([1]);
    expect(arrivals(board, 1)).toEqual([2, 3, 1]);
  });

  it('releases a delayed write after a number of ticks', () => {
    const board = makeBoard();
    board.inject({ kind: 'delay', ticks: 100 });
    expect(arrivals(board, 2)).toEqual([]);
    const begin = board.now();
    board.advanceTime(200);
    const trace = board.takeTrace();
    expect(trace.map(({ data }) => data[0])).toEqual([1, 2]);
    for (const { time } of trace) expect(time >= begin + 90n && time <= begin + 105n).toBe(true);
  });

  it('releases held writes before a read, and when it is cleared', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    board.inject({ kind: 'reorder', transactions: 100 });
    expect(arrivals(board, 2)).toEqual([2]);
    expect(opened.read32(vcbBar, 64)).toBe(0x01010101);
    const id = board.inject({ kind: 'delay', transactions: 100 });
    expect(arrivals(board, 2)).toEqual([]);
    board.clearFaults(id);
    expect(board.takeTrace().map(({ data }) => data[0])).toEqual([1, 2]);
    expect(() => board.clearFaults(id)).toThrow(/there is no fault/);
  });

  it('is refused if it could never occur', () => {
    const board = makeBoard();
    expect(() => board.inject({ kind: 'tear', doubleWords: 0 })).toThrow(
      new RangeError(
        'rule.doubleWords is 0, but must have the bit of a DWORD that arrives; a write of which nothing arrives is of the kind drop',
      ),
    );
    for (const [begin, end] of [
      [8, 4],
      [8, 8],
      [0, 0],
    ] as const) {
      expect(() => board.inject({ kind: 'drop', begin, end })).toThrow(
        new RangeError(
          `rule.begin is ${begin} and rule.end ${end}, but rule.end must be larger: it is the first that is not touched`,
        ),
      );
    }
    board.inject({ kind: 'drop', begin: 8, end: 9 });
    expect(() => board.inject({ kind: 'flip_bits', bits: 0 })).toThrow(
      new RangeError('rule.bits is 0, but must be 1, which the device corrects, or 2, which it detects'),
    );
    expect(() => board.inject({ kind: 'flip_bits', bits: 3 })).toThrow(RangeError);
  });

  it('tears a write into legal transactions that deliver the selected DWORDs', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 0xffff }), (doubleWords) => {
        const board = makeBoard();
        const opened = openFunction(board);
        board.inject({ kind: 'tear', doubleWords });
        writeCommand(opened, 0, pattern(64));
        const expected = pattern(64).map((byte, i) => ((doubleWords >> (i >> 2)) & 1 ? byte : 0));
        expect(readPage(opened, 0, 64)).toEqual(expected);
        opened.close();
        board.close();
      }),
    );
  });

  it('with a probability depends on the seed alone, and occurs about as often as expected', () => {
    const arrived = (seed: number): number[] => {
      const board = makeBoard({ progress: 'stepped', seed });
      board.inject({ kind: 'drop', probability: 0.5, count: 0 });
      return arrivals(board, 200);
    };
    expect(arrived(3)).toEqual(arrived(3));
    expect(arrived(3)).not.toEqual(arrived(4));
    expect(arrived(3).length).toBeGreaterThan(60);
    expect(arrived(3).length).toBeLessThan(140);
  });
});

describe('other faults', () => {
  it('all reads return all ones until the fault is cleared', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const id = board.inject({ kind: 'read_all_ones', count: 0 });
    expect(opened.read32(registerBar, 0)).toBe(allOnes);
    expect(opened.read32(vcbBar, 0)).toBe(allOnes);
    expect(board.injected(id)).toBe(2);
    board.clearFaults();
    expect(opened.read32(registerBar, 0)).toBe(magic);
  });

  it('a lost interrupt is counted, and the program is not signaled', async () => {
    const board = makeBoard();
    const opened = openFunction(board);
    board.inject({ kind: 'lose_interrupt', begin: 3, end: 4 });
    const signalled = new Promise<number>((resolve) => {
      opened.interrupt(3, resolve).ref();
    });
    startJob(opened, 0, job.interrupt, { page: 3 });
    startJob(opened, 0, job.interrupt, { page: 3 });
    board.runUntilIdle();
    expect(await signalled).toBe(1);
    expect(board.counters()).toMatchObject({ interrupts: 1, interruptsLost: 1 });
  });

  it('a DMA fault selects an access by its number or by its address', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const memory = opened.allocateMemory(8192);
    board.inject({ kind: 'fault_dma', nth: 1 });
    board.inject({ kind: 'fault_dma', begin: memory.address + 4096n, end: memory.address + 4100n, count: 0 });
    for (const offset of [0n, 8n, 16n, 4096n, 4100n])
      startJob(opened, 0, job.writeHost, { address: memory.address + offset, bytes: 4 });
    board.runUntilIdle();
    expect(opened.read32(registerBar, registerOffset(0, engine.faults))).toBe(2);
    expect(board.takeDmaFaults().map(({ address, reason }) => [address - memory.address, reason])).toEqual([
      [8n, 'injected'],
      [4096n, 'injected'],
    ]);
  });

  it('an invalid rule is refused, and the error names the wrong field', () => {
    const board = makeBoard();
    expect(() => board.inject({} as FaultRule)).toThrow(/needs a kind/);
    expect(() => board.inject({ kind: 'loose' as 'drop' })).toThrow(/kind must be one of drop, tear/);
    expect(() => board.inject({ kind: 'drop', probability: 2 })).toThrow(
      /probability must be a number from 0 to 1/,
    );
    expect(() => board.inject({ kind: 'drop', nth: -1 })).toThrow(/nth is -1/);
    expect(() => board.inject({ kind: 'drop', baar: 1 } as FaultRule)).toThrow(/no field baar/);
    expect(() => board.injected(1)).toThrow(/there is no fault 1/);
  });
});
