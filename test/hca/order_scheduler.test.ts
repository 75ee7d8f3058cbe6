import { describe, expect, it } from 'vitest';

import { CompletionStatus, DoorbellSlot, QueuePairState } from '../../lib/spec/enums.ts';
import { OrderBench, type BenchQueuePair } from './order_bench.ts';
import { Block } from './order_port.ts';

/** Posts commands that are not kicked. */
function post(bench: OrderBench, queuePair: BenchQueuePair, times: number): Uint8Array[] {
  return Array.from({ length: times }, () => bench.post(queuePair));
}

function statuses(bench: OrderBench): CompletionStatus[] {
  return bench.executions.map(({ status }) => status as CompletionStatus);
}

describe('send_queue_scheduler', () => {
  it('does not deadlock with one credit of each kind, one PCB of each kind, and batches of one', () => {
    const bench = new OrderBench({
      transmitVirtualLanes: 1,
      executionCreditsPerLane: 1,
      completionCreditsPerLane: 1,
      sharedExecutionCredits: 0,
      sharedCompletionCredits: 0,
      physicalCollectBuffers: 1,
      dedicatedPhysicalCollectBuffers: 2,
      managementPhysicalCollectBuffers: 1,
      schedulerBatch: 1,
      queuePairContextsCached: 2,
    });
    const queuePairs = Array.from({ length: 8 }, (_, index) =>
      bench.makeQueuePair({ underlyingFunction: index & 1, level: (index >> 1) & 1 }),
    );
    for (let round = 0; round < 16; round++)
      for (const queuePair of queuePairs) bench.kick(queuePair, bench.post(queuePair));
    bench.settle();
    for (const queuePair of queuePairs) expect(queuePair.executed).toEqual(queuePair.posted);
    expect(bench.port.counters(0).sendQueueModeKicks).toBeGreaterThan(0);
    expect(bench.port.verify()).toBeNull();
  });

  it('lets commands execute directly again once nothing of the queue pair is left to fetch', () => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair();
    const [first, second] = post(bench, queuePair, 2);
    bench.kick(queuePair, second!);
    bench.kick(queuePair, first!);
    bench.settle();
    const { commandsHandedBack, scheduledKicks } = bench.port.counters(0);
    expect({ commandsHandedBack, scheduledKicks }).toEqual({ commandsHandedBack: 2, scheduledKicks: 2 });
    bench.kick(queuePair, bench.post(queuePair));
    bench.settle();
    expect(bench.port.counters(0).scheduledKicks).toBe(2);
    expect(queuePair.executed).toEqual([0, 1, 2]);
  });

  it('serves functions in turn, and the levels of each in turn', () => {
    const batch = 2;
    const bench = new OrderBench({ underlyingFunctions: 4, schedulerBatch: batch });
    // Function 0 has much work at one level; functions 1 and 2 have little, function 2 at both levels.
    const places = [
      ...Array.from({ length: 6 }, () => ({ underlyingFunction: 0, level: 0 })),
      { underlyingFunction: 1, level: 1 },
      { underlyingFunction: 2, level: 0 },
      { underlyingFunction: 2, level: 1 },
    ];
    const queuePairs = places.map((place) => bench.makeQueuePair(place));
    for (const queuePair of queuePairs) {
      post(bench, queuePair, 8);
      bench.startThroughNewest(queuePair);
      while (bench.step(Block.queuePairFetch));
    }
    // All are in the queuing structures before the first turn has fetched its batch.
    bench.settle();
    const turns = bench.executions
      .filter((_, index) => index % batch === 0)
      .map(({ underlyingFunction }) => underlyingFunction);
    // While function 1 has work, it is served once in three turns.
    const served = turns.flatMap((underlyingFunction, turn) => (underlyingFunction === 1 ? [turn] : []));
    expect(served).toHaveLength(4);
    for (const [index, turn] of served.entries())
      if (index > 0) expect(turn - served[index - 1]!).toBeLessThanOrEqual(3);
    expect(served.at(-1)).toBeLessThanOrEqual(4 * 3 + 2);
    // The levels of function 2 take turns.
    const levels = bench.executions
      .filter(({ underlyingFunction }, index) => underlyingFunction === 2 && index % batch === 0)
      .map(({ queuePairNumber }) => bench.queuePairs.get(queuePairNumber)!.level);
    expect(levels.slice(1)).toEqual(levels.slice(0, -1).map((level) => 1 - level));
    for (const queuePair of queuePairs) expect(queuePair.executed).toEqual(queuePair.posted);
  });

  it('fetches nothing for a stopped queue pair until it is started, and executes its direct commands', () => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair();
    const commands = post(bench, queuePair, 4);
    bench.ring(queuePair, DoorbellSlot.stop);
    bench.settle();
    bench.kick(queuePair, commands[0]!);
    bench.kick(queuePair, commands[2]!);
    bench.settle();
    expect(queuePair.executed).toEqual([0]);
    expect(bench.requester(queuePair)).toMatchObject({ posted: 2, scheduled: 0, stopped: 1 });
    bench.startThroughNewest(queuePair);
    bench.settle();
    expect(queuePair.executed).toEqual([0, 1, 2, 3]);
  });

  it('stops in the middle of a batch', () => {
    const bench = new OrderBench({ schedulerBatch: 8 });
    const queuePair = bench.makeQueuePair();
    post(bench, queuePair, 8);
    bench.startThroughNewest(queuePair);
    bench.step(Block.queuePairFetch);
    for (let steps = 0; steps < 4; steps++) bench.step(Block.sendQueueScheduler);
    bench.ring(queuePair, DoorbellSlot.stop);
    bench.settle();
    expect(queuePair.executed.length).toBeGreaterThan(0);
    expect(queuePair.executed.length).toBeLessThan(8);
    expect(bench.port.pins(queuePair.number)).toBe(0);
    bench.startThroughNewest(queuePair);
    bench.settle();
    expect(queuePair.executed).toEqual(queuePair.posted);
  });

  it('fetches no command that was executed directly during its turn and whose slot is reused', () => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair({ log2: 1 });
    post(bench, queuePair, 1);
    bench.startThroughNewest(queuePair);
    bench.step(Block.queuePairFetch);
    while (bench.port.counters(0).scheduledKicks === 0) bench.step(Block.sendQueueScheduler);
    const pipeline = [Block.virtualKick, Block.queuePairFetch, Block.pipelineSink];
    for (const block of pipeline) bench.step(block);
    bench.kick(queuePair, bench.post(queuePair));
    for (const block of pipeline) bench.step(block);
    expect(queuePair.executed).toEqual([0, 1]);
    post(bench, queuePair, 2);
    bench.settle();
    expect(bench.takeEvents()).toEqual([]);
    bench.startThroughNewest(queuePair);
    bench.settle();
    expect(queuePair.executed).toEqual([0, 1, 2, 3]);
    expect(bench.port.verify()).toBeNull();
  });

  it('ignores a start that names an old work request', () => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair();
    for (const command of post(bench, queuePair, 3)) bench.kick(queuePair, command);
    bench.settle();
    bench.ring(queuePair, DoorbellSlot.start, 0);
    bench.settle();
    expect(queuePair.executed).toEqual([0, 1, 2]);
    expect(bench.port.counters(0).scheduledKicks).toBe(0);
    expect(bench.takeEvents()).toEqual([]);
  });
});

