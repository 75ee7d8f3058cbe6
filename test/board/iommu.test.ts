import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { BoardFunction, DmaMemory, EmulatedBoard } from '../../lib/board/addon.ts';
import { Random } from '../helpers/random.mjs';
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
  writeCommand,
} from '../helpers/register_file_board.ts';

/** The device writes `bytes` of page 0 to the host; returns whether the DMA was refused. */
function dmaWrite(board: EmulatedBoard, opened: BoardFunction, address: bigint, bytes: number): boolean {
  return dma(board, opened, job.writeHost, address, bytes);
}

function dma(
  board: EmulatedBoard,
  opened: BoardFunction,
  kind: number,
  address: bigint,
  bytes: number,
): boolean {
  const faults = registerOffset(0, engine.faults);
  const before = opened.read32(registerBar, faults);
  startJob(opened, 0, kind, { address, bytes });
  board.runUntilIdle();
  return opened.read32(registerBar, faults) !== before;
}

describe('DMA memory', () => {
  it('is zeroed, has whole pages, and is reached by the device at its address', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const memory = opened.allocateMemory(5000);
    expect(memory.buffer.byteLength).toBe(2 * pageBytes);
    expect(new Uint8Array(memory.buffer)).toEqual(new Uint8Array(2 * pageBytes));
    expect(memory.address).toBe((BigInt(memory.addressHigh) << 32n) | BigInt(memory.addressLow));
    expect(memory.address % 4096n).toBe(0n);
    const data = pattern(320);
    writeCommand(opened, 0, data);
    expect(dmaWrite(board, opened, memory.address + 4000n, 320)).toBe(false);
    expect(new Uint8Array(memory.buffer, 4000, 320)).toEqual(data);
    new Uint8Array(memory.buffer, 100, 8).set(pattern(8, 9));
    expect(dma(board, opened, job.readHost, memory.address + 100n, 8)).toBe(false);
    expect(readPage(opened, 0, 8)).toEqual(pattern(8, 9));
  });

  // Table entries can map blocks of 2 MiB and 1 GiB; memory of any size lies anywhere in such blocks.
  it.each([1, 2, 3])(
    'is reached on both sides of every internal boundary, and not beyond its end: seed %i',
    (seed) => {
      const board = makeBoard();
      const opened = openFunction(board);
      const random = new Random(seed);
      const [page, block] = [BigInt(pageBytes), 2 ** 21];
      const sizes = [pageBytes, block - pageBytes, block, 3 * block + pageBytes, 2 ** 30 + 5 * block];
      const data = pattern(64, seed);
      writeCommand(opened, 0, data);
      const memories = Array.from({ length: 12 }, () => opened.allocateMemory(random.pick(sizes)));
      const reaches = (address: bigint): boolean => {
        const isReached = !dmaWrite(board, opened, address, data.length);
        board.takeDmaFaults();
        return isReached;
      };
      const expectReached = (memory: DmaMemory): void => {
        const pages = memory.buffer.byteLength / pageBytes;
        const boundaries = Array.from({ length: 8 }, () => random.below(pages));
        for (const [unit, most] of [
          [block, 4],
          [2 ** 30, 2],
        ] as const) {
          const first = Number((BigInt(unit) - (memory.address % BigInt(unit))) / page);
          for (let at = first, times = 0; at < pages && times < most; at += unit / pageBytes, times += 1)
            boundaries.push(at - 1, at);
        }
        for (const at of [0, ...boundaries, pages - 1].filter((each) => each >= 0)) {
          const offset = at * pageBytes + 64 * random.below(64);
          const bytes = new Uint8Array(memory.buffer, offset, data.length);
          bytes.fill(0);
          expect([at, reaches(memory.address + BigInt(offset))]).toEqual([at, true]);
          expect(bytes).toEqual(data);
        }
      };
      for (const memory of memories) expectReached(memory);
      const last = memories.at(-1)!;
      expect(reaches(last.address + BigInt(last.buffer.byteLength))).toBe(false);
      // A removed mapping is reached nowhere; its neighbors still are.
      for (const [index, memory] of memories.entries()) {
        if (index % 2 === 0) continue;
        const bytes = BigInt(memory.buffer.byteLength);
        memory.free();
        for (const at of [0n, (bytes / 2n / page) * page, bytes - page]) {
          expect(reaches(memory.address + at)).toBe(false);
        }
      }
      for (const [index, memory] of memories.entries()) if (index % 2 === 0) expectReached(memory);
    },
  );

  it('is detached and unmapped from the device by free()', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const memory = opened.allocateMemory(64);
    const view = new Uint8Array(memory.buffer);
    memory.free();
    memory.free();
    expect(view.length).toBe(0);
    expect(dmaWrite(board, opened, memory.address, 64)).toBe(true);
    expect(board.takeDmaFaults()).toMatchObject([{ address: memory.address, reason: 'not_mapped' }]);
  });

  it('is unmapped alone, even if neighboring buffers were accessed last', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const memories = Array.from({ length: 6 }, () => opened.allocateMemory(pageBytes));
    const isReached = ({ address }: DmaMemory): boolean => !dmaWrite(board, opened, address, 64);
    for (let times = 0; times < 2; times++) expect(memories.map(isReached)).toEqual(memories.map(() => true));
    const addresses = memories.map(({ address }) => address);
    for (const index of [1, 4, 0]) {
      memories[index]!.free();
      expect(addresses.map((address) => !dmaWrite(board, opened, address, 64))).toEqual(
        memories.map(({ buffer }) => buffer.byteLength !== 0),
      );
    }
  });

  it('is freed when its function is closed', () => {
    const board = makeBoard();
    const [opened, other] = [openFunction(board), openFunction(board)];
    const memory = opened.allocateMemory(64);
    opened.close();
    expect(memory.buffer.byteLength).toBe(0);
    expect(dmaWrite(board, other, memory.address, 64)).toBe(true);
  });
});

