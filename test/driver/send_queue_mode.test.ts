import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { QueuePair } from '../../lib/driver/queue_pair.ts';
import { KickOrigin, KickRecordType, Opcode } from '../../lib/spec/index.ts';
import { CommandBench, sentBy, type WrittenCommand } from '../helpers/command_bench.ts';

/** So few that half-written commands soon occupy all of them. */
const few = {
  underlyingFunctions: 1,
  physicalCollectBuffers: 4,
  dedicatedPhysicalCollectBuffers: 3,
  virtualCollectBuffers: 32,
  schedulerBatch: 2,
  transmitVirtualLanes: 4,
} as const;

/** Half-written commands in VCBs that no queue pair uses hold physical collect buffers. */
class Hog {
  private readonly bench: CommandBench;
  private readonly held: number[] = [];

  constructor(bench: CommandBench) {
    this.bench = bench;
  }

  take(): void {
    const buffers = this.bench.driver.virtualCollectBuffers.all;
    const index = buffers.length - 1 - this.held.length;
    if (this.held.length >= 8) return;
    this.held.push(index);
    this.bench.write(buffers[index]!.offset + 8, new Uint8Array(8));
  }

  release(): void {
    const index = this.held.pop();
    if (index !== undefined) this.bench.driver.virtualCollectBuffers.all[index]!.cancel();
  }
}

it('a command without a buffer is fetched from the send queue', () => {
  const bench = new CommandBench(few);
  const queuePair = bench.makeQueuePair();
  const hog = new Hog(bench);
  for (let times = 0; times < 4; times++) hog.take();
  const command = bench.encode(queuePair, {
    opcode: Opcode.send,
    inlineData: new Uint8Array(200),
    checksum: true,
  });
  bench.writeWhole(command);
  const records = bench.settle();
  expect(records.map(({ type, origin, length }) => [type, origin, length])).toEqual([
    [KickRecordType.kicked, KickOrigin.sendQueueMode, 200],
    [KickRecordType.kicked, KickOrigin.scheduled, 200],
    [KickRecordType.sent, KickOrigin.scheduled, 200],
  ]);
  expect(bench.register('send_queue_mode_kicks')).toBe(1n);
  // As soon as a buffer is free, commands execute directly again.
  hog.release();
  bench.writeWhole(bench.encode(queuePair, { opcode: Opcode.send }));
  expect(bench.settle().map(({ origin }) => origin)).toEqual([KickOrigin.collected, KickOrigin.collected]);
});

/** The next action; `value` is a payload, a number of requests, or of steps. */
const action = fc.record({
  kind: fc.constantFrom('post', 'batch', 'late', 'finish', 'take', 'release', 'step'),
  queuePair: fc.nat({ max: 2 }),
  value: fc.nat({ max: 256 }),
});

/** A queue pair of an application, each with its own VCB: a command may be half-written while others post. */
class Sender {
  posted = 0;
  readonly queuePair: QueuePair;
  private readonly bench: CommandBench;
  private unfinished: WrittenCommand | undefined;

  constructor(bench: CommandBench) {
    this.bench = bench;
    this.queuePair = bench.makeQueuePair(512);
  }

  post(length: number): void {
    this.finish();
    this.bench.writeWhole(this.encode(length));
  }

  /** Writes the beginning of a command. */
  late(length: number): void {
    this.finish();
    const command = this.encode(length);
    this.bench.write(command.offset, command.bytes.subarray(0, 32));
    this.unfinished = command;
  }

  finish(): void {
    const command = this.unfinished;
    this.unfinished = undefined;
    if (command === undefined) return;
    const { offset, bytes } = command;
    this.bench.write(offset + 32, bytes.subarray(32, 64));
    this.bench.writeWhole({ offset: offset + 64, bytes: bytes.subarray(64) });
  }

  batch(count: number): void {
    this.finish();
    this.posted += this.queuePair.postBatch(Array.from({ length: count }, () => ({ opcode: Opcode.send })));
  }

  private encode(length: number): WrittenCommand {
    this.posted += 1;
    const inlineData = new Uint8Array(length).fill(length);
    return this.bench.encode(this.queuePair, { opcode: Opcode.send, inlineData, checksum: true });
  }
}

describe('send queue mode', () => {
  it('keeps the order of every send queue for random interleavings: none lost, none twice', () => {
    const modes = { sendQueueMode: 0, direct: 0 };
    fc.assert(
      fc.property(fc.array(action, { minLength: 20, maxLength: 120 }), (actions) => {
        const bench = new CommandBench(few);
        const senders = Array.from({ length: 3 }, () => new Sender(bench));
        const hog = new Hog(bench);
        const records = bench.settle();
        for (const each of actions) {
          const sender = senders[each.queuePair]!;
          if (each.kind === 'take') hog.take();
          else if (each.kind === 'release') hog.release();
          else if (each.kind === 'step') bench.board.step(each.value % 41);
          else if (each.kind === 'post') sender.post(each.value);
          else if (each.kind === 'late') sender.late(each.value);
          else if (each.kind === 'batch') sender.batch(each.value % 6);
          else sender.finish();
        }
        for (const sender of senders) sender.finish();
        records.push(...bench.settle());
        for (const { queuePair, posted } of senders) {
          expect(sentBy(queuePair, records)).toEqual(Array.from({ length: posted }, (_, index) => index));
          expect(queuePair.query()).toMatchObject({ next: posted, inFlight: 0 });
        }
        expect(bench.events()).toEqual([]);
        modes.sendQueueMode += Number(bench.register('send_queue_mode_kicks'));
        modes.direct += Number(bench.register('kicks'));
      }),
      { numRuns: 60 },
    );
    // Commands were executed directly, and through the send queue.
    expect(modes.sendQueueMode).toBeGreaterThan(0);
    expect(modes.direct).toBeGreaterThan(0);
  });
});
