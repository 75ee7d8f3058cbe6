import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { KickRecordType, Opcode, VirtualCollectBufferState } from '../../lib/spec/index.ts';
import { CommandBench, type WrittenCommand } from '../helpers/command_bench.ts';

const line = 64;
const dword = 4;

/**
 * The rows of the patent's example (US8589610, scoreboard example): offsets of the 8 B segments of a write.
 */
const rows: readonly (readonly [first: number, last: number])[] = [
  [0x10, 0x10],
  [0x20, 0x38],
  [0x00, 0x00],
  [0x08, 0x08],
  [0x18, 0x18],
  [0x40, 0x48],
];

// The patent prints 0000000030 as the mask of the last row, but segments 8 and 9 are bits 0x300.
const masked = [
  [0x0000000004n, 0x0000000004n],
  [0x00000000f0n, 0x00000000f4n],
  [0xfffffffc01n, 0xfffffffcf5n],
  [0x0000000002n, 0xfffffffcf7n],
  [0x0000000008n, 0xfffffffcffn],
] as const;

// The other variant keeps received segments in the scoreboard, and unused ones in the mask; its check is both.
const direct = [
  [0n, 0x04n],
  [0n, 0xf4n],
  [0xfffffffc00n, 0xf5n],
  [0xfffffffc00n, 0xf7n],
  [0xfffffffc00n, 0xffn],
] as const;

describe("the patent's example through the BAR", () => {
  it.each([
    ['masked', masked],
    ['direct', direct],
  ] as const)('%s', (scoreboardVariant, expected) => {
    const bench = new CommandBench({ scoreboardVariant });
    const queuePair = bench.makeQueuePair();
    const buffer = queuePair.virtualCollectBuffer;
    const { offset, bytes } = bench.encode(queuePair, {
      opcode: Opcode.send,
      inlineData: new Uint8Array(16),
    });
    const [last, ...before] = [...rows].reverse();
    for (const [index, [from, to]] of before.reverse().entries()) {
      bench.write(offset + from, bytes.subarray(from, to + 8));
      const { state, mask, scoreboard } = bench.inspect(buffer);
      expect([state, mask, scoreboard]).toEqual([VirtualCollectBufferState.collecting, ...expected[index]!]);
      expect(bench.register('kicks')).toBe(0n);
    }
    bench.write(offset + last![0], bytes.subarray(last![0], last![1] + 8));
    expect(bench.inspect(buffer).state).toBe(VirtualCollectBufferState.free);
    expect(bench.register('kicks')).toBe(1n);
    expect(bench.settle().map(({ type, length }) => [type, length])).toEqual([
      [KickRecordType.kicked, 16],
      [KickRecordType.sent, 16],
    ]);
  });

  it('a length of 128 masks segments 24 to 39', () => {
    const bench = new CommandBench();
    const queuePair = bench.makeQueuePair();
    const command = bench.encode(queuePair, { opcode: Opcode.send, inlineData: new Uint8Array(128) });
    bench.write(command.offset, command.bytes.subarray(0, 8));
    expect(bench.inspect(queuePair.virtualCollectBuffer).mask).toBe(0xffff000001n);
  });
});

/** A write of part of a command: DWORDs [begin, end) within a line. */
interface Piece {
  readonly begin: number;
  readonly end: number;
}

/** Cuts a command into pieces where `cuts` says so, and at every line. */
function piecesOf(dwords: number, cuts: readonly boolean[]): Piece[] {
  const pieces: Piece[] = [];
  let begin = 0;
  for (let at = 1; at <= dwords; at++) {
    if (at < dwords && at % (line / dword) !== 0 && cuts[at] !== true) continue;
    pieces.push({ begin, end: at });
    begin = at;
  }
  return pieces;
}

function writePiece(bench: CommandBench, { offset, bytes }: WrittenCommand, { begin, end }: Piece): void {
  bench.write(offset + begin * dword, bytes.subarray(begin * dword, end * dword));
}

const plan = fc
  .record({
    length: fc.integer({ min: 0, max: 256 }),
    everyDword: fc.boolean(),
    cuts: fc.array(fc.boolean(), { minLength: 80, maxLength: 80 }),
    order: fc.array(fc.double({ noNaN: true }), { minLength: 80, maxLength: 80 }),
    repeats: fc.array(fc.nat({ max: 80 }), { maxLength: 4 }),
    checksum: fc.boolean(),
  })
  .map(({ length, everyDword, cuts, order, repeats, checksum }) => {
    const dwords = Math.ceil((64 + length) / 8) * 2;
    const pieces = piecesOf(dwords, everyDword ? cuts.map(() => true) : cuts);
    const ordered = pieces
      .map((piece, index) => ({ piece, key: order[index]! }))
      .sort((one, other) => one.key - other.key)
      .map(({ piece }) => piece);
    // A piece is repeated only while another one is missing.
    for (const repeat of repeats) {
      const at = repeat % ordered.length;
      if (at + 1 < ordered.length) ordered.splice(at + 1, 0, ordered[at]!);
    }
    return { length, checksum, pieces: ordered };
  });

describe.each(['masked', 'direct'] as const)('scoreboard variant %s', (scoreboardVariant) => {
  it('kicks every command once, at the write that completes it, for any pieces and order', () => {
    const bench = new CommandBench({ scoreboardVariant });
    const queuePair = bench.makeQueuePair();
    fc.assert(
      fc.property(plan, ({ length, checksum, pieces }) => {
        const kicks = bench.register('kicks');
        const inlineData = Uint8Array.from({ length }, (_, index) => index * 7);
        const command = bench.encode(queuePair, { opcode: Opcode.send, inlineData, checksum });
        const last = pieces.pop()!;
        for (const piece of pieces) writePiece(bench, command, piece);
        expect(bench.register('kicks')).toBe(kicks);
        writePiece(bench, command, last);
        expect(bench.register('kicks')).toBe(kicks + 1n);
        const records = bench.settle();
        expect(records.map((record) => [record.type, record.status, record.length])).toEqual([
          [KickRecordType.kicked, 0, length],
          [KickRecordType.sent, 0, length],
        ]);
        queuePair.sendQueue.completedThrough(records[0]!.sendQueueSequenceNumber);
        expect(bench.events()).toEqual([]);
        expect(bench.buffersInUse()).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});
