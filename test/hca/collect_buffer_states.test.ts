import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DoorbellSlot, EventType, VirtualCollectBufferState } from '../../lib/spec/enums.ts';
import { makeCollectBuffer, type CollectBufferPort } from '../helpers/collect_buffer_port.ts';
import { lineWrite, makeCommand, post, wholeLines } from '../helpers/command.ts';
import { viewOf } from './data_view.ts';
import {
  getEventUnitObject,
  getEventUnitType,
  getPostNoticeQualityOfServiceLevel,
  getPostNoticeQueuePairNumber,
  getPostNoticeSendQueueSequenceNumber,
  getPostNoticeSlot,
  getPostNoticeUnderlyingFunction,
} from './fields.ts';

const queuePairNumber = 0x010007;
const start = 3968;
const stop = 3976;
const cancel = 3984;

function makePort(physicalCollectBuffers = 64): CollectBufferPort {
  const port = makeCollectBuffer({ physicalCollectBuffers });
  for (let underlyingFunction = 0; underlyingFunction < 8; underlyingFunction++)
    port.defineQueuePair(underlyingFunction, queuePairNumber, 0, 0);
  return port;
}

function slotWrite(number: number, sequenceNumber = 0): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, number, true);
  new DataView(bytes.buffer).setUint16(4, sequenceNumber, true);
  return bytes;
}

/** All state that a command could leave behind. */
function left(port: CollectBufferPort, buffer: number): unknown {
  const { borrowed, inUse, sharedAvailable } = port.groups(0);
  return [port.virtual(buffer), borrowed, inUse, sharedAvailable, port.verify(), port.nextDeadline()];
}

describe('an incomplete command leaves nothing behind', () => {
  const ways: [string, (port: CollectBufferPort) => void, number][] = [
    [
      'cancelled by its doorbell slot',
      (port) => port.write(3, cancel, new Uint8Array(8)),
      VirtualCollectBufferState.free,
    ],
    ['cancelled by the control function', (port) => port.cancel(3), VirtualCollectBufferState.free],
    ['closed', (port) => port.close(3), VirtualCollectBufferState.closed],
    ['its function is reset', (port) => port.resetFunction(0), VirtualCollectBufferState.free],
    ['the device is reset', (port) => port.reset(), VirtualCollectBufferState.free],
  ];
  it.each(ways)('%s', (_, end, state) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 256 }),
        fc.uniqueArray(fc.nat({ max: 79 }), { minLength: 1 }),
        (length, dwords) => {
          const port = makePort();
          const before = left(port, 3) as [object];
          const command = makeCommand({ length, queuePairNumber });
          const some = dwords.filter((dword) => dword * 4 < command.length).slice(0, command.length / 4 - 1);
          port.setHalfWrittenLimit(1000n);
          for (const dword of some) post(port, 3, lineWrite(command, [dword]));
          post(port, 3, { offset: start, bytes: slotWrite(queuePairNumber).slice(0, 4), byteEnables: 0xfn });
          end(port);
          expect(left(port, 3)).toEqual([{ ...before[0], state }, ...before.slice(1)]);
          port.open(3);
          // The half of the doorbell is forgotten too.
          port.write(3, start + 4, new Uint8Array(4));
          expect(port.takeNotices()).toEqual([]);
          port.cancel(3);
          for (const write of wholeLines(command)) post(port, 3, write);
          expect(port.takeKicks().length).toBe(1);
        },
      ),
    );
  });

  it('a closed VCB drops and counts writes, also its doorbells, until it is opened', () => {
    const port = makePort();
    port.close(3);
    for (const write of wholeLines(makeCommand({ length: 0, queuePairNumber }))) post(port, 3, write);
    port.write(3, start, slotWrite(queuePairNumber));
    port.write(3, cancel, new Uint8Array(8));
    expect(port.virtual(3).state).toBe(VirtualCollectBufferState.closed);
    expect(port.counters(0)['writesDropped']).toBe(3);
    expect([...port.takeKicks(), ...port.takeNotices(), ...port.takeEvents()]).toEqual([]);
  });

  it('a write through the BAR of another function is unclaimed', () => {
    const port = makePort();
    const [write] = wholeLines(makeCommand({ length: 0, queuePairNumber }));
    port.write(3, 0, write!.bytes, write!.byteEnables, 1);
    expect(port.virtual(3).state).toBe(VirtualCollectBufferState.free);
    expect(port.takeKicks()).toEqual([]);
    expect(port.counters(0)['writesUnclaimed']).toBe(1);
    port.write(3, 0, write!.bytes, write!.byteEnables, 0);
    expect(port.takeKicks().length).toBe(1);
  });

  it('a write without byte enables is nothing', () => {
    const port = makePort();
    port.write(3, 0, new Uint8Array(4), 0n);
    expect(port.virtual(3).state).toBe(VirtualCollectBufferState.free);
  });
});

