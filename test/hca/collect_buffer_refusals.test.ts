import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { EventType, Refusal, VirtualCollectBufferState } from '../../lib/spec/enums.ts';
import { makeCollectBuffer, type CollectBufferPort } from '../helpers/collect_buffer_port.ts';
import { makeCommand, post, wholeLines, type LineWrite } from '../helpers/command.ts';
import { viewOf } from './data_view.ts';
import {
  getEventUnitDetailLow,
  getEventUnitObject,
  getEventUnitOffset,
  getEventUnitReason,
  getEventUnitType,
  getEventUnitUnderlyingFunction,
} from './fields.ts';

const own = 0x010007;
const foreign = 0x010008;
const secret = 0x9abcdef0;
const buffer = 5;

function makePort(mode: string): CollectBufferPort {
  const port = makeCollectBuffer({ physicalCollectBuffers: mode === 'send queue mode' ? 1 : 64 });
  port.defineQueuePair(0, own, 0, secret);
  port.defineQueuePair(1, foreign, 0, secret);
  if (mode === 'send queue mode') port.write(255, 8, new Uint8Array(8)); // function 7 holds the only PCB
  return port;
}

/** One write of all the given bytes. */
function at(offset: number, bytes: Uint8Array, byteEnables = (1n << BigInt(bytes.length)) - 1n): LineWrite {
  return { offset, bytes, byteEnables };
}

const good = makeCommand({ length: 32, queuePairNumber: own });
const segment0 = (options: Partial<Parameters<typeof makeCommand>[0]>) =>
  at(0, makeCommand({ length: 0, queuePairNumber: own, ...options }).slice(0, 8));
const words = (count: number) => new Uint8Array(count * 4).fill(0x5a);

/** Writes, the last of which is refused. */
const refused: { what: string; refusal: number; writes: LineWrite[] }[] = [
  { what: 'length 257', refusal: Refusal.lengthOverMaximum, writes: [segment0({ length: 257 })] },
  { what: 'length 511', refusal: Refusal.lengthOverMaximum, writes: [segment0({ length: 511 })] },
  {
    what: 'a segment that turns out to lie beyond the length',
    refusal: Refusal.segmentBeyondLength,
    writes: [at(96, words(2)), segment0({ length: 32 })],
  },
  {
    what: 'half a segment that turns out to',
    refusal: Refusal.segmentBeyondLength,
    writes: [at(100, words(1)), segment0({ length: 32 })],
  },
  {
    what: 'a segment beyond the known length',
    refusal: Refusal.segmentBeyondLength,
    writes: [segment0({ length: 32 }), at(96, words(2))],
  },
  {
    what: 'half a segment beyond the known length',
    refusal: Refusal.segmentBeyondLength,
    writes: [segment0({ length: 0 }), at(64, words(1))],
  },
  {
    what: 'the last segment beyond the length',
    refusal: Refusal.segmentBeyondLength,
    writes: [segment0({ length: 248 }), at(312, words(2))],
  },
  { what: 'the first offset beyond 320 B', refusal: Refusal.writeBeyondCommand, writes: [at(320, words(2))] },
  {
    what: 'the last line before the doorbell slots',
    refusal: Refusal.writeBeyondCommand,
    writes: [at(3904, words(16))],
  },
  { what: 'behind the doorbell slots', refusal: Refusal.writeBeyondCommand, writes: [at(3992, words(2))] },
  { what: 'the end of the page', refusal: Refusal.writeBeyondCommand, writes: [at(4092, words(1))] },
  { what: 'three bytes of a DWORD', refusal: Refusal.partialDoubleWord, writes: [at(16, words(1), 0x7n)] },
  {
    what: 'a last DWORD that is not whole',
    refusal: Refusal.partialDoubleWord,
    writes: [at(16, words(16), (1n << 63n) - 1n)],
  },
  {
    what: 'part of a DWORD in the middle of a command',
    refusal: Refusal.partialDoubleWord,
    writes: [at(0, good.slice(0, 64)), at(64, words(2), 0xfen)],
  },
  { what: 'version 0', refusal: Refusal.unknownVersion, writes: [segment0({ version: 0 })] },
  { what: 'version 2', refusal: Refusal.unknownVersion, writes: [segment0({ version: 2 })] },
  { what: 'the reserved bit', refusal: Refusal.reservedNotZero, writes: [segment0({ reserved: true })] },
  {
    what: 'an unknown queue pair',
    refusal: Refusal.unknownQueuePair,
    writes: [segment0({ queuePairNumber: 0x020007 })],
  },
  {
    what: "another function's queue pair",
    refusal: Refusal.unknownQueuePair,
    writes: [segment0({ queuePairNumber: foreign })],
  },
  {
    what: "not the queue pair's level",
    refusal: Refusal.wrongQualityOfServiceLevel,
    writes: [segment0({ level: 1 })],
  },
  {
    what: 'segment 0 in two halves, last the second',
    refusal: Refusal.unknownVersion,
    writes: [at(0, good.slice(0, 4)), at(4, words(1).fill(0))],
  },
  {
    what: 'the length anew, with another sequence number',
    refusal: Refusal.segment0Differs,
    writes: [segment0({ length: 8, sequenceNumber: 1 }), segment0({ length: 8, sequenceNumber: 2 })],
  },
  {
    what: 'the first half of segment 0 anew, before the second came',
    refusal: Refusal.segment0Differs,
    writes: [
      at(0, good.slice(0, 4)),
      at(
        0,
        Uint8Array.from(good.slice(0, 64), (byte) => byte ^ 0x80),
      ),
    ],
  },
  {
    what: 'the second half of segment 0 anew, with a whole line',
    refusal: Refusal.segment0Differs,
    writes: [
      at(4, good.slice(4, 8)),
      at(
        0,
        Uint8Array.from(good.slice(0, 64), (byte, index) => (index === 7 ? byte ^ 0x80 : byte)),
      ),
    ],
  },
  {
    what: 'a start doorbell of an unknown queue pair',
    refusal: Refusal.unknownQueuePair,
    writes: [at(16, words(2)), at(3968, new Uint8Array([9, 0, 9, 0, 1, 0, 0, 0]))],
  },
  {
    what: 'a stop doorbell with a reserved bit',
    refusal: Refusal.reservedNotZero,
    writes: [at(3976, new Uint8Array([7, 0, 1, 0x80, 0, 0, 0, 0]))],
  },
];

