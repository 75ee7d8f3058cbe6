import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { RemappingRoot } from '../../lib/board/addon.ts';
import type { DmaFault } from '../../lib/board/faults.ts';
import { job, makeBoard, openFunction, pageBytes, startJob } from '../helpers/register_file_board.ts';

const page = BigInt(pageBytes);
const entries = 512n;
const rights = { read: 1n, write: 2n, both: 3n };
const large = 1n << 7n;
const sourceId = (3 << 8) | (16 << 3) | 2;
const memoryBytes = 4 << 20;

/** The memory of another machine; its remapping tables are written by page number and index. */
class MachineMemory {
  readonly bytes = Buffer.alloc(memoryBytes);

  entry(table: bigint, index: bigint, value: bigint): void {
    this.bytes.writeBigUInt64LE(value, Number(table * page + index * 8n));
  }

  /** Root and context entry of the function. @param levels 2 to 4. @param type 0: translated by tables from page `top` on, 2: passed through */
  context(top: bigint, levels: bigint, type = 0n): RemappingRoot {
    this.entry(1n, 2n * 3n, (2n * page) | 1n);
    const index = BigInt(sourceId & 0xff);
    this.entry(2n, 2n * index, (top * page) | (type << 2n) | 1n);
    this.entry(2n, 2n * index + 1n, (7n << 8n) | (levels - 2n));
    return { rootTable: page, sourceId };
  }
}

/** Has the device write 8 B at an address; returns the DMA faults, and the offsets that changed in the machine's memory. */
function written(
  memory: MachineMemory,
  root: RemappingRoot | undefined,
  address: bigint,
  kind: number = job.writeHost,
): { faults: DmaFault[]; changed: number[] } {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-tables-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'memory');
  writeFileSync(file, memory.bytes);
  const board = makeBoard();
  const opened = openFunction(board);
  opened.write64(2, 0, 0xffff_ffff, 0xffff_ffff);
  board.runUntilIdle();
  board.attachMemory(0, file, memoryBytes, root);
  startJob(opened, 0, kind, { address, bytes: 8 });
  board.runUntilIdle();
  const faults = board.takeDmaFaults();
  board.detachMemory(0);
  const after = readFileSync(file);
  const changed: number[] = [];
  const differs = (at: number, bytes: number): boolean =>
    after.compare(memory.bytes, at, at + bytes, at, at + bytes) !== 0;
  for (let begin = 0; begin < memoryBytes; begin += pageBytes)
    for (let at = begin; differs(begin, pageBytes) && at < begin + pageBytes; at += 8)
      if (differs(at, 8)) changed.push(at);
  rmSync(folder, { recursive: true });
  return { faults, changed };
}

