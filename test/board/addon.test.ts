import { describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import { magic, makeBoard, openFunction, registerBar, vcbBar } from '../helpers/register_file_board.ts';

const { EmulatedBoard, cacheLineRoundTrip } = loadAddon();

describe('a closed board or function', () => {
  it('throws ERR_CLOSED from every call, and can be closed again', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const memory = opened.allocateMemory(64);
    const { write } = opened.commandWriter(memory, vcbBar);
    const kept = openFunction(board).allocateMemory(64);
    opened.close();
    opened.close();
    const closed: unknown = expect.objectContaining({ code: 'ERR_CLOSED' });
    expect(() => opened.read32(0, 0)).toThrow(closed);
    expect(() => opened.write32(0, 0, 0)).toThrow(closed);
    expect(() => opened.write64(0, 0, 0, 0)).toThrow(closed);
    expect(() => opened.fence()).toThrow(closed);
    expect(() => opened.advance()).toThrow(closed);
    expect(() => opened.allocateMemory(1)).toThrow(closed);
    expect(() => opened.map(new Uint8Array(8))).toThrow(closed);
    expect(() => opened.commandWriter(kept, vcbBar)).toThrow(closed);
    expect(() => opened.interrupt(0, () => undefined)).toThrow(closed);
    expect(() => opened.facts()).toThrow(closed);
    expect(() => write(0, 0, 64)).toThrow(closed);
    board.close();
    board.close();
    expect(() => board.now()).toThrow(closed);
    expect(() => board.open(0)).toThrow(closed);
  });

  it('leaves a function usable when only the handle of its board is closed', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    board.close();
    expect(opened.read32(registerBar, 0)).toBe(magic);
  });
});

describe('an error names the wrong argument', () => {
  it('of a board', () => {
    const make = (options: object) => () => new EmulatedBoard(options);
    expect(make({ progress: 'fast' })).toThrow(/progress must be one of shared, own, stepped/);
    expect(make({ prgress: 'own' })).toThrow(/board options have no field prgress/);
    expect(make({ seed: -1 })).toThrow(/seed is -1/);
    expect(make({ doubleWordOnly: 1 })).toThrow(/doubleWordOnly must be true or false/);
    expect(make({ underlyingFunctions: 9 })).toThrow(
      /underlyingFunctions is 9, but must be a whole number from 0 to 8/,
    );
    expect(make({ physicalCollectBuffers: 0 })).toThrow(/physical_collect_buffers is 0; it can be 1 to 64/);
  });

  it('of a function', () => {
    const opened = openFunction(makeBoard());
    expect(() => opened.read32(6, 0)).toThrow(/bar is 6/);
    expect(() => opened.read32(0, 2)).toThrow(/offset is 2, but must be a multiple of 4/);
    expect(() => opened.read32(0, 1.5)).toThrow(/offset is 1.5/);
    expect(() => opened.write32(0, 0, 2 ** 32)).toThrow(/value is 4294967296/);
    expect(() => opened.write32('0' as unknown as number, 0, 0)).toThrow(/bar must be a number/);
    expect(() => opened.write64(0, 4, 0, 0)).toThrow(/multiple of 8/);
    expect(() => opened.allocateMemory(0)).toThrow(/bytes is 0, but must be at least 1/);
    expect(() => opened.commandWriter({} as never, 2)).toThrow(/DmaMemory of allocateMemory/);
  });

  it('of a command writer, which reads nothing outside its memory and writes nothing misaligned', () => {
    const opened = openFunction(makeBoard());
    const { write } = opened.commandWriter(opened.allocateMemory(4096), vcbBar);
    write(64, 4096 - 320, 320);
    const wrong = [
      [0, 0, 0],
      [0, 0, 6],
      [0, 0, 324],
      [8, 0, 64],
      [0, 4, 64],
      [0, 4096 - 312, 320],
      [0, 4096, 4],
      [0, -8, 64],
      [-64, 0, 3],
    ] as const;
    for (const [to, from, length] of wrong) expect(() => write(to, from, length)).toThrow(RangeError);
    expect(() => write('0' as unknown as number, 0, 64)).toThrow(TypeError);
  });
});

describe('boards with the same name', () => {
  it('are one board as long as one of them is open', () => {
    const [first, second] = [0, 1].map(
      () => new EmulatedBoard({ name: 'shared by name', progress: 'stepped' }),
    );
    first?.advanceTime(1000);
    expect(second?.now()).toBe(1000n);
    expect(() => new EmulatedBoard({ name: 'shared by name', progress: 'own' })).toThrow(
      /open with other options/,
    );
    first?.close();
    second?.close();
    const fresh = new EmulatedBoard({ name: 'shared by name', progress: 'own' });
    fresh.close();
  });
});

describe('the addon', () => {
  it('reports the facts of an open function', () => {
    expect(openFunction(makeBoard({ progress: 'stepped', mapping: 'uncached' }), 1).facts()).toEqual({
      backend: 'emu',
      progress: 'stepped',
      clock: 'virtual',
      mapping: 'uncached',
      storeBytes: 8,
      commandStore: 'messages',
      underlyingFunction: 1,
      interruptVectors: 8,
    });
  });

  it('measures the cache-line round trip as many times as asked', () => {
    const samples = cacheLineRoundTrip(100, -1, -1);
    expect(samples).toHaveLength(100);
    expect(samples.every((nanoseconds) => nanoseconds >= 0)).toBe(true);
    expect(() => cacheLineRoundTrip(-1, -1, -1)).toThrow(/iterations is -1/);
  });
});