describe.each(['collecting', 'send queue mode'])('a refused command (%s)', (mode) => {
  it.each(refused)('$what', ({ refusal, writes }) => {
    const port = makePort(mode);
    for (const write of writes.slice(0, -1)) post(port, buffer, write);
    expect(port.takeEvents()).toEqual([]);
    post(port, buffer, writes.at(-1)!);

    const events = port.takeEvents().map(viewOf);
    expect(events.length).toBe(1);
    const event = events[0]!;
    expect(getEventUnitType(event, 0)).toBe(EventType.virtualCollectBufferError);
    expect(getEventUnitReason(event, 0)).toBe(refusal);
    expect(getEventUnitObject(event, 0)).toBe(buffer);
    expect(getEventUnitOffset(event, 0)).toBe(writes.at(-1)!.offset);
    expect(getEventUnitUnderlyingFunction(event, 0)).toBe(0);
    expect(port.virtual(buffer)).toEqual({
      state: VirtualCollectBufferState.error,
      refusal,
      physicalCollectBuffer: 0xffff,
    });
    expect(port.counters(0)['commandsRefused']).toBe(1);
    expect(port.groups(0).inUse).toEqual([0, 0, 0]);
    expect(port.groups(0).borrowed).toBe(0);
    expect(port.verify()).toBeNull();

    // Everything except a cancel is dropped, without another event.
    for (const write of wholeLines(good)) post(port, buffer, write);
    post(port, buffer, at(3968, new Uint8Array([7, 0, 1, 0, 0, 0, 0, 0])));
    post(port, buffer, at(64, words(1), 0x1n));
    expect(port.counters(0)['writesDropped']).toBe(4);
    expect(port.takeEvents()).toEqual([]);
    expect([...port.takeKicks(), ...port.takeNotices()]).toEqual([]);

    // A write of the cancel slot, DWORD by DWORD, ends the error state.
    post(port, buffer, at(3984, words(1)));
    expect(port.virtual(buffer).state).toBe(VirtualCollectBufferState.error);
    post(port, buffer, at(3988, words(1)));
    expect(port.virtual(buffer).state).toBe(VirtualCollectBufferState.free);
    for (const write of wholeLines(good)) post(port, buffer, write);
    expect(port.takeKicks().length + port.takeNotices().length).toBe(1);
  });
});

