// A suite for a driver over fpga-verbs, to be copied: each test has a stepped board of its own, so that nothing happens unless it is asked
// to, and a failure happens again the same way. Replace Mailbox, the driver under test here, by your own.
//
// Run it: npx vitest run driver-suite.test.ts
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  Completion,
  CompletionStatus,
  Opcode,
  openDevice,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type QueuePair,
} from 'fpga-verbs';
import { EmulatedBoard } from 'fpga-verbs/board';
import { addressOf, connectQueuePair } from 'fpga-verbs/connect';

/** The driver under test: words that are written into the memory at the other end. */
class Mailbox {
  readonly memory: MemoryRegion;
  private readonly queuePair: QueuePair;
  private readonly queue: CompletionQueue;

  constructor(device: Context) {
    const domain = device.createProtectionDomain();
    this.queue = device.createCompletionQueue();
    this.queuePair = domain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: this.queue,
      receiveCompletionQueue: this.queue,
      signalAll: true,
      capabilities: { maxInlineData: 64 },
    });
    this.memory = domain.allocate(64, 0b111); // local write, remote write, remote read
    const here = addressOf(device, this.queuePair);
    connectQueuePair(this.queuePair, here, here);
  }

  put(word: string): void {
    this.queuePair.postSend({
      wrId: word.length,
      opcode: Opcode.rdmaWrite,
      inlineData: new TextEncoder().encode(word),
      remote: this.memory.remote().slice(0, word.length),
    });
  }

  /** How the words ended that were put since the last time. */
  results(): CompletionStatus[] {
    const completions = Array.from({ length: 16 }, () => new Completion());
    return completions.slice(0, this.queue.poll(completions)).map(({ status }) => status);
  }

  get word(): string {
    return new TextDecoder().decode(this.memory.bytes).replace(/\0+$/, '');
  }
}

let board: EmulatedBoard;
let mailbox: Mailbox;

beforeEach(() => {
  board = new EmulatedBoard({ progress: 'stepped', seed: 1 });
  const device = openDevice(board.open());
  mailbox = new Mailbox(device);
  onTestFinished(() => {
    expect(board.verify()).toBeUndefined(); // the device is consistent, whatever the test did to it
    board.close();
  });
});

describe('the mailbox', () => {
  it('puts a word into the memory', () => {
    mailbox.put('hello');
    expect(mailbox.word).toBe(''); // nothing happens before the board is stepped
    board.runUntilIdle();
    expect(mailbox.results()).toEqual([CompletionStatus.success]);
    expect(mailbox.word).toBe('hello');
  });

  it('writes its command at one go', () => {
    board.startRecording();
    mailbox.put('hello');
    board.runUntilIdle();
    const { transactions } = board.stopRecording();
    const commands = transactions.filter(({ bar }) => bar === 2);
    expect(commands.map(({ data }) => data.length)).toEqual([64, 8]);
  });

  it('gets over writes that are lost on their way', () => {
    const lost = board.inject({ kind: 'drop', bar: 2, count: 0 });
    mailbox.put('first');
    board.runUntilIdle();
    expect([mailbox.results(), lost.happened]).toEqual([[], 2]);
    lost.remove();
    mailbox.put('second'); // the device sees the gap, and fetches what it missed
    board.runUntilIdle();
    expect(mailbox.results()).toEqual([CompletionStatus.success, CompletionStatus.success]);
    expect(mailbox.word).toBe('second');
  });

  it('tells of memory that the device does not reach', () => {
    const { address } = mailbox.memory;
    board.inject({ kind: 'fault_dma', begin: address, end: address + 64n, count: 0 });
    mailbox.put('hello');
    board.runUntilIdle();
    expect(mailbox.results()).not.toEqual([CompletionStatus.success]);
  });
});
