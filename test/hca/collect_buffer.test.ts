import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  DoorbellSlot,
  KickOrigin,
  PhysicalCollectBufferState,
  ScoreboardVariant,
  VirtualCollectBufferState,
} from '../../lib/spec/enums.ts';
import { makeCollectBuffer, type CollectBufferPort } from '../helpers/collect_buffer_port.ts';
import { lineWrite, makeCommand, post, wholeLines, type LineWrite } from '../helpers/command.ts';
import { viewOf } from './data_view.ts';
import {
  getKickUnitKickNumber,
  getKickUnitLength,
  getKickUnitOrigin,
  getKickUnitPhysicalCollectBuffer,
  getKickUnitQueuePairNumber,
  getKickUnitSendQueueSequenceNumber,
  getKickUnitUnderlyingFunction,
  getPostNoticeQueuePairNumber,
  getPostNoticeSendQueueSequenceNumber,
  getPostNoticeSlot,
} from './fields.ts';

const queuePairNumber = 0x050007;
const variants = [
  ['masked', ScoreboardVariant.masked],
  ['direct', ScoreboardVariant.direct],
] as const;

function makePort(variant: number, physicalCollectBuffers = 64): CollectBufferPort {
  const port = makeCollectBuffer({ scoreboardVariant: variant, physicalCollectBuffers });
  port.defineQueuePair(0, queuePairNumber, 0, 0x12345678);
  return port;
}

// US8589610, the example of the scoreboard: 16 B of payload, written out of order. Errata of its table: the last row prints a
// mask of 0000000030, but segments 8 and 9 are bits 0x300; the row of offset 8 prints fcf5 as the value written, where its
// check and the next row have fcf7. The patent's text prints a scoreboard of 32 of the 40 bits, first segment leftmost; here,
// as in its table, the least significant bit is the first segment.
describe('the scoreboard of US8589610', () => {
  const rows = [
    { bytes: [0x10, 0x18], masked: [0x0000000004n, 0x0000000004n], direct: [0x04n, 0n, 0x04n] },
    { bytes: [0x20, 0x40], masked: [0x00000000f0n, 0x00000000f4n], direct: [0xf4n, 0n, 0xf4n] },
    {
      bytes: [0x00, 0x08],
      masked: [0xfffffffc01n, 0xfffffffcf5n],
      direct: [0xf5n, 0xfffffffc00n, 0xfffffffcf5n],
    },
    {
      bytes: [0x08, 0x10],
      masked: [0x0000000002n, 0xfffffffcf7n],
      direct: [0xf7n, 0xfffffffc00n, 0xfffffffcf7n],
    },
    {
      bytes: [0x18, 0x20],
      masked: [0x0000000008n, 0xfffffffcffn],
      direct: [0xffn, 0xfffffffc00n, 0xfffffffcffn],
    },
    {
      bytes: [0x40, 0x50],
      masked: [0x0000000300n, 0xffffffffffn],
      direct: [0x3ffn, 0xfffffffc00n, 0xffffffffffn],
    },
  ] as const;
  const command = makeCommand({ length: 16, queuePairNumber });

  it('masked: the mask holds the segments of this write; the check becomes the scoreboard', () => {
    const port = makePort(ScoreboardVariant.masked);
    for (const [index, row] of rows.entries()) {
      port.write(0, row.bytes[0], command.slice(row.bytes[0], row.bytes[1]));
      const { scoreboard, mask } = port.physical(0);
      expect([mask, scoreboard], `row ${index}`).toEqual([...row.masked]);
      expect(port.takeKicks().length, `row ${index}`).toBe(index === rows.length - 1 ? 1 : 0);
    }
  });

  it('direct: the scoreboard holds received segments, the mask the unused ones', () => {
    const port = makePort(ScoreboardVariant.direct);
    for (const [index, row] of rows.entries()) {
      port.write(0, row.bytes[0], command.slice(row.bytes[0], row.bytes[1]));
      const { scoreboard, mask } = port.physical(0);
      expect([scoreboard, mask, scoreboard | mask], `row ${index}`).toEqual([...row.direct]);
      expect(port.takeKicks().length, `row ${index}`).toBe(index === rows.length - 1 ? 1 : 0);
    }
  });

  it('a length of 128 masks the sixteen segments behind it', () => {
    const port = makePort(ScoreboardVariant.masked);
    port.write(0, 0, makeCommand({ length: 128, queuePairNumber }).slice(0, 8));
    expect(port.physical(0).mask).toBe(0xffff000001n);
  });

  it('a segment counts when both halves are in, and the length when segment 0 is whole', () => {
    const port = makePort(ScoreboardVariant.masked);
    port.write(0, 4, command.slice(4, 8));
    port.write(0, 12, command.slice(12, 20));
    expect(port.physical(0).scoreboard).toBe(0n);
    port.write(0, 0, command.slice(0, 4));
    expect(port.physical(0).scoreboard).toBe(0xfffffffc01n);
    port.write(0, 8, command.slice(8, 12));
    expect(port.physical(0).scoreboard).toBe(0xfffffffc03n);
  });
});