describe('segment 0', () => {
  it.each(['collecting', 'send queue mode'])('can be repeated unchanged (%s)', (mode) => {
    const port = makePort(mode);
    post(port, buffer, at(4, good.slice(4, 8)));
    post(port, buffer, at(0, good.slice(0, 8)));
    post(port, buffer, at(0, good.slice(0, 64)));
    post(port, buffer, at(0, good.slice(0, 4)));
    post(port, buffer, at(64, good.slice(64)));
    expect(port.takeEvents()).toEqual([]);
    expect(port.takeKicks().length + port.takeNotices().length).toBe(1);
  });

  it('is reported with its first value when rewritten with another', () => {
    const port = makePort('collecting');
    post(port, buffer, segment0({ length: 8 }));
    post(port, buffer, segment0({ length: 8, queuePairNumber: foreign }));
    expect(getEventUnitDetailLow(viewOf(port.takeEvents()[0]!), 0) >>> 8).toBe(own);
    post(port, 6, at(0, good.slice(0, 4)));
    post(port, 6, segment0({ queuePairNumber: foreign }));
    expect(getEventUnitDetailLow(viewOf(port.takeEvents()[0]!), 0)).toBe(0);
  });

  it('is named by the event if it was complete', () => {
    const port = makePort('collecting');
    post(port, buffer, segment0({ queuePairNumber: foreign }));
    expect(getEventUnitDetailLow(viewOf(port.takeEvents()[0]!), 0) >>> 8).toBe(foreign);
    post(port, 6, at(320, words(2)));
    expect(getEventUnitDetailLow(viewOf(port.takeEvents()[0]!), 0)).toBe(0);
  });
});

describe('the doorbell checksum', () => {
  const payload = fc.integer({ min: 0, max: 256 });

  it('refuses a command in which any bit of header or used payload has changed', () => {
    fc.assert(
      fc.property(payload, fc.nat(), fc.nat({ max: 7 }), (length, where, bit) => {
        const port = makePort('collecting');
        const command = makeCommand({ length, queuePairNumber: own, checksumSecret: secret });
        // Segment 0 and checksum_enable decide whether the checksum is compared at all.
        const byte = 12 + (where % (command.length - 12));
        command[byte]! ^= 1 << bit;
        for (const write of wholeLines(command)) post(port, buffer, write);
        expect(port.takeKicks()).toEqual([]);
        expect(port.virtual(buffer).refusal).toBe(Refusal.checksumMismatch);
        expect(port.counters(0)['checksumMismatches']).toBe(1);
        expect(port.verify()).toBeNull();
      }),
    );
  });

  it('depends on the secret of the queue pair', () => {
    const port = makePort('collecting');
    const command = makeCommand({ length: 16, queuePairNumber: own, checksumSecret: secret - 1 });
    for (const write of wholeLines(command)) post(port, buffer, write);
    expect(port.virtual(buffer).refusal).toBe(Refusal.checksumMismatch);
  });

  it('is not compared unless the command asks for it', () => {
    const port = makePort('collecting');
    for (const write of wholeLines(good)) post(port, buffer, write);
    expect(port.takeKicks().length).toBe(1);
  });

  it.each([
    ['the end of a line', [16, 24]],
    ['one DWORD', [20, 24]],
    ['a whole line', [64, 128]],
    ['its own field', [12, 16]],
  ])('covers the contents of the buffers at the kick: %s again', (_, [begin, end]) => {
    const command = makeCommand({ length: 64, queuePairNumber: own, checksumSecret: secret });
    const piece = at(begin!, command.slice(begin, end));
    const wrong = at(begin!, words((end! - begin!) / 4));
    const rest = [
      at(0, command.slice(0, 16)),
      at(16, command.slice(16, 56)),
      at(64, command.slice(64)),
      at(56, command.slice(56, 64)),
    ];
    // The last copy is right: the command executes.
    const port = makePort('collecting');
    for (const write of [wrong, ...rest.slice(0, 3), piece, rest[3]!]) post(port, buffer, write);
    expect(port.takeKicks().length).toBe(1);
    // The first copy is right; the last one would execute.
    for (const write of [piece, ...rest.slice(0, 3), wrong, rest[3]!]) post(port, buffer, write);
    expect(port.takeKicks()).toEqual([]);
    expect(port.virtual(buffer).refusal).toBe(Refusal.checksumMismatch);
    expect(port.verify()).toBeNull();
  });
});