describe('send queue mode', () => {
  it('holds for any number of VCBs at a time, and uses no PCB', () => {
    const port = makePort(1);
    port.write(255, 8, new Uint8Array(8)); // takes the only PCB
    const commands = Array.from({ length: 255 }, (_, buffer) =>
      makeCommand({ length: buffer, queuePairNumber, sequenceNumber: 1000 + buffer }),
    );
    const writes = commands.map((command) => wholeLines(command));
    const notices: number[] = [];
    for (let line = 4; line >= 0; line--)
      for (let buffer = 0; buffer < 255; buffer++) {
        const write = writes[buffer]![line];
        if (write === undefined) continue;
        post(port, buffer, write);
        for (const notice of port.takeNotices())
          notices.push(getPostNoticeSendQueueSequenceNumber(viewOf(notice), 0));
      }
    expect(notices).toEqual(Array.from({ length: 255 }, (_, buffer) => 1000 + buffer));
    expect(port.takeKicks()).toEqual([]);
    expect(port.verify()).toBeNull();
    expect(port.counters(2)['sendQueueModeKicks']).toBe(32);
  });

  it('begins and ends with a command: the next one takes the freed PCB', () => {
    const port = makePort(1);
    const lines = wholeLines(makeCommand({ length: 64, queuePairNumber }));
    post(port, 40, lines[0]!);
    post(port, 3, lines[1]!);
    port.cancel(40);
    post(port, 3, lines[0]!);
    expect([port.takeNotices().length, port.takeKicks().length]).toEqual([1, 0]);
    for (const line of lines) post(port, 3, line);
    expect([port.takeNotices().length, port.takeKicks().length]).toEqual([0, 1]);
  });
});

describe('doorbell slots', () => {
  it('start and stop, in DWORDs in any order, or in one write of both', () => {
    const port = makePort();
    const value = slotWrite(queuePairNumber, 0xabcd);
    port.write(35, start + 4, value.slice(4));
    expect(port.takeNotices()).toEqual([]);
    port.write(35, start, value.slice(0, 4));
    port.write(35, start, new Uint8Array([...value, ...slotWrite(queuePairNumber)]));
    const notices = port.takeNotices().map((notice) => viewOf(notice));
    expect(notices.map((notice) => getPostNoticeSlot(notice, 0))).toEqual([
      DoorbellSlot.start,
      DoorbellSlot.start,
      DoorbellSlot.stop,
    ]);
    expect(getPostNoticeQueuePairNumber(notices[0]!, 0)).toBe(queuePairNumber);
    expect(getPostNoticeSendQueueSequenceNumber(notices[0]!, 0)).toBe(0xabcd);
    expect(getPostNoticeUnderlyingFunction(notices[0]!, 0)).toBe(1);
    expect(getPostNoticeQualityOfServiceLevel(notices[0]!, 0)).toBe(0);
  });

  it('do not disturb the command that is being written', () => {
    const port = makePort();
    const lines = wholeLines(makeCommand({ length: 64, queuePairNumber }));
    post(port, 3, lines[0]!);
    port.write(3, stop, slotWrite(queuePairNumber));
    post(port, 3, lines[1]!);
    expect([port.takeNotices().length, port.takeKicks().length]).toEqual([1, 1]);
  });

  it('are accepted only with credits for all doorbells of one write', () => {
    const port = makePort();
    for (let count = 0; count < 15; count++) {
      expect(port.canAcceptWrite()).toBe(true);
      port.write(3, start, slotWrite(queuePairNumber));
    }
    expect(port.canAcceptWrite()).toBe(false);
    port.takeNotices();
    expect(port.canAcceptWrite()).toBe(true);
  });
});

describe('the half-written limit', () => {
  function expired(port: CollectBufferPort): number[] {
    while (port.step());
    return port.takeEvents().map((event) => {
      expect(getEventUnitType(viewOf(event), 0)).toBe(EventType.halfWrittenCommand);
      return getEventUnitObject(viewOf(event), 0);
    });
  }

  it('raises one event for each command incomplete for the limit, oldest first, and none for others', () => {
    const port = makePort(2);
    port.setHalfWrittenLimit(100n);
    const [line] = wholeLines(makeCommand({ length: 64, queuePairNumber }));
    for (const [index, buffer] of [9, 8, 7, 6].entries()) {
      port.setTime(BigInt(index) * 10n);
      post(port, buffer, line!); // the first two have a PCB, the others are in send queue mode
    }
    port.cancel(8);
    expect(port.nextDeadline()).toBe(100n);
    port.setTime(99n);
    expect(expired(port)).toEqual([]);
    port.setTime(100n);
    expect(expired(port)).toEqual([9]);
    expect(port.nextDeadline()).toBe(120n);
    for (const write of wholeLines(makeCommand({ length: 64, queuePairNumber })).slice(1))
      post(port, 7, write);
    port.setTime(1000n);
    expect(expired(port)).toEqual([6]);
    expect(port.nextDeadline()).toBe(0xffffffffffffffffn);
    expect(port.counters(0)['halfWrittenCommands']).toBe(2);
    expect(port.virtual(9).state).toBe(VirtualCollectBufferState.collecting);
    expect(port.verify()).toBeNull();
  });

  it('is off if it is 0, and does not wrap around', () => {
    const port = makePort();
    port.setTime(5n);
    port.write(3, 8, new Uint8Array(8));
    expect(port.nextDeadline()).toBe(0xffffffffffffffffn);
    port.setHalfWrittenLimit(0xffffffffffffffffn);
    expect(port.nextDeadline()).toBe(0xffffffffffffffffn);
    expect(expired(port)).toEqual([]);
  });
});
