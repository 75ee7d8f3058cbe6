import { describe, expect, it } from 'vitest';

import {
  engine,
  job,
  makeBoard,
  openFunction,
  pageBytes,
  registerBar,
  registerOffset,
  startJob,
  vcbBar,
  writeCommand,
} from '../helpers/register_file_board.ts';

describe('stepped', () => {
  it('nothing happens unless it is asked for, and every unit of work takes a tick', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const memory = opened.allocateMemory(64);
    const words = new Uint32Array(memory.buffer);
    opened.write32(vcbBar, 0, 77);
    startJob(opened, 0, job.writeHost, { address: memory.address, bytes: 4 });
    expect([board.now(), words[0]]).toEqual([0n, 0]);
    expect(board.step(5)).toBe(5);
    expect([board.now(), words[0]]).toEqual([5n, 0]);
    expect(opened.advance()).toBe(true);
    expect([board.now(), words[0]]).toEqual([6n, 77]);
    expect(board.step(5)).toBe(0);
    expect(opened.advance()).toBe(false);
    expect(board.now()).toBe(6n);
  });

  it('time goes on where it is told to, past what becomes due at its time', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    opened.write64(registerBar, registerOffset(0, engine.deadline), 1000, 0);
    board.advanceTime(999n);
    expect([board.now(), board.counters().interrupts]).toEqual([999n, 0]);
    board.advanceTime(1);
    expect(board.runUntilIdle()).toBe(1);
    expect([board.now(), board.counters().interrupts]).toEqual([1001n, 1]);
    opened.write64(registerBar, registerOffset(0, engine.deadline), 3000, 0);
    board.advanceTime(10_000);
    expect([board.now(), board.counters().interrupts]).toEqual([11_001n, 2]);
  });

  it('a device that does not come to rest is an error', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    for (let i = 0; i < 10; i++) opened.write32(vcbBar, 0, i);
    expect(() => board.runUntilIdle(10)).toThrow(/not idle after 10 units of work/);
    expect(board.runUntilIdle()).toBe(0);
  });

  it('only a stepped board is stepped', () => {
    const board = makeBoard({ progress: 'own' });
    expect(() => board.step(1)).toThrow(/step needs a board with progress stepped/);
    expect(() => board.runUntilIdle()).toThrow(/runUntilIdle needs/);
    expect(() => board.advanceTime(1)).toThrow(/advanceTime needs/);
  });
});

describe.each(['shared', 'own', 'stepped'] as const)('progress %s', (progress) => {
  it('a ring full of commands stops the poster, and loses nothing', () => {
    const board = makeBoard({ progress });
    const opened = openFunction(board);
    const memory = opened.allocateMemory(512);
    const { write } = opened.commandWriter(memory, vcbBar);
    const words = new Uint32Array(memory.buffer);
    for (let i = 1; i <= 2000; i++) {
      words[0] = i;
      write((i % 16) * pageBytes, 0, 320);
    }
    expect(opened.read32(vcbBar, 0)).toBe(2000);
    expect(board.counters().writes).toBe(5 * 2000);
  });

  it('more jobs than the device takes at once are all done', () => {
    const board = makeBoard({ progress });
    const opened = openFunction(board);
    const memory = opened.allocateMemory(4 * 50);
    const words = new Uint32Array(memory.buffer);
    for (let i = 0; i < 50; i++) {
      writeCommand(opened, (i % 16) * pageBytes, new Uint8Array(Uint32Array.of(i + 1).buffer));
      startJob(opened, 0, job.writeHost, { address: memory.address + BigInt(4 * i), bytes: 4, page: i % 16 });
    }
    while (Atomics.load(words, 49) === 0) opened.advance();
    if (progress === 'stepped') board.runUntilIdle();
    expect([...words.subarray(0, 50)]).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });
});