describe('the remapping tables of another machine', () => {
  it.each([2n, 3n, 4n])('are walked through %i levels', (levels) => {
    const memory = new MachineMemory();
    const root = memory.context(4n, levels);
    const indices = [5n, 6n, 7n, 8n].slice(0, Number(levels));
    for (const [step, index] of indices.entries()) {
      const last = step + 1 === indices.length;
      memory.entry(BigInt(4 + step), index, ((last ? 100n : BigInt(5 + step)) * page) | rights.both);
    }
    const address = indices.reduce((number, index) => number * entries + index, 0n) * page + 0x128n;
    expect(written(memory, root, address)).toEqual({ faults: [], changed: [100 * pageBytes + 0x128] });
    for (const beyond of [address + page, address + (1n << (12n + 9n * levels))])
      expect(written(memory, root, beyond)).toMatchObject({
        faults: [{ reason: 'not_mapped' }],
        changed: [],
      });
  });

  it('map large pages', () => {
    const memory = new MachineMemory();
    const root = memory.context(4n, 3n);
    memory.entry(4n, 0n, (5n * page) | rights.both);
    memory.entry(5n, 9n, (entries * page) | large | rights.both); // 2 MiB
    memory.entry(4n, 1n, large | rights.both); // 1 GiB
    const two = 9n * entries * page + 0x1_2340n;
    expect(written(memory, root, two).changed).toEqual([(2 << 20) + 0x1_2340]);
    expect(written(memory, root, (1n << 30n) + 0x30_0008n).changed).toEqual([0x30_0008]);
    expect(written(memory, root, (1n << 30n) + BigInt(memoryBytes)).faults).toHaveLength(1);
  });

  it('grant only the rights that every level grants', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 3n), fc.bigInt(0n, 3n), (upper, lower) => {
        const memory = new MachineMemory();
        const root = memory.context(4n, 2n);
        memory.entry(4n, 0n, (5n * page) | upper);
        memory.entry(5n, 1n, (100n * page) | lower);
        for (const [kind, right] of [
          [job.writeHost, rights.write],
          [job.readHost, rights.read],
        ] as const) {
          const { faults } = written(memory, root, page, kind);
          const reason = (upper & lower) === 0n ? 'not_mapped' : 'no_right';
          expect(faults.map((fault) => fault.reason)).toEqual((upper & lower & right) === 0n ? [reason] : []);
        }
      }),
      { numRuns: 16 },
    );
  });

  it('can pass a function through, or block it', () => {
    const memory = new MachineMemory();
    expect(written(memory, memory.context(0n, 3n, 2n), 100n * page).changed).toEqual([100 * pageBytes]);
    // A root entry that is not present, although its context would pass the function through.
    memory.entry(1n, 2n * 4n, 2n * page);
    const absent = (4 << 8) | (sourceId & 0xff);
    const refused = { faults: [{ reason: 'not_mapped' }], changed: [] };
    expect(written(memory, { rootTable: page, sourceId: absent }, 100n * page)).toMatchObject(refused);
    for (const root of [
      memory.context(4n, 3n, 1n), // translation type 1, which is not supported
      { rootTable: page, sourceId: sourceId + 1 },
      { rootTable: page, sourceId: sourceId + 256 },
      { rootTable: BigInt(memoryBytes), sourceId },
    ])
      expect(written(memory, root, 100n * page)).toMatchObject(refused);
    expect(written(memory, undefined, 100n * page).changed).toEqual([100 * pageBytes]);
  });
});

describe('the memory of another machine', () => {
  it('is attached to and detached from each function separately', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-tables-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const files = [0, 1].map((number) => path.join(folder, `${number}`));
    for (const file of files) writeFileSync(file, Buffer.alloc(memoryBytes));
    const board = makeBoard();
    const functions = [0, 1].map((number) => openFunction(board, number));
    functions[0]!.write64(2, 0, 0xffff_ffff, 0xffff_ffff);
    board.runUntilIdle();
    const memory = new MachineMemory(); // of the second machine: I/O page 9 is its page 5
    const root = memory.context(4n, 2n);
    memory.entry(4n, 0n, (3n * page) | rights.both);
    memory.entry(3n, 9n, (5n * page) | rights.both);
    writeFileSync(files[1]!, memory.bytes);
    board.attachMemory(0, files[0]!, memoryBytes);
    board.attachMemory(1, files[1]!, memoryBytes, root);
    expect(() => board.attachMemory(1, files[0]!, memoryBytes)).toThrow(/busy/i);
    const write = (number: number): string[] => {
      startJob(functions[number]!, number, job.writeHost, { address: 9n * page, bytes: 8 });
      board.runUntilIdle();
      return board.takeDmaFaults().map(({ reason }) => reason);
    };
    const seen = (): bigint[] => [
      readFileSync(files[0]!).readBigUInt64LE(9 * pageBytes),
      readFileSync(files[1]!).readBigUInt64LE(5 * pageBytes),
    ];
    expect([write(1), seen()]).toEqual([[], [0n, 2n ** 64n - 1n]]);
    expect([write(0), seen()]).toEqual([[], [2n ** 64n - 1n, 2n ** 64n - 1n]]);
    board.detachMemory(0);
    expect([write(0), write(1)]).toEqual([['not_mapped'], []]);
    board.detachMemory(1);
    expect(write(1)).toEqual(['not_mapped']);
    expect(() => board.attachMemory(8, files[0]!, memoryBytes)).toThrow(RangeError);
  });
});
