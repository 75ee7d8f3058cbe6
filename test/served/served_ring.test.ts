import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { loadTestAddon } from '../helpers/test_addon.ts';

/** The fields of a line. */
interface Line {
  /** 0: write, 1: write with byte enables, 2: read. */
  readonly kind: number;
  readonly length: number;
  /** Lines of the transaction. */
  readonly count: number;
  readonly underlyingFunction: number;
  readonly bar: number;
  readonly offset: number;
}

interface ServedRingPort {
  /** Runs a client and its server on two threads; returns an error, or an empty string. */
  servedRingStress(transactions: number, seed: number): string;
  /** A client dies after `lines` lines of a write of `length` bytes. */
  servedRingHalfWritten(
    length: number,
    lines: number,
  ): { lines: number; taken: boolean; maySleep: boolean; malformed: string };
  /** The server's refusal of a first line with the right sequence number, for function 3; empty: it accepts the line. */
  servedRingCheckLine(line: Line): string;
}

const port = loadTestAddon() as ServedRingPort;
const legal: Line = { kind: 0, length: 8, count: 1, underlyingFunction: 3, bar: 2, offset: 64 };

describe('the ring of a served BAR', () => {
  it.each([1, 2, 3])(
    'carries every transaction intact and in order, and the answers to reads: seed %i',
    (seed) => {
      expect(port.servedRingStress(20_000, seed)).toBe('');
    },
  );

  it('delivers no part of a command whose client died on any of its lines', () => {
    for (const length of [8, 48, 56, 104, 112, 320]) {
      const { lines } = port.servedRingHalfWritten(length, 0);
      for (let written = 0; written <= lines; written += 1) {
        const isWhole = written === lines;
        expect(port.servedRingHalfWritten(length, written)).toEqual({
          lines,
          taken: isWhole,
          maySleep: true,
          malformed: '',
        });
      }
    }
  });
});

describe('the server of a BAR', () => {
  it('accepts valid lines', () => {
    expect(port.servedRingCheckLine(legal)).toBe('');
    expect(port.servedRingCheckLine({ ...legal, length: 320, count: 6 })).toBe('');
    expect(port.servedRingCheckLine({ ...legal, length: 4, offset: 4 })).toBe('');
    expect(port.servedRingCheckLine({ ...legal, kind: 2, length: 4 })).toBe('');
  });

  it.each<[Partial<Line>, string]>([
    [{ kind: 1 }, 'neither a write nor a read'],
    [{ kind: 77 }, 'neither a write nor a read'],
    [{ kind: 2, length: 8 }, 'a read of other than 4 B'],
    [{ length: 0 }, 'neither 4 B nor a multiple of 8'],
    [{ length: 12 }, 'neither 4 B nor a multiple of 8'],
    [{ length: 328, count: 6 }, 'up to 320 B'],
    [{ length: 65_528, count: 255 }, 'up to 320 B'],
    [{ count: 0 }, 'a number of lines'],
    [{ count: 2 }, 'a number of lines'],
    [{ length: 320, count: 5 }, 'a number of lines'],
    [{ underlyingFunction: 0 }, 'another underlying function'],
    [{ underlyingFunction: 4 }, 'another underlying function'],
    [{ bar: 6 }, 'a BAR beyond the sixth'],
    [{ offset: 68 }, 'not aligned'],
    [{ length: 4, offset: 66 }, 'not aligned'],
  ])('refuses %j', (wrong, message) => {
    expect(port.servedRingCheckLine({ ...legal, ...wrong })).toContain(message);
  });

  it('accepts or refuses any line', () => {
    const line = fc.record({
      kind: fc.nat({ max: 255 }),
      length: fc.nat({ max: 65_535 }),
      count: fc.nat({ max: 255 }),
      underlyingFunction: fc.nat({ max: 255 }),
      bar: fc.nat({ max: 255 }),
      offset: fc.nat(),
    });
    fc.assert(
      fc.property(line, (each) => {
        expect(port.servedRingCheckLine(each)).not.toBeUndefined();
      }),
    );
  });
});
