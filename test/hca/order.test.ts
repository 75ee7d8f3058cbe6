import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CompletionStatus, DoorbellSlot, QueuePairState } from '../../lib/spec/enums.ts';
import { OrderBench, type BenchQueuePair } from './order_bench.ts';
import { Block } from './order_port.ts';
import { Random } from '../helpers/random.mjs';

const blocks = Object.values(Block);

interface Scenario {
  seed: number;
  pool: number;
  schedulerBuffers: number;
  lanes: number;
  executionCredits: number;
  completionCredits: number;
  shared: number;
  batch: number;
  cached: number;
  queuePairs: number;
  log2: number;
  entryCredits: number;
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.integer(),
  pool: fc.integer({ min: 1, max: 6 }),
  schedulerBuffers: fc.integer({ min: 1, max: 4 }),
  lanes: fc.integer({ min: 1, max: 6 }),
  executionCredits: fc.integer({ min: 0, max: 2 }),
  completionCredits: fc.integer({ min: 0, max: 2 }),
  shared: fc.integer({ min: 1, max: 4 }),
  batch: fc.integer({ min: 1, max: 4 }),
  cached: fc.integer({ min: 2, max: 8 }),
  queuePairs: fc.integer({ min: 1, max: 6 }),
  log2: fc.integer({ min: 1, max: 4 }),
  entryCredits: fc.integer({ min: 1, max: 10 }),
});

function makeBench(options: Scenario): OrderBench {
  const bench = new OrderBench({
    physicalCollectBuffers: options.pool,
    managementPhysicalCollectBuffers: 1,
    dedicatedPhysicalCollectBuffers: 1 + options.schedulerBuffers,
    transmitVirtualLanes: options.lanes,
    executionCreditsPerLane: options.executionCredits,
    completionCreditsPerLane: options.completionCredits,
    sharedExecutionCredits: options.shared,
    sharedCompletionCredits: options.shared,
    schedulerBatch: options.batch,
    queuePairContextsCached: options.cached,
  });
  bench.port.setEntryCredits(0, options.entryCredits);
  return bench;
}

/** Stops or drains a queue pair, or lets it go on. */
function disturb(bench: OrderBench, queuePair: BenchQueuePair, random: Random): void {
  const { underlyingFunction, number } = queuePair;
  const kind = random.below(4);
  if (kind === 0) bench.ring(queuePair, DoorbellSlot.stop);
  else if (kind === 1) goOn(bench, queuePair);
  else if (kind === 2) bench.port.setState(underlyingFunction, number, QueuePairState.sendQueueDrained);
  else resume(bench, queuePair);
}

/** Starts the scheduler through the newest work request. */
function goOn(bench: OrderBench, queuePair: BenchQueuePair): void {
  if (queuePair.posted.length > 0) bench.startThroughNewest(queuePair);
}

/** Brings a queue pair from SQD to RTS. */
function resume(bench: OrderBench, { underlyingFunction, number }: BenchQueuePair): void {
  bench.port.setState(underlyingFunction, number, QueuePairState.readyToSend);
  while (!bench.port.resume(underlyingFunction, number)) bench.stepAll();
}

/** A command being written to a VCB: its remaining writes. */
interface Writing {
  buffer: number;
  writes: { offset: number; bytes: Uint8Array }[];
}

/** A host process that posts work requests and kicks them in any order, late, twice or never. */
class Host {
  private readonly late: { queuePair: BenchQueuePair; command: Uint8Array }[] = [];
  private readonly writing: Writing[] = [];

  private readonly bench: OrderBench;
  private readonly random: Random;

  constructor(bench: OrderBench, random: Random) {
    this.bench = bench;
    this.random = random;
  }

  /** Posts a work request, and writes its command now, later, or never. */
  post(queuePair: BenchQueuePair): void {
    if (!this.bench.hasRoom(queuePair)) return;
    const command = this.bench.post(queuePair, this.random.below(257));
    const fate = this.random.below(8);
    if (fate < 4) this.begin(queuePair, command);
    else if (fate < 7) this.late.push({ queuePair, command });
  }

  /** Kicks a late command, which may be kicked again. */
  kickLate(): void {
    if (this.late.length === 0) return;
    const at = this.random.below(this.late.length);
    const { queuePair, command } = this.late[at]!;
    if (!this.random.once(4)) this.late.splice(at, 1);
    this.begin(queuePair, command);
  }

  /** Begins to write a command to an idle VCB; the rest follows later. */
  private begin(queuePair: BenchQueuePair, command: Uint8Array): void {
    const buffers = [0, 1, 2, 3]
      .map((index) => this.bench.bufferOf(queuePair.underlyingFunction, index))
      .filter((buffer) => !this.writing.some((writing) => writing.buffer === buffer));
    if (buffers.length === 0) return;
    const writes = [];
    for (let offset = 0; offset < command.length; offset += 32)
      writes.push({ offset, bytes: command.slice(offset, offset + 32) });
    this.writing.push({ buffer: this.random.pick(buffers), writes });
  }

  /** Continues a command. */
  goOn(times = 1 + this.random.below(12)): void {
    if (this.writing.length === 0) return;
    const at = this.random.below(this.writing.length);
    const { buffer, writes } = this.writing[at]!;
    for (const { offset, bytes } of writes.splice(0, times)) this.bench.write(buffer, offset, bytes);
    if (writes.length === 0) this.writing.splice(at, 1);
  }

  /** Completes all begun commands. */
  finish(): void {
    while (this.writing.length > 0) this.goOn(40);
  }
}

describe('order of a queue pair', () => {
  it('is the order of its send queue, however commands arrive: none lost, none twice', () => {
    fc.assert(
      fc.property(scenario, (options) => {
        const bench = makeBench(options);
        const random = new Random(options.seed);
        const queuePairs = Array.from({ length: options.queuePairs }, (_, index) =>
          bench.makeQueuePair({
            underlyingFunction: index & 1,
            level: (index >> 1) & 1,
            log2: options.log2,
            checksumSecret: random.below(2) * 0x1234567,
          }),
        );
        for (const queuePair of queuePairs)
          bench.setPosition(queuePair, random.pick([0, 1, 0x7ff8, 0x8000, 0xfff8, 0xffff]));
        const host = new Host(bench, random);
        for (let action = 0; action < 400; action++) {
          const kind = random.below(12);
          if (kind < 2) host.post(random.pick(queuePairs));
          else if (kind === 2) host.kickLate();
          else if (kind < 5) host.goOn();
          else if (kind === 5 && random.once(2)) disturb(bench, random.pick(queuePairs), random);
          else bench.step(random.pick(blocks));
          expect(bench.port.verify()).toBeNull();
        }
        host.finish();
        for (const queuePair of queuePairs) {
          resume(bench, queuePair);
          goOn(bench, queuePair);
        }
        bench.settle();
        for (const queuePair of queuePairs) {
          expect(queuePair.executed).toEqual(queuePair.posted);
          expect(bench.port.pins(queuePair.number)).toBe(0);
        }
        expect(bench.executions.every(({ status }) => status === CompletionStatus.success)).toBe(true);
        expect(bench.takeEvents()).toEqual([]);
        expect(bench.port.verify()).toBeNull();
      }),
    );
  });
});
