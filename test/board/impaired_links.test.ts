import { describe, expect, it } from 'vitest';

import type { BoardFunction, BoardOptions, EmulatedBoard } from '../../lib/board/addon.ts';
import type { LinkImpairment, LinkImpairmentCounters } from '../../lib/board/faults.ts';
import { EmulatedFabric } from '../../lib/board/index.ts';
import {
  engine,
  job,
  makeBoard,
  openFunction,
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

interface End {
  board: EmulatedBoard;
  function: BoardFunction;
}

let fabrics = 0;

/** Stepped boards of a fabric. */
function makeEnds(count: number, options: BoardOptions = {}): End[] {
  const fabric = `impaired_links.test ${(fabrics += 1)}`;
  return Array.from({ length: count }, () => {
    const board = makeBoard({ progress: 'stepped', fabric, ...options });
    return { board, function: openFunction(board) };
  });
}

/** 02:f0 and the IPv4 address 10.0.0.x of function 0 at the first port. */
const macOf = ({ board }: End): number[] => {
  const number = board.boardNumber();
  return [0x02, 0xf0, 10, number >> 8, number & 0xff, 1];
};

/** Sends packet `seed` from one end to another: a frame whose bytes after the addresses follow from the seed. */
function send(from: End, to: End, seed: number): Uint8Array {
  const bytes = pattern(packetBytes, seed);
  bytes.set([...macOf(to), ...macOf(from)]);
  const words = new Uint32Array(bytes.buffer);
  words.forEach((value, index) => from.function.write32(vcbBar, 4 * index, value));
  startJob(from.function, 0, job.sendPacket, { bytes: packetBytes });
  from.board.runUntilIdle();
  return bytes;
}

const received = (end: End): number => end.function.read32(registerBar, registerOffset(0, engine.received));
const newest = (end: End): Uint8Array => readPage(end.function, pages - 1, packetBytes);
const none: LinkImpairmentCounters = { packets: 0, lost: 0, duplicated: 0, corrupted: 0, reordered: 0 };

describe('an impaired link', () => {
  it.each<[string, LinkImpairment, number]>([
    ['loses all', { loss: 1 }, 0],
    ['loses none', { loss: 0 }, 5],
    ['loses one', { loss: 1, nth: 2, count: 1 }, 4],
    ['loses all from the third on', { loss: 1, nth: 2 }, 2],
    ['duplicates all', { duplication: 1 }, 10],
    ['duplicates as many packets as its count', { duplication: 1, count: 3 }, 8],
    ['loses only the packets of another board', { loss: 1, fromBoard: 7 }, 5],
    ['loses the packets of this board', { loss: 1, fromBoard: 0 }, 0],
    ['loses only responses', { loss: 1, lane: 'responses' }, 5],
    ['loses only requests', { loss: 1, lane: 'requests' }, 0],
    ['loses only the packets to a queue pair', { loss: 1, queuePair: 3 }, 5],
    ['loses only the packets from a queue pair', { loss: 1, sourceQueuePair: 3 }, 5],
  ])('%s', (_, rule, arrive) => {
    const [a, b] = makeEnds(2) as [End, End];
    const id = b.board.impair(rule);
    for (let packet = 0; packet < 5; packet += 1) send(a, b, packet);
    expect(received(b)).toBe(arrive);
    const { lost, duplicated } = b.board.impaired(id);
    expect(5 - lost + duplicated).toBe(arrive);
  });

  it('is impaired in one direction only, until the impairment is removed', () => {
    const [a, b] = makeEnds(2) as [End, End];
    const id = b.board.impair({ loss: 1 });
    send(a, b, 1);
    send(b, a, 2);
    expect([received(a), received(b)]).toEqual([1, 0]);
    b.board.clearImpairments(id);
    send(a, b, 3);
    expect(received(b)).toBe(1);
    expect(() => b.board.impaired(id)).toThrow(`there is no impairment ${id}`);
    expect(() => b.board.clearImpairments(id)).toThrow(RangeError);
  });

  it('flips one bit of a packet that it corrupts', () => {
    const [a, b] = makeEnds(2) as [End, End];
    b.board.impair({ corruption: 1 });
    const bytes = send(a, b, 9);
    const turned = newest(b).reduce((bits, byte, index) => bits + ones(byte ^ bytes[index]!), 0);
    expect(turned).toBe(1);
  });

  it('delivers a packet after its delay, not before', () => {
    const [a, b] = makeEnds(2) as [End, End];
    b.board.impair({ delay: 10_000 });
    const begin = b.board.now();
    send(a, b, 1);
    const sent = b.board.now();
    b.board.advanceTime(10_000n - (sent - begin));
    expect(received(b)).toBe(0);
    b.board.advanceTime(sent - begin);
    expect(received(b)).toBe(1);
  });

  it('lets later packets overtake a reordered one', () => {
    const [a, b] = makeEnds(2) as [End, End];
    b.board.impair({ reordering: 1, count: 1, reorderDelay: 50_000 });
    const [first, second] = [send(a, b, 1), send(a, b, 2)];
    expect(newest(b)).toEqual(second);
    b.board.advanceTime(50_000);
    expect(newest(b)).toEqual(first);
  });

  it('does not impair a packet that the test injects as received, whatever its content', () => {
    const [, b] = makeEnds(2) as [End, End];
    b.board.impair({ loss: 1 });
    const bytes = pattern(packetBytes, 5);
    b.board.arrive(bytes);
    b.board.runUntilIdle();
    expect(received(b)).toBe(1);
    expect(newest(b)).toEqual(bytes);
    expect(() => b.board.arrive(bytes, 2)).toThrow('nothing is attached to port 2');
    expect(() => b.board.arrive(new Uint8Array(0))).toThrow(/a packet has 1 to \d+ B, not 0/);
    expect(() => b.board.arrive(new Uint8Array(10_000))).toThrow(RangeError);
    expect(() => b.board.arrive(new Uint16Array(8) as unknown as Uint8Array)).toThrow(TypeError);
  });

  it('delivers packets at its bit rate', () => {
    const [a, b] = makeEnds(2) as [End, End];
    const ticksPerPacket = 100_000;
    b.board.impair({ rate: (packetBytes * 8 * 1e9) / ticksPerPacket });
    for (let packet = 0; packet < 4; packet += 1) send(a, b, packet);
    for (let packet = 0; packet < 4; packet += 1) {
      expect(received(b)).toBe(packet);
      b.board.advanceTime(ticksPerPacket);
    }
    expect(received(b)).toBe(4);
  });

  it('repeats its impairments from the same seed, and differs between the directions', () => {
    const run = (seed: number): string[] => {
      const ends = makeEnds(2, { seed }) as [End, End];
      for (const { board } of ends) board.impair({ loss: 0.5 });
      return ends.map((to, index) =>
        Array.from({ length: 40 }, (_, packet) => {
          const before = received(to);
          send(ends[1 - index]!, to, packet);
          return received(to) - before;
        }).join(''),
      );
    };
    expect(run(3)).toEqual(run(3));
    expect(run(3)).not.toEqual(run(4));
    const [one, other] = run(3);
    expect(one).not.toBe(other);
  });

  it.each([
    [{ loss: 1.5 }, 'loss must be a number from 0 to 1'],
    [{ lane: 'both' }, 'lane must be one of responses, requests'],
    [
      { sourceQueuePair: 2 ** 24 },
      'sourceQueuePair is 16777216, but must be a whole number from 0 to 16777215',
    ],
    [{ fromBoard: 1024 }, 'fromBoard is 1024, but must be a whole number from 0 to 1023'],
    [{ color: 1 }, 'link impairments have no field color'],
  ])('refuses %j', (rule, message) => {
    const [a] = makeEnds(1) as [End];
    expect(() => a.board.impair(rule as LinkImpairment)).toThrow(message);
  });
});

describe('an emulated fabric', () => {
  it('impairs the links of its boards, and counts for all of them', () => {
    using fabric = new EmulatedFabric();
    const boards = [0, 1].map(() => fabric.makeBoard({ progress: 'stepped' }));
    const impairment = fabric.impair({ loss: 1 });
    expect(impairment.counters).toEqual(none);
    impairment.remove();
    expect(() => impairment.counters).toThrow('there is no impairment');
    for (const board of boards) board.close();
  });
});

const ones = (byte: number): number => byte.toString(2).replaceAll('0', '').length;
