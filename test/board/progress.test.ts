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

describe('a stepped board', () => {
  it('does nothing unless asked to, and takes a tick for every unit of work', () => {
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

  it('advances time as told, and fires timers at their time on the way', () => {
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

  it('throws if the device does not become idle', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    for (let i = 0; i < 10; i++) opened.write32(vcbBar, 0, i);
    expect(() => board.runUntilIdle(10)).toThrow(/not idle after 10 units of work/);
    expect(board.runUntilIdle()).toBe(0);
  });

  it('is the only kind that step, runUntilIdle and advanceTime accept', () => {
    const board = makeBoard({ progress: 'own' });
    expect(() => board.step(1)).toThrow(/step needs a board with progress stepped/);
    expect(() => board.runUntilIdle()).toThrow(/runUntilIdle needs/);
    expect(() => board.advanceTime(1)).toThrow(/advanceTime needs/);
  });
});

describe.each(['shared', 'own', 'stepped'] as const)('progress %s', (progress) => {
  it('a full ring makes the poster wait, and loses no command', () => {
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

  it('the device completes more jobs than it takes at once', () => {
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
