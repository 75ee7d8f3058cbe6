import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Transaction } from '../../lib/board/addon.ts';
import {
  illegality,
  makeBoard,
  openFunction,
  pageBytes,
  pattern,
  readPage,
  vcbBar,
  writeCommand,
} from '../helpers/register_file_board.ts';

interface Worst {
  trace: Transaction[];
  stored: Uint8Array;
}

/** Writes a command through adversarial write combining; returns the transactions that reached the device before the fence ended. */
function worst(seed: number, dwords: number, doubleWordOnly: boolean): Worst {
  const board = makeBoard({ progress: 'stepped', mapping: 'adversarial', seed, doubleWordOnly });
  const opened = openFunction(board);
  const command = pattern(4 * dwords, seed);
  board.startTrace();
  writeCommand(opened, 3 * pageBytes, command);
  board.runUntilIdle();
  const trace = board.takeTrace();
  expect(readPage(opened, 3, command.length)).toEqual(command);
  opened.close();
  board.close();
  return { trace, stored: command };
}

const seeds = fc.nat({ max: 1_000_000 });
const lengths = fc.integer({ min: 1, max: 80 });

describe('adversarial write combining', () => {
  it('makes legal transactions that carry the stored bytes, each at least once', () => {
    fc.assert(
      fc.property(seeds, lengths, fc.boolean(), (seed, dwords, doubleWordOnly) => {
        const { trace, stored } = worst(seed, dwords, doubleWordOnly);
        const seen = new Uint8Array(stored.length);
        for (const transaction of trace) {
          expect(illegality(transaction)).toBeUndefined();
          const begin = transaction.offset - 3 * pageBytes;
          const end = Math.min(begin + transaction.data.length, stored.length);
          expect(transaction.data.subarray(0, end - begin)).toEqual(stored.subarray(begin, end));
          seen.fill(1, begin, end);
        }
        expect(seen).toEqual(new Uint8Array(stored.length).fill(1));
      }),
    );
  });

  it('never splits an aligned 8 B chunk, and writes only DWORDs behind a 32-bit bridge', () => {
    fc.assert(
      fc.property(seeds, lengths, (seed, dwords) => {
        for (const { offset, data } of worst(seed, dwords, false).trace)
          expect([offset % 8, data.length % 8]).toEqual([0, 0]);
        for (const { data } of worst(seed, dwords, true).trace) expect(data.length).toBe(4);
      }),
    );
  });

  it('repeats a chunk only while another chunk of the page is outstanding', () => {
    fc.assert(
      fc.property(seeds, lengths, fc.boolean(), (seed, dwords, doubleWordOnly) => {
        const { trace } = worst(seed, dwords, doubleWordOnly);
        const chunk = doubleWordOnly ? 4 : 8;
        const chunks = trace.map(({ offset, data }) =>
          Array.from({ length: data.length / chunk }, (_, i) => offset / chunk + i),
        );
        const seen = new Set<number>();
        const isNew = chunks.map(
          (numbers) => numbers.filter((number) => !seen.has(number) && seen.add(number)).length > 0,
        );
        isNew.forEach((carriesNews, i) => {
          expect(carriesNews || isNew.indexOf(true, i) > i).toBe(true);
        });
      }),
    );
  });

  it('splits, merges, reorders and repeats stores', () => {
    const traces = Array.from({ length: 50 }, (_, seed) => worst(seed, 40, false).trace);
    const offsets = traces.map((trace) => trace.map(({ offset }) => offset));
    expect(traces.some((trace) => trace.some(({ data }) => data.length < 64))).toBe(true);
    expect(traces.some((trace) => trace.some(({ data }) => data.length > 8))).toBe(true);
    expect(offsets.some((list) => list.some((offset, i) => i > 0 && offset < (list[i - 1] ?? 0)))).toBe(true);
    expect(offsets.some((list) => new Set(list).size < list.length)).toBe(true);
  });

  it('is the same from the same seed', () => {
    expect(worst(7, 60, false)).toEqual(worst(7, 60, false));
    expect(worst(7, 60, false)).not.toEqual(worst(8, 60, false));
  });

  it('keeps the stores after a fence behind those before it', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const board = makeBoard({ progress: 'stepped', mapping: 'adversarial', seed });
        const opened = openFunction(board);
        board.startTrace();
        for (let fenced = 0; fenced < 4; fenced++) {
          for (let i = 0; i < 8; i++) opened.write64(vcbBar, fenced * pageBytes + 8 * i, i, fenced);
          opened.fence();
        }
        board.runUntilIdle();
        const pages = board.takeTrace().map(({ offset }) => Math.floor(offset / pageBytes));
        expect(pages).toEqual([...pages].sort((a, b) => a - b));
        opened.close();
        board.close();
      }),
    );
  });

  it('lets the latest store to an address win, DWORD by DWORD', () => {
    fc.assert(
      fc.property(seeds, fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 40 }), (seed, places) => {
        const board = makeBoard({ progress: 'stepped', mapping: 'adversarial', seed });
        const opened = openFunction(board);
        const expected = new Uint32Array(8);
        places.forEach((place, i) => {
          expected[place] = i + 1;
          opened.write32(vcbBar, 4 * place, i + 1);
        });
        expect(readPage(opened, 0, 32)).toEqual(new Uint8Array(expected.buffer));
        opened.close();
        board.close();
      }),
    );
  });
});