/**
 * How the DWORDs of a command travel: which DWORDs of a line go together, in which order, and which are
 * repeated.
 */
const travel = fc.record({
  length: fc.integer({ min: 0, max: 256 }),
  labels: fc.oneof(
    fc.constant(Array<number>(80).fill(0)), // whole lines
    fc.constant(Array.from({ length: 80 }, (_, dword) => dword % 16)), // a 32-bit bridge: DWORDs only
    fc.constant(Array.from({ length: 80 }, (_, dword) => (dword % 16) >> 1)), // aligned chunks of 8 B
    fc.array(fc.nat({ max: 2 }), { minLength: 80, maxLength: 80 }),
    fc.array(fc.nat({ max: 15 }), { minLength: 80, maxLength: 80 }),
  ),
  order: fc.array(fc.nat(), { minLength: 80, maxLength: 80 }),
  repeats: fc.array(fc.record({ write: fc.nat(), at: fc.nat(), dwords: fc.nat({ max: 0xffff }) }), {
    maxLength: 6,
  }),
});

type Travel = typeof travel extends fc.Arbitrary<infer Value> ? Value : never;

/** The writes of a command; a repetition is part of an earlier write, and precedes the last one. */
function writesOf(command: Uint8Array, { labels, order, repeats }: Travel): LineWrite[] {
  const groups = new Map<number, number[]>();
  for (let dword = 0; dword < command.length / 4; dword++) {
    const key = (dword >> 4) * 16 + labels[dword]!;
    groups.set(key, [...(groups.get(key) ?? []), dword]);
  }
  const parts = [...groups.values()]
    .map((dwords, index) => ({ dwords, key: order[index]! }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ dwords }) => dwords);
  for (const repeat of repeats) {
    if (parts.length < 2) break;
    const from = repeat.write % (parts.length - 1);
    const again = parts[from]!.filter((_, index) => (repeat.dwords >> index) & 1);
    if (again.length > 0) parts.splice(from + 1 + (repeat.at % (parts.length - 1 - from)), 0, again);
  }
  return parts.map((dwords) => lineWrite(command, dwords));
}

