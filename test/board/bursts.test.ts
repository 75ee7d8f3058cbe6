import { describe, expect, it } from 'vitest';

import type { BoardFunction, BoardOptions, EmulatedBoard } from '../../lib/board/addon.ts';
import {
  engine,
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

const command = pattern(160); // three transactions
const inboxPackets = 64; // native/link/fabric.h
const jobsAtOnce = 4; // native/test/register_file_device.h
const writesPerJob = 4; // startJob()

interface Opened {
  board: EmulatedBoard;
  opened: BoardFunction;
}

function open(options: BoardOptions): Opened {
  const board = makeBoard(options);
  return { board, opened: openFunction(board) };
}

const bursts = (from: BoardFunction): number => from.read32(registerBar, registerOffset(0, engine.bursts));

describe.each(['shared', 'own'] as const)(
  'the transactions of one posted message, progress %s',
  (progress) => {
    it('reach the device as one burst, and each is counted', () => {
      const { board, opened } = open({ progress });
      writeCommand(opened, pageBytes, command);
      expect(bursts(opened)).toBe(1);
      expect(readPage(opened, 1, command.length)).toEqual(command);
      expect(board.counters().writes).toBe(3);
    });

    it('reach the device one by one where it takes no burst', () => {
      const { board, opened } = open({ progress });
      writeCommand(opened, pageBytes + 64, command);
      expect(bursts(opened)).toBe(0);
      expect(readPage(opened, 1, 64 + command.length).slice(64)).toEqual(command);
      expect(board.counters().writes).toBe(3);
    });

    const alone: { what: string; options?: BoardOptions; prepare?: (to: Opened) => void; writes: number }[] =
      [
        { what: 'are recorded', prepare: ({ board }) => board.startTrace(), writes: 3 },
        {
          what: 'may match a fault rule',
          prepare: ({ board }) => board.inject({ kind: 'drop', bar: 0 }),
          writes: 3,
        },
        { what: 'have 8 B each', options: { mapping: 'uncached' }, writes: 20 },
        { what: 'have one DWORD each', options: { doubleWordOnly: true }, writes: 40 },
      ];
    it.each(alone)('reach the device one by one if they $what', ({ options, prepare, writes }) => {
      const made = open({ progress, ...options });
      prepare?.(made);
      writeCommand(made.opened, pageBytes, command);
      expect(readPage(made.opened, 1, command.length)).toEqual(command);
      expect(bursts(made.opened)).toBe(0);
      expect(made.board.counters().writes).toBe(writes);
    });

    it('reach the device one by one if they write registers or carry byte enables', () => {
      const { board, opened } = open({ progress });
      opened.write32(registerBar, registerOffset(0, 0x20), 7);
      board.post({ bar: vcbBar, data: new Uint8Array(8).fill(3), byteEnables: 0x3fn });
      expect(readPage(opened, 0, 8)).toEqual(new Uint8Array([3, 3, 3, 3, 3, 3, 0, 0]));
      expect(bursts(opened)).toBe(0);
    });

    it('wait until the device accepts the burst', () => {
      const fabric = `bursts.test ${progress}`;
      const { board, opened } = open({ progress, fabric });
      const peer = open({ progress: 'stepped', fabric });
      const packet = pattern(64);
      packet.set([0x02, 0xf0, 10, peer.board.boardNumber() >> 8, peer.board.boardNumber() & 0xff, 1]);
      writeCommand(opened, 0, packet);
      const jobs = inboxPackets + jobsAtOnce;
      for (let each = 0; each < jobs; each++) startJob(opened, 0, job.sendPacket, { bytes: packet.length });
      const before = 1 + jobs * writesPerJob;
      for (let asked = 0; asked < 1_000_000 && board.counters().writes !== before; asked++) opened.advance();
      writeCommand(opened, pageBytes, command);
      for (let asked = 0; asked < 1000; asked++) opened.advance();
      expect(board.counters().writes).toBe(before);
      peer.board.runUntilIdle();
      expect(readPage(opened, 1, command.length)).toEqual(command);
      expect(bursts(opened)).toBe(2);
    });
  },
);
