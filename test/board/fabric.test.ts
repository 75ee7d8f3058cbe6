import { describe, expect, it } from 'vitest';

import type { BoardFunction, BoardOptions, EmulatedBoard, Progress } from '../../lib/board/addon.ts';
import {
  engine,
  job,
  makeBoard,
  openFunction,
  pageBytes,
  pages,
  pattern,
  readPage,
  registerBar,
  registerOffset,
  startJob,
  vcbBar,
} from '../helpers/register_file_board.ts';

// The device is a register file: its engine sends a VCB page as a packet, and the last page holds the newest that arrived.

const packetBytes = 64;
const inboxPackets = 64; // native/link/fabric.h

let fabrics = 0;
const newFabric = (): string => `fabric.test ${(fabrics += 1)}`;

interface End {
  board: EmulatedBoard;
  function: BoardFunction;
}

function makeEnd(fabric: string, options: BoardOptions): End {
  const board = makeBoard({ ...options, fabric });
  return { board, function: openFunction(board) };
}

/** 02:f0 and the IPv4 address 10.0.0.x of function 0 at the first port. */
const macOf = (board: EmulatedBoard): number[] => {
  const number = board.boardNumber();
  return [0x02, 0xf0, 10, number >> 8, number & 0xff, 1];
};

function frame(to: EmulatedBoard, from: EmulatedBoard, seed: number): Uint8Array {
  const bytes = pattern(packetBytes, seed);
  bytes.set([...macOf(to), ...macOf(from)]);
  return bytes;
}

function writePage(to: BoardFunction, page: number, bytes: Uint8Array): void {
  const dwords = new Uint32Array(bytes.buffer);
  dwords.forEach((value, index) => to.write32(vcbBar, page * pageBytes + 4 * index, value));
}

/** Sends the packet that lies in page 0 of an end. */
function send(from: End, bytes: Uint8Array): void {
  writePage(from.function, 0, bytes);
  startJob(from.function, 0, job.sendPacket, { bytes: packetBytes });
}

const register = (end: End, offset: number): number =>
  end.function.read32(registerBar, registerOffset(0, offset));

/** Polls both ends until a register has the value; with progress shared, polling drives the board. */
function waitFor(ends: readonly End[], end: End, offset: number, value: number): void {
  for (let asked = 0; register(end, offset) !== value; asked += 1) {
    if (asked === 1_000_000) throw new Error(`register ${offset} is ${register(end, offset)}, not ${value}`);
    for (const each of ends) each.function.advance();
  }
}

