import { describe, expect, it } from 'vitest';

import { EventType, KickOrigin, KickRecordType, Opcode } from '../../lib/spec/enums.ts';
import {
  getKickRecordBeginLow,
  getKickRecordDropped,
  getKickRecordEndLow,
  getKickRecordKickNumber,
  getKickRecordLength,
  getKickRecordOpcode,
  getKickRecordOrigin,
  getKickRecordPhase,
  getKickRecordPhysicalCollectBuffer,
  getKickRecordQueuePairNumber,
  getKickRecordSendQueueSequenceNumber,
  getKickRecordSequence,
  getKickRecordTransmitVirtualLane,
  getKickRecordType,
  getKickRecordUnderlyingFunction,
  getKickRecordVirtualCollectBuffer,
  getKickRecordWrittenLow,
  KICK_RECORD_BYTES,
  setRingHeadHead,
} from '../../lib/spec/queues.ts';
import { makeCollectBuffer, type CollectBufferPort } from '../helpers/collect_buffer_port.ts';
import { makeCommand, post, wholeLines } from '../helpers/command.ts';
import { viewOf } from './data_view.ts';
import { getEventUnitDetailLow, getEventUnitType } from './fields.ts';

const queuePairNumber = 0x010007;
const headOffset = 0x8000;

/** A board whose function 0 writes 2^log2 records to the start of memory. */
function makePort(log2: number, physicalCollectBuffers = 64): CollectBufferPort {
  const port = makeCollectBuffer({ physicalCollectBuffers });
  port.defineQueuePair(0, queuePairNumber, 0, 0);
  port.setKickRecords(0, 1, log2, port.base, port.base + BigInt(headOffset));
  return port;
}

function kick(port: CollectBufferPort, sequenceNumber: number, buffer = 2): Uint8Array[] {
  for (const write of wholeLines(makeCommand({ length: 48, queuePairNumber, sequenceNumber })))
    post(port, buffer, write);
  const kicks = port.takeKicks();
  port.takeNotices();
  for (let pcb = 0; pcb < kicks.length; pcb++) port.release(0);
  return kicks;
}

