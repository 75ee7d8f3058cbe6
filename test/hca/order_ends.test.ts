import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CompletionStatus } from '../../lib/spec/enums.ts';
import { OrderBench, type BenchQueuePair } from './order_bench.ts';
import { Block } from './order_port.ts';
import { Random } from '../helpers/random.mjs';

const blocks = Object.values(Block);

/** A bench with few of every resource, so that commands of several queue pairs are in flight everywhere. */
function makeBusyBench(random: Random): { bench: OrderBench; queuePairs: BenchQueuePair[] } {
  const bench = new OrderBench({
    transmitVirtualLanes: 1 + random.below(3),
    executionCreditsPerLane: 1,
    completionCreditsPerLane: 1,
    sharedExecutionCredits: 1,
    sharedCompletionCredits: 1,
    physicalCollectBuffers: 1 + random.below(6),
    dedicatedPhysicalCollectBuffers: 2 + random.below(4),
    managementPhysicalCollectBuffers: 1,
    schedulerBatch: 1 + random.below(4),
    queuePairContextsCached: 2 + random.below(4),
  });
  const queuePairs = Array.from({ length: 6 }, (_, index) =>
    bench.makeQueuePair({ underlyingFunction: index & 1, level: (index >> 1) & 1 }),
  );
  return { bench, queuePairs };
}

/** Posts, kicks in order and out of it, and steps some blocks. */
function makeBusy(bench: OrderBench, queuePairs: readonly BenchQueuePair[], random: Random): void {
  for (let action = 0; action < 60; action++) {
    const queuePair = random.pick(queuePairs);
    if (random.once(3)) {
      if (!bench.hasRoom(queuePair)) continue;
      const command = bench.post(queuePair);
      if (!random.once(3)) bench.kick(queuePair, command);
    } else bench.step(random.pick(blocks));
  }
}

describe('with commands in flight', () => {
  it('a queue pair under destruction executes nothing more', () => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair();
    for (let kicks = 0; kicks < 3; kicks++) bench.kick(queuePair, bench.post(queuePair));
    while (bench.step(Block.virtualKick));
    bench.kick(queuePair, bench.post(queuePair));
    bench.port.quiesce(0, queuePair.number);
    expect(bench.port.pins(queuePair.number)).toBe(3);
    bench.settle();
    expect(queuePair.executed).toEqual([]);
    expect(bench.port.counters(0).commandsStale).toBe(4);
    expect(bench.port.takeQuiet()).toBe(queuePair.number);
    expect(bench.port.verify()).toBeNull();
  });

  it('a queue pair under destruction gets no more turns of the scheduler', () => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair();
    for (let posts = 0; posts < 8; posts++) bench.post(queuePair);
    bench.startThroughNewest(queuePair);
    bench.step(Block.queuePairFetch);
    bench.step(Block.sendQueueScheduler);
    bench.port.quiesce(0, queuePair.number);
    bench.settle();
    expect(bench.port.counters(0).scheduledKicks).toBe(0);
    expect(bench.port.takeQuiet()).toBe(queuePair.number);
  });

  it('a queue pair is destroyed once nothing refers to it, and the others continue', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = new Random(seed);
        const { bench, queuePairs } = makeBusyBench(random);
        makeBusy(bench, queuePairs, random);
        const doomed = random.pick(queuePairs);
        const rest = queuePairs.filter((queuePair) => queuePair !== doomed);
        bench.port.quiesce(doomed.underlyingFunction, doomed.number);
        let destroyed: number | null = null;
        for (let rounds = 0; rounds < 1000 && destroyed === null; rounds++) {
          const pins = bench.port.pins(doomed.number);
          destroyed = bench.port.takeQuiet();
          expect(destroyed !== null).toBe(pins === 0);
          if (destroyed === null) bench.step(random.pick(blocks));
          expect(bench.port.verify()).toBeNull();
        }
        expect(destroyed).toBe(doomed.number);
        // A new queue pair gets its resources, but none of its commands.
        const heir = bench.makeQueuePair({ underlyingFunction: 1 - doomed.underlyingFunction });
        makeBusy(bench, [...rest, heir], random);
        for (const queuePair of [...rest, heir])
          if (queuePair.posted.length > 0) bench.startThroughNewest(queuePair);
        bench.settle();
        for (const queuePair of [...rest, heir]) expect(queuePair.executed).toEqual(queuePair.posted);
        expect(doomed.executed).toEqual(doomed.posted.slice(0, doomed.executed.length));
        expect(bench.executions.every(({ status }) => status === CompletionStatus.success)).toBe(true);
        expect(bench.takeEvents()).toEqual([]);
        expect(bench.port.verify()).toBeNull();
      }),
    );
  });

  it('a function is reset: none of its commands is executed or read, nothing is left, and the other continues', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = new Random(seed);
        const { bench, queuePairs } = makeBusyBench(random);
        makeBusy(bench, queuePairs, random);
        bench.port.resetFunction(1);
        const executions = bench.executions.length;
        const accesses = bench.port.accessesOf(1);
        const sunk = bench.port.counters(1);
        const rest = queuePairs.filter(({ underlyingFunction }) => underlyingFunction === 0);
        makeBusy(bench, rest, random);
        for (const queuePair of rest) if (queuePair.posted.length > 0) bench.startThroughNewest(queuePair);
        bench.settle();
        for (const queuePair of rest) expect(queuePair.executed).toEqual(queuePair.posted);
        expect(bench.port.accessesOf(1)).toBe(accesses);
        // Commands that queue_pair_fetch had already passed on may still leave.
        const late = bench.executions.slice(executions).filter((one) => one.underlyingFunction === 1);
        expect(late.length).toBeLessThanOrEqual(8);
        expect(bench.port.counters(1).commandsSent - sunk.commandsSent).toBe(late.length);
        expect(bench.port.verify()).toBeNull();
      }),
    );
  });
});
