import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CommandMapping } from '../../lib/board/addon.ts';
import {
  allOnes,
  illegality,
  magic,
  makeBoard,
  openFunction,
  pageBytes,
  pattern,
  readPage,
  registerBar,
  registerOffset,
  vcbBar,
  writeCommand,
} from '../helpers/register_file_board.ts';

describe('a store', () => {
  const cuts: [CommandMapping, boolean, number][] = [
    ['write_combining', false, 64],
    ['uncached', false, 8],
    ['write_combining', true, 4],
    ['uncached', true, 4],
  ];
  it.each(cuts)(
    'becomes legal transactions in order: mapping %s, 32-bit bridge %s, %i B each',
    (mapping, doubleWordOnly, widest) => {
      const board = makeBoard({ progress: 'stepped', mapping, doubleWordOnly });
      const opened = openFunction(board);
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 80 }), fc.nat({ max: 15 }), (dwords, page) => {
          const command = pattern(4 * dwords, page);
          board.startTrace();
          writeCommand(opened, page * pageBytes, command);
          board.runUntilIdle();
          const trace = board.takeTrace();
          const stored = Math.ceil(command.length / 8) * 8;
          expect(trace.map(illegality)).toEqual(trace.map(() => undefined));
          expect(trace).toHaveLength(Math.ceil(stored / widest));
          expect(trace.map(({ offset }) => offset)).toEqual(
            trace.map((_, i) => page * pageBytes + i * widest),
          );
          expect(readPage(opened, page, command.length)).toEqual(command);
        }),
      );
    },
  );

  it('of 4 or 8 B is one transaction with all its bytes enabled', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    board.startTrace();
    opened.write32(registerBar, registerOffset(0, 0x20), 0x01020304);
    opened.write64(registerBar, registerOffset(0, 0x28), 0x05060708, 0x090a0b0c);
    board.runUntilIdle();
    expect(board.takeTrace()).toMatchObject([
      {
        kind: 'write',
        offset: registerOffset(0, 0x20),
        data: new Uint8Array([4, 3, 2, 1]),
        byteEnables: 0xfn,
      },
      {
        offset: registerOffset(0, 0x28),
        data: new Uint8Array([8, 7, 6, 5, 12, 11, 10, 9]),
        byteEnables: 0xffn,
      },
    ]);
  });

  it('with byte enables leaves the other bytes of the first and last DWORD unchanged', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    board.post({ bar: vcbBar, data: new Uint8Array(12).fill(1) });
    board.post({ bar: vcbBar, data: new Uint8Array(12).fill(2), byteEnables: 0x3f8n });
    board.runUntilIdle();
    expect(readPage(opened, 0, 16)).toEqual(new Uint8Array([1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0]));
  });

  it('that is no legal transaction cannot be posted', () => {
    const board = makeBoard();
    const data = new Uint8Array(12);
    expect(() => board.post({ data: new Uint8Array(68) })).toThrow(/within an aligned 64 B/);
    expect(() => board.post({ offset: 60, data })).toThrow(/within an aligned 64 B/);
    expect(() => board.post({ data: new Uint8Array(3) })).toThrow(/a multiple of 4/);
    expect(() => board.post({ offset: 2, data })).toThrow(/multiple of 4/);
    expect(() => board.post({ data, byteEnables: 0xf0fn })).toThrow(/first and last DWORD only/);
    expect(() => board.post({ data, byteEnables: 0x1fffn })).toThrow(/beyond its data/);
  });
});

describe('a read', () => {
  it.each(['shared', 'own', 'stepped'] as const)('flushes all writes before it, progress %s', (progress) => {
    for (const mapping of ['write_combining', 'adversarial', 'uncached'] as const) {
      const opened = openFunction(makeBoard({ progress, mapping }));
      for (let value = 1; value <= 100; value++) {
        opened.write32(vcbBar, 8, value);
        opened.write32(registerBar, registerOffset(0, 0x20), value + 1000);
        expect(opened.read32(registerBar, registerOffset(0, 0x20))).toBe(value + 1000);
        expect(opened.read32(vcbBar, 8)).toBe(value);
      }
    }
  });

  it('appears in the trace with its answer', () => {
    const board = makeBoard();
    const opened = openFunction(board, 1);
    board.startTrace();
    opened.read32(registerBar, 0);
    expect(board.takeTrace()).toMatchObject([
      {
        kind: 'read',
        underlyingFunction: 1,
        bar: 0,
        offset: 0,
        data: new Uint8Array([0x46, 0x56, 0x48, 0x43]),
      },
    ]);
  });
});

describe('a function', () => {
  it('reaches the identity page and its own register page, and no other address', () => {
    const board = makeBoard();
    const opened = openFunction(board, 1);
    expect(opened.read32(registerBar, 0)).toBe(magic);
    opened.write32(registerBar, registerOffset(1, 0x20), 5);
    expect(opened.read32(registerBar, registerOffset(1, 0x20))).toBe(5);
    expect(opened.read32(registerBar, registerOffset(0, 0x20))).toBe(allOnes);
    expect(opened.read32(registerBar, 0x8000)).toBe(allOnes);
    expect(opened.read32(5, 0)).toBe(allOnes);
    opened.write32(registerBar, registerOffset(0, 0x20), 6);
    opened.write32(registerBar, 0x8000, 6);
    board.runUntilIdle();
    expect(openFunction(board, 0).read32(registerBar, registerOffset(0, 0x20))).toBe(0);
    expect(board.counters()).toMatchObject({ writes: 1, writesUnsupported: 2, readsUnsupported: 3 });
  });

  it('cannot be opened if the board has fewer functions', () => {
    expect(() => makeBoard().open(2)).toThrow(/underlying function 2 does not exist: the board has 2/);
  });
});