describe('a DMA is refused without touching memory, recorded, and reported to the device', () => {
  it('if it lies beyond the end, across it, or before the beginning', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    writeCommand(opened, 0, pattern(320));
    const memory = opened.allocateMemory(pageBytes);
    const wrong: [bigint, number][] = [
      [memory.address + 4096n, 4],
      [memory.address + 4092n, 8],
      [memory.address - 4n, 8],
      [0n, 4],
      [0xffff_ffff_ffff_fff8n, 64],
    ];
    for (const [address, bytes] of wrong) expect(dmaWrite(board, opened, address, bytes)).toBe(true);
    expect(new Uint8Array(memory.buffer)).toEqual(new Uint8Array(pageBytes));
    expect(board.takeDmaFaults()).toMatchObject(
      wrong.map(([address, bytes]) => ({
        underlyingFunction: 0,
        address,
        bytes,
        direction: 'write',
        reason: 'not_mapped',
      })),
    );
    expect(board.takeDmaFaults()).toEqual([]);
    expect(board.counters().dmaFaults).toBe(wrong.length);
  });

  it('if the mapping lacks the right', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const memory = new ArrayBuffer(pageBytes);
    const readable = opened.map(memory, 'read');
    expect(dmaWrite(board, opened, readable, 8)).toBe(true);
    expect(dma(board, opened, job.readHost, readable, 8)).toBe(false);
    const writable = opened.map(memory, 'write');
    expect(dmaWrite(board, opened, writable, 8)).toBe(false);
    expect(dma(board, opened, job.readHost, writable, 8)).toBe(true);
    expect(board.takeDmaFaults().map(({ reason, direction }) => [reason, direction])).toEqual([
      ['no_right', 'write'],
      ['no_right', 'read'],
    ]);
  });

  it('if it uses an address of another function', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    const foreign = openFunction(board, 1).allocateMemory(pageBytes);
    expect(dmaWrite(board, opened, foreign.address, 8)).toBe(true);
  });
});

describe('foreign memory', () => {
  it('is mapped byte by byte, at any offset of its buffer', () => {
    const board = makeBoard();
    const opened = openFunction(board);
    writeCommand(opened, 0, pattern(320));
    fc.assert(
      fc.property(fc.nat({ max: 9000 }), fc.integer({ min: 1, max: 320 }), (begin, bytes) => {
        const whole = new Uint8Array(10_000);
        const address = opened.map(whole.subarray(begin, begin + bytes));
        expect(dmaWrite(board, opened, address, bytes)).toBe(false);
        expect(dmaWrite(board, opened, address, bytes + 1)).toBe(true);
        expect(dmaWrite(board, opened, address - 1n, 1)).toBe(true);
        const expected = new Uint8Array(10_000);
        expected.set(pattern(320).subarray(0, bytes), begin);
        expect(Buffer.compare(whole, expected)).toBe(0);
        opened.unmap(address);
        expect(dmaWrite(board, opened, address, 1)).toBe(true);
      }),
    );
  });

  it('is refused if it is detached, resizable, shared or no memory', () => {
    const opened = openFunction(makeBoard());
    const detached = new ArrayBuffer(8);
    structuredClone(detached, { transfer: [detached] });
    const resizable = Reflect.construct(ArrayBuffer, [8, { maxByteLength: 16 }]) as ArrayBuffer;
    expect(() => opened.map(detached)).toThrow(/empty or detached/);
    expect(() => opened.map(new Uint8Array(0))).toThrow(/empty or detached/);
    expect(() => opened.map(resizable)).toThrow(/resizable/);
    expect(() => opened.map(new Uint8Array(resizable))).toThrow(/resizable/);
    expect(() => opened.map(new Uint8Array(new SharedArrayBuffer(8)))).toThrow(/SharedArrayBuffer/);
    expect(() => opened.map({} as ArrayBuffer)).toThrow(/must be an ArrayBuffer or a view/);
    expect(() => opened.map(new ArrayBuffer(8), 'all' as 'read')).toThrow(/read, write, read_write/);
    expect(() => opened.unmap(4096n)).toThrow(/nothing is mapped at 4096/);
  });
});

describe('many mappings', () => {
  it('never overlap, and each leads to its own memory, through random maps and unmaps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 20_000 }), unmap: fc.option(fc.nat()) }), {
          maxLength: 40,
        }),
        (steps) => {
          const board = makeBoard();
          const opened = openFunction(board);
          const live: { address: bigint; memory: Uint8Array }[] = [];
          steps.forEach(({ bytes, unmap }, i) => {
            const memory = new Uint8Array(bytes).fill(i + 1);
            live.push({ address: opened.map(memory), memory });
            if (unmap === null) return;
            const [gone] = live.splice(unmap % live.length, 1);
            if (gone !== undefined) opened.unmap(gone.address);
          });
          const ranges = live.map(
            ({ address, memory }) => [address, address + BigInt(memory.length)] as const,
          );
          ranges.sort(([a], [b]) => Number(a - b));
          ranges.forEach(([begin], i) => {
            expect(begin >= (ranges[i - 1]?.[1] ?? 0n)).toBe(true);
          });
          for (const { address, memory } of live) {
            expect(dma(board, opened, job.readHost, address + BigInt(memory.length - 1), 1)).toBe(false);
            expect(readPage(opened, 0, 4)[0]).toBe(memory[0]);
          }
          opened.close();
          board.close();
        },
      ),
      { numRuns: 50 },
    );
  });
});