describe('the state of a queue pair', () => {
  it.each([
    ['RESET', QueuePairState.reset],
    ['INIT', QueuePairState.init],
    ['RTR', QueuePairState.readyToReceive],
  ])('%s: the work request fails, and the rest is flushed', (_, state) => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair({ state });
    post(bench, queuePair, 3);
    bench.startThroughNewest(queuePair);
    bench.settle();
    const { localQueuePairOperationError, workRequestFlushedError } = CompletionStatus;
    expect(statuses(bench)).toEqual([
      localQueuePairOperationError,
      workRequestFlushedError,
      workRequestFlushedError,
    ]);
    expect(queuePair.executed).toEqual(queuePair.posted);
    expect(bench.port.counters(0)).toMatchObject({ commandsSent: 0, commandsFailed: 3 });
  });

  it.each([
    ['SQE', QueuePairState.sendQueueError],
    ['ERR', QueuePairState.error],
  ])('%s: the work request is flushed, kicked or fetched', (_, state) => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair({ state });
    const [first] = post(bench, queuePair, 2);
    bench.kick(queuePair, first!);
    bench.startThroughNewest(queuePair);
    bench.settle();
    expect(statuses(bench)).toEqual([
      CompletionStatus.workRequestFlushedError,
      CompletionStatus.workRequestFlushedError,
    ]);
    expect(bench.takeEvents()).toEqual([]);
  });

  it('SQD: commands wait in the send queue until the queue pair is resumed, kicked ones and fetched ones', () => {
    const bench = new OrderBench({ schedulerBatch: 3 });
    const queuePair = bench.makeQueuePair();
    post(bench, queuePair, 5);
    bench.startThroughNewest(queuePair);
    bench.step(Block.queuePairFetch);
    for (let steps = 0; steps < 3; steps++) bench.step(Block.sendQueueScheduler);
    bench.port.setState(0, queuePair.number, QueuePairState.sendQueueDrained);
    bench.settle();
    bench.kick(queuePair, bench.post(queuePair));
    bench.settle();
    expect(queuePair.executed).toEqual([]);
    // The first fetched one and the kicked one; the other fetched ones are dropped.
    expect(bench.port.counters(0)).toMatchObject({ commandsHandedBack: 2, commandsStale: 1 });
    expect(bench.port.pins(queuePair.number)).toBe(0);
    expect(bench.port.verify()).toBeNull();
    bench.port.setState(0, queuePair.number, QueuePairState.readyToSend);
    bench.port.resume(0, queuePair.number);
    bench.settle();
    expect(queuePair.executed).toEqual(queuePair.posted);
  });

  it('SQD: a direct command in order is handed back, and fetched from the send queue afterwards', () => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair({ state: QueuePairState.sendQueueDrained });
    bench.kick(queuePair, bench.post(queuePair));
    bench.settle();
    expect(bench.requester(queuePair)).toMatchObject({ next: 0, posted: 0, fetchNext: 0, scheduled: 0 });
    bench.port.setState(0, queuePair.number, QueuePairState.readyToSend);
    bench.port.resume(0, queuePair.number);
    bench.settle();
    expect(queuePair.executed).toEqual([0]);
  });

  it('an unknown opcode fails the work request, kicked or fetched', () => {
    for (const kicked of [true, false]) {
      const bench = new OrderBench();
      const queuePair = bench.makeQueuePair();
      const command = bench.post(queuePair);
      command[0] = 0;
      bench.memory.set(command, bench.entryOf(queuePair, 0));
      if (kicked) bench.kick(queuePair, command);
      else bench.startThroughNewest(queuePair);
      bench.settle();
      expect(statuses(bench)).toEqual([CompletionStatus.localQueuePairOperationError]);
    }
  });
});