describe.each(variants)('a command arrives in any order and in any pieces (%s)', (_, variant) => {
  it('one kick, at the write that completes it, never before', () => {
    fc.assert(
      fc.property(travel, fc.nat({ max: 31 }), fc.nat({ max: 0xffff }), (how, buffer, sequenceNumber) => {
        const port = makePort(variant);
        const command = makeCommand({
          length: how.length,
          queuePairNumber,
          sequenceNumber,
          checksumSecret: 0x12345678,
        });
        const writes = writesOf(command, how);
        for (const write of writes.slice(0, -1)) {
          post(port, buffer, write);
          expect(port.takeKicks()).toEqual([]);
          expect(port.virtual(buffer).state).toBe(VirtualCollectBufferState.collecting);
        }
        post(port, buffer, writes.at(-1)!);
        const kicks = port.takeKicks();
        expect(kicks.length).toBe(1);
        expect(port.virtual(buffer).state).toBe(VirtualCollectBufferState.free);
        const kick = viewOf(kicks[0]!);
        const pcb = getKickUnitPhysicalCollectBuffer(kick, 0);
        expect(port.physical(pcb).data.slice(0, command.length)).toEqual(command);
        expect(port.physical(pcb).state).toBe(PhysicalCollectBufferState.kicked);
        expect(getKickUnitQueuePairNumber(kick, 0)).toBe(queuePairNumber);
        expect(getKickUnitSendQueueSequenceNumber(kick, 0)).toBe(sequenceNumber);
        expect(getKickUnitLength(kick, 0)).toBe(how.length);
        expect(getKickUnitUnderlyingFunction(kick, 0)).toBe(0);
        expect(getKickUnitOrigin(kick, 0)).toBe(KickOrigin.collected);
        expect(getKickUnitKickNumber(kick, 0)).toBe(0);
        port.release(pcb);
        expect(port.verify()).toBeNull();
        expect(port.takeEvents()).toEqual([]);
        expect(port.counters(0)['kicks']).toBe(1);
      }),
      { numRuns: 1000 },
    );
  });

  it('the same without a PCB: one notice with queue pair and sequence number', () => {
    fc.assert(
      fc.property(travel, fc.nat({ max: 31 }), fc.nat({ max: 0xffff }), (how, buffer, sequenceNumber) => {
        const port = makePort(variant, 1);
        port.write(255, 8, new Uint8Array(8)); // a half-written command of function 7 holds the only PCB
        expect(port.virtual(255).state).toBe(VirtualCollectBufferState.collecting);
        const command = makeCommand({ length: how.length, queuePairNumber, sequenceNumber });
        const writes = writesOf(command, how);
        for (const write of writes.slice(0, -1)) {
          post(port, buffer, write);
          expect(port.takeNotices()).toEqual([]);
          expect(port.virtual(buffer).state).toBe(VirtualCollectBufferState.sendQueueMode);
        }
        post(port, buffer, writes.at(-1)!);
        const notices = port.takeNotices();
        expect(notices.length).toBe(1);
        const notice = viewOf(notices[0]!);
        expect(getPostNoticeQueuePairNumber(notice, 0)).toBe(queuePairNumber);
        expect(getPostNoticeSendQueueSequenceNumber(notice, 0)).toBe(sequenceNumber);
        expect(getPostNoticeSlot(notice, 0)).toBe(DoorbellSlot.start);
        expect(port.virtual(buffer).state).toBe(VirtualCollectBufferState.free);
        expect(port.verify()).toBeNull();
        expect([...port.takeKicks(), ...port.takeEvents()]).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('every length, DWORD by DWORD, upwards and downwards', () => {
    const port = makePort(variant);
    for (let length = 0; length <= 256; length++) {
      const command = makeCommand({ length, queuePairNumber, checksumSecret: 0x12345678 });
      const upwards = Array.from({ length: command.length / 4 }, (_unused, dword) => dword);
      for (const dwords of [upwards, upwards.toReversed()]) {
        for (const dword of dwords.slice(0, -1)) post(port, 0, lineWrite(command, [dword]));
        expect(port.takeKicks(), `length ${length}`).toEqual([]);
        post(port, 0, lineWrite(command, dwords.slice(-1)));
        expect(port.takeKicks().length, `length ${length}`).toBe(1);
        port.release(0);
      }
    }
  });

  it('two commands in two VCBs do not disturb each other', () => {
    const port = makePort(variant);
    const one = wholeLines(makeCommand({ length: 256, queuePairNumber, sequenceNumber: 1 }));
    const other = wholeLines(makeCommand({ length: 256, queuePairNumber, sequenceNumber: 2 })).toReversed();
    for (const [index, write] of one.entries()) {
      post(port, 3, write);
      post(port, 4, other[index]!);
    }
    const numbers = port.takeKicks().map((kick) => getKickUnitSendQueueSequenceNumber(viewOf(kick), 0));
    expect(numbers).toEqual([1, 2]);
  });
});
