import { describe, expect, it } from 'vitest';

import {
  EmulatedBoard,
  formatRecording,
  parseRecording,
  type BoardOptions,
  type FaultRule,
} from '../../lib/board/index.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import type { QueuePair } from '../../lib/driver/queue_pair.ts';
import { Opcode } from '../../lib/spec/index.ts';
import { closing } from '../helpers/backends.ts';

const small: BoardOptions = { progress: 'stepped', queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 };

function open(options: BoardOptions = small): {
  board: EmulatedBoard;
  driver: HcaDriver;
  queuePair: QueuePair;
} {
  const board = closing(new EmulatedBoard(options));
  const driver = closing(new HcaDriver(board.open()));
  const { queuePair } = new UnansweredQueuePair(driver, { entries: 16, gatherEntries: 0, inlineBytes: 256 });
  board.runUntilIdle();
  return { board, driver, queuePair };
}

const send = { opcode: Opcode.send, inlineData: new Uint8Array(100), checksum: true };

describe('a recording', () => {
  it('describes every transaction in words, and survives conversion to text and back', () => {
    const { board, queuePair } = open();
    board.startRecording();
    queuePair.post(send);
    queuePair.virtualCollectBuffer.stop(queuePair.number);
    board.runUntilIdle();
    const recording = board.stopRecording();
    expect(recording.transactions.map((each) => board.describe(each).replace(/^\d+ /, ''))).toEqual([
      'write function 0 vcb 0 + 0x0, 64 B',
      'write function 0 vcb 0 + 0x40, 64 B',
      'write function 0 vcb 0 + 0x80, 40 B',
      expect.stringMatching(/^write function 0 vcb 0 doorbell stop: [0-9a-f]{16}$/),
    ]);
    expect(parseRecording(formatRecording(recording))).toEqual(recording);
  });

  it('names the registers of its transactions', () => {
    const { board, driver } = open();
    board.startRecording();
    driver.device.identityPage.read32(0);
    driver.device.page.read64(0x10);
    driver.device.page.write32(0x24, 4);
    board.runUntilIdle();
    expect(board.takeTransactions().map((each) => board.describe(each).replace(/^\d+ /, ''))).toEqual([
      'read function 0 identity.magic: 43485646',
      expect.stringMatching(/^read function 0 underlying_function\[0\].clock: [0-9a-f]{8}$/),
      'read function 0 underlying_function[0].clock high half: 00000000',
      'write function 0 underlying_function[0].management_queue_size: 00000004',
    ]);
  });

  it('gives the same answers when replayed on another board with the same options', () => {
    const record = (): EmulatedBoard => {
      const board = closing(new EmulatedBoard(small));
      board.startRecording();
      return board;
    };
    const first = record();
    const opened = first.open();
    for (const offset of [0, 4, 8, 0x40, 0x60]) opened.read32(0, offset);
    opened.write32(2, 0x40, 1);
    opened.read32(0, 0x20010);
    const { options, transactions } = first.stopRecording();
    const second = closing(new EmulatedBoard(options));
    expect(second.replay(transactions)).toBe(0);
    const changed = transactions.map((each) =>
      each.offset === 0x40 && each.kind === 'read' ? { ...each, data: new Uint8Array(4) } : each,
    );
    expect(closing(new EmulatedBoard(options)).replay(changed)).toBe(1);
  });

  it.each([
    ['{}', /line 1: not an fpga-verbs recording of version 1/],
    ['garbage', /line 1: not JSON/],
    [
      '{"format":"fpga-verbs recording","version":1,"options":{}}\n{"kind":"jump"}',
      /line 2: not a transaction/,
    ],
  ])('is refused if malformed: %s', (text, message) => {
    expect(() => parseRecording(text)).toThrow(message);
  });
});

describe('a fault', () => {
  const vcb = { bar: 2 } as const;
  const rules: readonly FaultRule[] = [
    { kind: 'drop', ...vcb, nth: 1 },
    { kind: 'tear', ...vcb, nth: 0, doubleWords: 0xff },
  ];
  it.each(rules)('%j keeps a command from being kicked', (rule) => {
    const { board, queuePair } = open();
    const fault = board.inject(rule);
    queuePair.post(send);
    board.runUntilIdle();
    expect(fault.happened).toBe(1);
    expect(queuePair.query().next).toBe(0);
  });

  it('that reorders writes does not disturb the scoreboard', () => {
    const { board, queuePair } = open();
    const fault = board.inject({ kind: 'reorder', bar: 2, nth: 0, transactions: 2 });
    queuePair.post(send);
    board.runUntilIdle();
    expect(fault.happened).toBe(1);
    expect(queuePair.query().next).toBe(1);
  });

  it('releases the writes that it holds when it is removed', () => {
    const { board, queuePair } = open();
    const fault = board.inject({ kind: 'delay', bar: 2, nth: 0, ticks: 1e9 });
    const before = board.counters().writes;
    queuePair.post(send);
    board.runUntilIdle();
    // The delayed write and all behind it wait; a read would flush them.
    expect([fault.happened, board.counters().writes]).toEqual([1, before]);
    fault.remove();
    board.runUntilIdle();
    expect(board.counters().writes).toBe(before + 3);
    expect(queuePair.query().next).toBe(1);
  });

  it('of a DMA is reported by the device and by the board', () => {
    const { board, driver, queuePair } = open();
    const { references } = queuePair.sendQueue;
    board.inject({ kind: 'fault_dma', begin: references.address, end: references.address + 4096n, count: 0 });
    queuePair.postBatch([send]);
    board.runUntilIdle();
    expect(board.takeDmaFaults()).toMatchObject([
      { underlyingFunction: 0, address: references.address, direction: 'read', reason: 'injected' },
    ]);
    expect([driver.events.poll(), driver.events.poll()]).toMatchObject([
      { name: 'dmaFault', detail: references.address },
      { name: 'queuePairFatal', object: queuePair.number },
    ]);
  });

  it('loses an interrupt', () => {
    const { board, driver } = open();
    const fault = board.inject({ kind: 'lose_interrupt', count: 0 });
    driver.events.arm();
    driver.device.board.write32(2, 4096 * 3 + 320, 1); // beyond a command: raises an event
    board.runUntilIdle();
    expect(fault.happened).toBe(1);
    expect(board.counters().interruptsLost).toBe(1);
    expect(driver.events.poll()).toMatchObject({ name: 'virtualCollectBufferError' });
  });
});