describe('kick records', () => {
  it('describe a kick: place, command and time', () => {
    const port = makePort(4);
    const command = makeCommand({ length: 48, queuePairNumber, sequenceNumber: 0xfffe });
    port.setTime(100n);
    port.write(9, 64, command.slice(64));
    port.setTime(107n);
    port.write(9, 0, command.slice(0, 64));
    const record = new DataView(port.memory, 0, KICK_RECORD_BYTES);
    expect(getKickRecordType(record, 0)).toBe(KickRecordType.kicked);
    expect(getKickRecordUnderlyingFunction(record, 0)).toBe(0);
    expect(getKickRecordOrigin(record, 0)).toBe(KickOrigin.collected);
    expect(getKickRecordKickNumber(record, 0)).toBe(0);
    expect(getKickRecordVirtualCollectBuffer(record, 0)).toBe(9);
    expect(getKickRecordPhysicalCollectBuffer(record, 0)).toBe(0);
    expect(getKickRecordTransmitVirtualLane(record, 0)).toBe(0xff);
    expect(getKickRecordOpcode(record, 0)).toBe(Opcode.send);
    expect(getKickRecordSendQueueSequenceNumber(record, 0)).toBe(0xfffe);
    expect(getKickRecordQueuePairNumber(record, 0)).toBe(queuePairNumber);
    expect(getKickRecordLength(record, 0)).toBe(48);
    expect([getKickRecordBeginLow(record, 0), getKickRecordEndLow(record, 0)]).toEqual([100, 107]);
    expect(getKickRecordWrittenLow(record, 0)).toBe(107);
  });

  it.each([
    { where: 'a PCB', physicalCollectBuffers: 64, origin: KickOrigin.collected },
    { where: 'send queue mode', physicalCollectBuffers: 1, origin: KickOrigin.sendQueueMode },
  ])('have one time for a command of one write, in $where', ({ physicalCollectBuffers, origin }) => {
    const port = makePort(4, physicalCollectBuffers);
    if (origin === KickOrigin.sendQueueMode) port.write(200, 8, new Uint8Array(8)); // takes the only PCB
    port.setTime(1000n, 10n); // a second reading of the clock would return 1010
    port.write(9, 0, makeCommand({ length: 0, queuePairNumber }));
    const record = new DataView(port.memory, 0, KICK_RECORD_BYTES);
    expect(getKickRecordOrigin(record, 0)).toBe(origin);
    expect([getKickRecordBeginLow(record, 0), getKickRecordEndLow(record, 0)]).toEqual([1000, 1000]);
  });

  it.each([
    { where: 'a PCB', physicalCollectBuffers: 64, origin: KickOrigin.collected },
    { where: 'send queue mode', physicalCollectBuffers: 1, origin: KickOrigin.sendQueueMode },
  ])('begin at the first of several writes, in $where', ({ physicalCollectBuffers, origin }) => {
    const port = makePort(4, physicalCollectBuffers);
    if (origin === KickOrigin.sendQueueMode) port.write(200, 8, new Uint8Array(8));
    const command = makeCommand({ length: 0, queuePairNumber });
    for (const [index, time] of [300n, 303n, 307n, 310n].entries()) {
      port.setTime(time);
      port.write(9, index * 16, command.slice(index * 16, index * 16 + 16));
    }
    // The next command of the same VCB has its own time.
    port.setTime(400n);
    port.write(9, 0, makeCommand({ length: 0, queuePairNumber, sequenceNumber: 1 }));
    const times = [0, 1].map((index) => {
      const record = new DataView(port.memory, index * KICK_RECORD_BYTES, KICK_RECORD_BYTES);
      return [
        getKickRecordOrigin(record, 0),
        getKickRecordBeginLow(record, 0),
        getKickRecordEndLow(record, 0),
      ];
    });
    expect(times).toEqual([
      [origin, 300, 310],
      [origin, 400, 400],
    ]);
  });

  it('report that a command found no PCB, and number it with the others', () => {
    const port = makePort(4, 1);
    kick(port, 1);
    port.write(200, 8, new Uint8Array(8)); // takes the only PCB
    kick(port, 2);
    const record = new DataView(port.memory, KICK_RECORD_BYTES, KICK_RECORD_BYTES);
    expect(getKickRecordOrigin(record, 0)).toBe(KickOrigin.sendQueueMode);
    expect(getKickRecordPhysicalCollectBuffer(record, 0)).toBe(0xffff);
    expect(getKickRecordKickNumber(record, 0)).toBe(1);
  });

  it('report when the last packet has left', () => {
    const port = makePort(4);
    const [unit] = kick(port, 5);
    port.setTime(230n);
    port.sent(unit!, 2, Opcode.send, 200n);
    const [kicked, sent] = [0, 1].map(
      (index) => new DataView(port.memory, index * KICK_RECORD_BYTES, KICK_RECORD_BYTES),
    );
    expect(getKickRecordType(sent!, 0)).toBe(KickRecordType.sent);
    expect(getKickRecordKickNumber(sent!, 0)).toBe(getKickRecordKickNumber(kicked!, 0));
    expect(getKickRecordTransmitVirtualLane(sent!, 0)).toBe(0);
    expect([getKickRecordBeginLow(sent!, 0), getKickRecordEndLow(sent!, 0)]).toEqual([200, 230]);
  });

  it('wrap with phase and sequence, and are dropped and counted if the host lags', () => {
    const port = makePort(3);
    const head = new DataView(port.memory, headOffset, 8);
    let consumed = 0;
    let dropped = 0;
    let sequenceNumber = 0;
    for (const consume of [3, 0, 2, 8, 5, 0, 0, 1, 8, 7, 4, 8]) {
      for (let count = 0; count < 5; count++) {
        const written = port.counters(0)['kickRecordsWritten']!;
        kick(port, sequenceNumber++);
        const wrote = written - consumed < 8;
        expect(port.counters(0)['kickRecordsWritten']).toBe(wrote ? written + 1 : written);
        if (!wrote) {
          expect(port.counters(0)['kickRecordsDropped']).toBe(++dropped);
          continue;
        }
        const record = new DataView(port.memory, (written % 8) * KICK_RECORD_BYTES, KICK_RECORD_BYTES);
        expect(getKickRecordSequence(record, 0)).toBe(written);
        expect(getKickRecordPhase(record, 0)).toBe(1 - (Math.floor(written / 8) % 2));
        expect(getKickRecordDropped(record, 0)).toBe(dropped);
        expect(getKickRecordSendQueueSequenceNumber(record, 0)).toBe(sequenceNumber - 1);
      }
      consumed = Math.min(consumed + consume, port.counters(0)['kickRecordsWritten']!);
      setRingHeadHead(head, 0, consumed);
    }
    expect(dropped).toBeGreaterThan(0);
  });

  it('read the head only when its copy says nearly full', () => {
    const port = makePort(4);
    for (let count = 0; count < 14; count++) kick(port, count);
    expect(port.counters(0)['hostReads']).toBe(0);
    setRingHeadHead(new DataView(port.memory, headOffset, 8), 0, 14);
    kick(port, 14);
    expect(port.counters(0)['hostReads']).toBe(1);
    for (let count = 15; count < 28; count++) kick(port, count);
    expect(port.counters(0)['hostReads']).toBe(1);
  });

  it('restart when enabled', () => {
    const port = makePort(4);
    for (let count = 0; count < 5; count++) kick(port, count);
    port.setKickRecords(0, 1, 4, port.base, port.base + BigInt(headOffset));
    kick(port, 9);
    const record = new DataView(port.memory, 0, KICK_RECORD_BYTES);
    expect([getKickRecordSendQueueSequenceNumber(record, 0), getKickRecordSequence(record, 0)]).toEqual([
      9, 0,
    ]);
  });

  it('belong to one function: another one without a ring writes none', () => {
    const port = makePort(4);
    port.defineQueuePair(1, queuePairNumber, 0, 0);
    kick(port, 1, 40);
    expect(port.counters(1)['kickRecordsWritten']).toBe(0);
    expect(new Uint8Array(port.memory).every((byte) => byte === 0)).toBe(true);
  });

  describe('of all functions', () => {
    const ownPlace = 0x4000;
    const ownHead = 0x9000;
    /**
     * Function 0 requests the records of all functions; a command of each function from its VCB: 2 of
     * function 0, 40 of function 1.
     */
    function makeGathering(): CollectBufferPort {
      const port = makePort(4);
      port.setKickRecords(0, 1, 4, port.base, port.base + BigInt(headOffset), true);
      port.defineQueuePair(1, queuePairNumber + 1, 0, 0);
      return port;
    }
    const kickOfOther = (port: CollectBufferPort, sequenceNumber: number): void => {
      const command = makeCommand({ length: 0, queuePairNumber: queuePairNumber + 1, sequenceNumber });
      for (const write of wholeLines(command)) post(port, 40, write);
      const [unit] = port.takeKicks();
      port.sent(unit!, 40, Opcode.send, 0n);
      port.release(0);
    };
    const recordsAt = (port: CollectBufferPort, place: number): number[][] => {
      const records = new DataView(port.memory, place, 16 * KICK_RECORD_BYTES);
      return Array.from({ length: 16 }, (_, index) => index * KICK_RECORD_BYTES)
        .filter((at) => getKickRecordType(records, at) !== KickRecordType.none)
        .map((at) => [
          getKickRecordUnderlyingFunction(records, at),
          getKickRecordType(records, at),
          getKickRecordSendQueueSequenceNumber(records, at),
          getKickRecordSequence(records, at),
        ]);
    };
    const { kicked, sent } = KickRecordType;

    it('go to the ring of the control function if it requests them, in order', () => {
      const port = makeGathering();
      kick(port, 7);
      kickOfOther(port, 8);
      expect(recordsAt(port, 0)).toEqual([
        [0, kicked, 7, 0],
        [1, kicked, 8, 1],
        [1, sent, 8, 2],
      ]);
      expect(port.counters(0)['kickRecordsWritten']).toBe(3);
      expect(port.counters(1)['kickRecordsWritten']).toBe(0);
    });

    it("leave a function's own ring unchanged, and count its drops separately", () => {
      const port = makeGathering();
      port.setKickRecords(1, 1, 1, port.base + BigInt(ownPlace), port.base + BigInt(ownHead));
      kick(port, 7);
      kickOfOther(port, 8);
      kickOfOther(port, 9); // its ring of two is full
      expect(recordsAt(port, ownPlace)).toEqual([
        [1, kicked, 8, 0],
        [1, sent, 8, 1],
      ]);
      expect(recordsAt(port, 0).map(([, , , sequence]) => sequence)).toEqual([0, 1, 2, 3, 4]);
      expect(port.counters(1)).toMatchObject({ kickRecordsWritten: 2, kickRecordsDropped: 2 });
      expect(port.counters(0)).toMatchObject({ kickRecordsWritten: 5, kickRecordsDropped: 0 });
    });

    it('never go to another function', () => {
      const port = makePort(4);
      port.setKickRecords(1, 1, 4, port.base + BigInt(ownPlace), port.base + BigInt(ownHead), true);
      kick(port, 7);
      expect(recordsAt(port, ownPlace)).toEqual([]);
    });

    it('end if the control function turns its ring off, or a DMA to it fails', () => {
      const port = makeGathering();
      port.setKickRecords(0, 0, 4, port.base, port.base + BigInt(headOffset), true);
      kickOfOther(port, 8);
      expect(recordsAt(port, 0)).toEqual([]);
      port.setKickRecords(0, 1, 4, 0n, port.base + BigInt(headOffset), true);
      kickOfOther(port, 9);
      kickOfOther(port, 10);
      expect(port.takeEvents().map((event) => getEventUnitType(viewOf(event), 0))).toEqual([
        EventType.dmaFault,
      ]);
      expect(port.counters(0)).toMatchObject({ kickRecordsWritten: 0, kickRecordsDropped: 1 });
    });
  });

  it.each([
    { what: 'ring', ringMapped: 0n, written: 0 },
    { what: 'head', ringMapped: 1n, written: 7 },
  ])('are turned off with one event if the $what cannot be accessed', ({ ringMapped, written }) => {
    const port = makePort(3);
    port.setKickRecords(0, 1, 3, port.base * ringMapped, 0n);
    for (let count = 0; count < 12; count++) kick(port, count);
    const events = port.takeEvents().map((event) => viewOf(event));
    expect(events.map((event) => getEventUnitType(event, 0))).toEqual([EventType.dmaFault]);
    expect(getEventUnitDetailLow(events[0]!, 0)).toBe(0);
    expect(port.counters(0)).toMatchObject({
      kicks: 12,
      dmaFaults: 1,
      kickRecordsDropped: 1,
      kickRecordsWritten: written,
    });
  });
});