describe('a fabric', () => {
  it('delivers a packet to the board that has its destination address', () => {
    const fabric = newFabric();
    const [a, b, c] = [0, 1, 2].map(() => makeEnd(fabric, { progress: 'stepped' })) as [End, End, End];
    const bytes = frame(c.board, a.board, 3);
    send(a, bytes);
    a.board.runUntilIdle();
    expect([a, b, c].map((end) => register(end, engine.received))).toEqual([0, 0, 1]);
    expect(readPage(c.function, pages - 1, packetBytes)).toEqual(bytes);
    expect(register(a, engine.sent)).toBe(1);
  });

  it('reports a send to an address that no board has', () => {
    const fabric = newFabric();
    const a = makeEnd(fabric, { progress: 'stepped' });
    const stranger = makeEnd(newFabric(), { progress: 'stepped', boardNumber: 7 });
    send(a, frame(stranger.board, a.board, 1));
    a.board.runUntilIdle();
    expect([register(a, engine.sent), register(a, engine.faults)]).toEqual([0, 1]);
    expect(register(stranger, engine.received)).toBe(0);
  });

  it('steps its boards on one clock, and repeats the same run exactly', () => {
    const run = (): bigint[] => {
      const fabric = newFabric();
      const ends = [0, 1].map(() => makeEnd(fabric, { progress: 'stepped' })) as [End, End];
      const [a, b] = ends;
      const times: bigint[] = [];
      for (let packet = 0; packet < 5; packet += 1) {
        send(a, frame(b.board, a.board, packet));
        send(b, frame(a.board, b.board, packet));
        b.board.runUntilIdle();
        times.push(a.board.now());
      }
      expect(ends.map((end) => register(end, engine.received))).toEqual([5, 5]);
      expect(a.board.now()).toBe(b.board.now());
      a.board.advanceTime(1000);
      times.push(b.board.now());
      return times;
    };
    expect(run()).toEqual(run());
  });

  it('lets each of its boards do one unit of work per tick', () => {
    const ticks = (boards: number): number => {
      const fabric = newFabric();
      const ends = Array.from({ length: boards }, () => makeEnd(fabric, { progress: 'stepped' }));
      for (const end of ends) writePage(end.function, 0, pattern(40));
      return ends[0]!.board.runUntilIdle();
    };
    expect(ticks(3)).toBe(ticks(1));
  });

  it('pauses the sender, and loses no packet, while its peer takes none', () => {
    const fabric = newFabric();
    const a = makeEnd(fabric, { progress: 'shared' });
    const b = makeEnd(fabric, { progress: 'stepped' });
    const more = 3;
    for (let packet = 0; packet < inboxPackets + more; packet += 1) send(a, frame(b.board, a.board, packet));
    waitFor([a], a, engine.sent, inboxPackets);
    a.function.advance();
    expect(register(a, engine.sent)).toBe(inboxPackets);
    b.board.runUntilIdle();
    waitFor([a], a, engine.sent, inboxPackets + more);
    b.board.runUntilIdle();
    expect(register(b, engine.received)).toBe(inboxPackets + more);
  });

  it.each<[Progress, Progress]>([
    ['shared', 'shared'],
    ['shared', 'own'],
    ['own', 'shared'],
    ['own', 'own'],
  ])('carries packets both ways between boards with progress %s and %s', (one, other) => {
    const fabric = newFabric();
    const a = makeEnd(fabric, { progress: one });
    const b = makeEnd(fabric, { progress: other });
    const packets = 300;
    for (let packet = 0; packet < packets; packet += 1) {
      send(a, frame(b.board, a.board, packet));
      send(b, frame(a.board, b.board, packet));
    }
    waitFor([a, b], b, engine.received, packets);
    waitFor([a, b], a, engine.received, packets);
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const)
      expect(readPage(to.function, pages - 1, packetBytes)).toEqual(frame(to.board, from.board, packets - 1));
  });

  it('delivers the queued packets of a board that has been closed', () => {
    const fabric = newFabric();
    const a = makeEnd(fabric, { progress: 'shared' });
    const b = makeEnd(fabric, { progress: 'stepped' });
    const frames = Array.from({ length: inboxPackets }, (_, packet) => frame(b.board, a.board, packet));
    for (const bytes of frames) send(a, bytes);
    waitFor([a], a, engine.sent, inboxPackets);
    a.function.close();
    a.board.close();
    for (const [packet, bytes] of frames.entries()) {
      while (register(b, engine.received) === packet) expect(b.board.step(1)).toBe(1);
      expect(readPage(b.function, pages - 1, packetBytes)).toEqual(bytes);
    }
    expect(register(b, engine.received)).toBe(inboxPackets);
  });

  it('numbers its boards, and reuses the number of a closed board', () => {
    const fabric = newFabric();
    const options: BoardOptions = { progress: 'stepped', fabric };
    const numbers = [makeBoard(options), makeBoard({ ...options, boardNumber: 2 }), makeBoard(options)];
    expect(numbers.map((board) => board.boardNumber())).toEqual([0, 2, 1]);
    expect(() => makeBoard({ ...options, boardNumber: 2 })).toThrow(
      `fabric ${fabric} has no place for the board: its boardNumber is in use`,
    );
    numbers[1]!.close();
    expect(makeBoard({ ...options, boardNumber: 2 }).boardNumber()).toBe(2);
    expect(() => makeBoard({ ...options, boardNumber: 1024 })).toThrow(RangeError);
  });

  it('reports a send to a board that has been closed', () => {
    const fabric = newFabric();
    const [a, b] = [0, 1].map(() => makeEnd(fabric, { progress: 'stepped' })) as [End, End];
    const bytes = frame(b.board, a.board, 1);
    b.function.close();
    b.board.close();
    send(a, bytes);
    a.board.runUntilIdle();
    expect(register(a, engine.faults)).toBe(1);
  });
});
