import { describe, expect, it } from 'vitest';

import { OrderBench, type BenchQueuePair } from './order_bench.ts';
import { Block, type OrderOptions } from './order_port.ts';

/** Posts and kicks `times` commands in order. */
function kickInOrder(bench: OrderBench, queuePair: BenchQueuePair, times = 1): void {
  for (let kicks = 0; kicks < times; kicks++) bench.kick(queuePair, bench.post(queuePair));
}

/** Puts the kicked commands on the lists of their lanes; starts only those that can leave. */
function list(bench: OrderBench): void {
  while (bench.step(Block.virtualKick));
}

function commandsOn(bench: OrderBench, lanes: number): number[] {
  return Array.from({ length: lanes }, (_, lane) => bench.port.laneState(lane).commands);
}

describe('virtual_kick', () => {
  const oneCredit: Partial<OrderOptions> = {
    transmitVirtualLanes: 4,
    executionCreditsPerLane: 1,
    completionCreditsPerLane: 1,
    sharedExecutionCredits: 0,
    sharedCompletionCredits: 0,
  };

  it('keeps a queue pair on its lane while it has an unfinished command, and then chooses again', () => {
    const bench = new OrderBench(oneCredit);
    const [first, second] = [bench.makeQueuePair(), bench.makeQueuePair()];
    bench.port.setLanes(0, 0, 0b0011n);
    bench.port.setSharedLanes(0b1100n);
    kickInOrder(bench, first, 3);
    list(bench);
    kickInOrder(bench, second);
    list(bench);
    // One command of each queue pair is started; the others of the first wait on its lane although lanes are
    // idle.
    expect(commandsOn(bench, 4)).toEqual([2, 0, 0, 0]);
    bench.port.setLanes(0, 0, 0b0010n);
    kickInOrder(bench, first);
    bench.settle();
    const lanesOf = (queuePair: BenchQueuePair): number[] =>
      bench.executions.filter((one) => one.queuePairNumber === queuePair.number).map((one) => one.lane);
    expect(lanesOf(first)).toEqual([0, 0, 0, 0]);
    expect(lanesOf(second)).toEqual([1]);
    kickInOrder(bench, first);
    bench.settle();
    expect(lanesOf(first).at(-1)).toBe(1);
  });

  it('selects the least loaded lane: own lanes before shared ones, never lanes of others', () => {
    const bench = new OrderBench({ ...oneCredit, physicalCollectBuffers: 16 });
    bench.port.setLanes(0, 0, 0b0001n);
    bench.port.setLanes(0, 1, 0b0010n);
    bench.port.setLanes(1, 0, 0b0010n);
    bench.port.setSharedLanes(0b1100n);
    // The first three find an idle lane.
    const queuePairs = Array.from({ length: 5 }, () => bench.makeQueuePair());
    for (const queuePair of queuePairs) kickInOrder(bench, queuePair);
    list(bench);
    bench.settle();
    expect(bench.executions.map(({ lane }) => lane).sort((one, other) => one - other)).toEqual([
      0, 0, 2, 2, 3,
    ]);
  });

  it('refuses a mapping that leaves a level without a lane, and ignores nonexistent lanes', () => {
    const bench = new OrderBench({ ...oneCredit, underlyingFunctions: 1 });
    expect(bench.port.setLanes(0, 0, 0b10001n)).toBe(true);
    expect(bench.port.setLanes(0, 1, 0n)).toBe(true);
    expect(bench.port.setSharedLanes(0b10000n)).toBe(false);
    expect(bench.port.setLanes(0, 1, 0b0010n)).toBe(true);
    expect(bench.port.setSharedLanes(0n)).toBe(true);
    expect(bench.port.setLanes(0, 0, 0b10000n)).toBe(false);
    const queuePair = bench.makeQueuePair();
    kickInOrder(bench, queuePair);
    bench.settle();
    expect(bench.executions.map(({ lane }) => lane)).toEqual([0]);
  });

  it("uses a lane's own credits first, then shared ones up to the cap", () => {
    const bench = new OrderBench({
      transmitVirtualLanes: 2,
      executionCreditsPerLane: 1,
      completionCreditsPerLane: 2,
      sharedExecutionCredits: 4,
      sharedCompletionCredits: 1,
      physicalCollectBuffers: 16,
    });
    bench.port.setSharedLanes(0b10n);
    bench.port.setLanes(0, 0, 0b01n);
    const busy = bench.makeQueuePair();
    kickInOrder(bench, busy, 5);
    list(bench);
    expect(bench.port.laneState(0)).toEqual({
      commands: 2,
      executionCredits: 0,
      completionCredits: 0,
      sharedExecutionCredits: 2,
      sharedCompletionCredits: 1,
    });
    expect(bench.port.verify()).toBeNull();
    bench.settle();
    expect(bench.port.laneState(0)).toEqual({
      commands: 0,
      executionCredits: 1,
      completionCredits: 2,
      sharedExecutionCredits: 0,
      sharedCompletionCredits: 0,
    });
  });

  it('starts commands of the lanes in turn: a lane waits for one command of each other lane at most', () => {
    const bench = new OrderBench({ transmitVirtualLanes: 4, physicalCollectBuffers: 40 });
    bench.port.setSharedLanes(0b1111n);
    const queuePairs = Array.from({ length: 4 }, () => bench.makeQueuePair());
    for (let round = 0; round < 8; round++) for (const queuePair of queuePairs) kickInOrder(bench, queuePair);
    // Eight fill the link to the next block; the others wait on the lists.
    list(bench);
    expect(commandsOn(bench, 4)).toEqual([6, 6, 6, 6]);
    bench.settle();
    const lanes = bench.executions.map(({ lane }) => lane);
    for (let at = 0; at + 4 <= lanes.length; at++) expect(new Set(lanes.slice(at, at + 4)).size).toBe(4);
  });

  it('does not delay the commands of a function by the load of another', () => {
    const bench = new OrderBench({ transmitVirtualLanes: 4, physicalCollectBuffers: 60 });
    bench.port.setLanes(0, 0, 0b0001n);
    bench.port.setSharedLanes(0b1110n);
    bench.port.setLanes(1, 0, 0n);
    const flood = Array.from({ length: 6 }, () => bench.makeQueuePair({ underlyingFunction: 1 }));
    for (let round = 0; round < 6; round++) for (const queuePair of flood) kickInOrder(bench, queuePair);
    list(bench);
    kickInOrder(bench, bench.makeQueuePair());
    bench.settle();
    const at = bench.executions.findIndex(({ underlyingFunction }) => underlyingFunction === 0);
    expect(bench.executions).toHaveLength(37);
    // The eight in the link before it, and one of each other lane.
    expect(at).toBeLessThanOrEqual(8 + 3);
  });

  it('starts one command per step while lanes have work and credits', () => {
    const bench = new OrderBench({ transmitVirtualLanes: 4, physicalCollectBuffers: 16 });
    const queuePair = bench.makeQueuePair();
    kickInOrder(bench, queuePair, 8);
    let steps = 0;
    while (bench.executions.length < 8) {
      bench.stepAll();
      steps++;
    }
    expect(steps).toBeLessThanOrEqual(8);
  });

  it('passes a command without a free entry to the scheduler, and loses none', () => {
    const bench = new OrderBench({ ...oneCredit, physicalCollectBuffers: 16 });
    const [small, large] = [bench.makeQueuePair(), bench.makeQueuePair({ underlyingFunction: 1 })];
    bench.port.setEntryCredits(0, 1);
    for (let round = 0; round < 4; round++) {
      kickInOrder(bench, small, 4);
      kickInOrder(bench, large, 4);
      list(bench);
      expect(bench.port.verify()).toBeNull();
      bench.settle();
    }
    expect(bench.port.counters(0).commandsHandedBack).toBeGreaterThan(0);
    expect(bench.port.counters(1).commandsHandedBack).toBe(0);
    for (const queuePair of [small, large]) expect(queuePair.executed).toEqual(queuePair.posted);
  });
});
