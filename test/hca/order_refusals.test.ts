import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { setCommandHeaderSendQueueSequenceNumber } from '../../lib/spec/commands.ts';
import { CompletionStatus, EventType, QueuePairState, Refusal } from '../../lib/spec/enums.ts';
import { PAGE_BYTES } from '../../lib/spec/parameters.ts';
import {
  setWorkQueueReferenceLength,
  setWorkQueueReferenceOffset,
  setWorkQueueReferenceSequenceNumber,
} from '../../lib/spec/queues.ts';
import { OrderBench, entryStride, type BenchQueuePair } from './order_bench.ts';
import { Block } from './order_port.ts';
import { Random } from '../helpers/random.mjs';
import { setQueuingStructureEntryQueuePairNumber } from './fields.ts';

function post(bench: OrderBench, queuePair: BenchQueuePair, times: number): void {
  for (let posts = 0; posts < times; posts++) bench.post(queuePair, 24);
}

function start(bench: OrderBench, ...queuePairs: BenchQueuePair[]): void {
  for (const queuePair of queuePairs) {
    bench.startThroughNewest(queuePair);
    bench.step(Block.queuePairFetch);
  }
}

/** Expects that the queue pair has failed for this reason, has reported it once, and holds no resource. */
function expectFailed(bench: OrderBench, queuePair: BenchQueuePair, reason: Refusal): void {
  expect(bench.port.state(queuePair.underlyingFunction, queuePair.number)).toBe(QueuePairState.error);
  expect(bench.port.pins(queuePair.number)).toBe(0);
  expect(bench.requester(queuePair).scheduled).toBe(0);
  const events = bench.takeEvents().filter(({ object }) => object === queuePair.number);
  expect(events).toEqual([{ type: EventType.queuePairFatal, object: queuePair.number, reason }]);
  expect(bench.port.verify()).toBeNull();
}

describe('a command in the send queue that is not the one that was posted', () => {
  interface Damage {
    what: string;
    reason: Refusal;
    secret?: number;
    /** Damages work request 2 of a queue pair. */
    harm: (bench: OrderBench, reference: number, entry: number) => void;
  }
  const mismatch = Refusal.sendQueueMismatch;
  const damages: Damage[] = [
    {
      what: 'a reference with another sequence number',
      reason: mismatch,
      harm: (bench, reference) => {
        setWorkQueueReferenceSequenceNumber(bench.view, reference, 3);
      },
    },
    {
      what: 'a reference that is too short for a header',
      reason: mismatch,
      harm: (bench, reference) => {
        setWorkQueueReferenceLength(bench.view, reference, 56);
      },
    },
    {
      what: 'a reference that is longer than a command',
      reason: mismatch,
      harm: (bench, reference) => {
        setWorkQueueReferenceLength(bench.view, reference, 328);
      },
    },
    {
      what: 'a reference with another length than the command',
      reason: mismatch,
      harm: (bench, reference) => {
        setWorkQueueReferenceLength(bench.view, reference, 64 + 32);
      },
    },
    {
      what: 'a reference to an entry that is not aligned',
      reason: mismatch,
      harm: (bench, reference) => {
        setWorkQueueReferenceOffset(bench.view, reference, 2 * entryStride + 8);
      },
    },
    {
      what: 'a reference to an entry that crosses a page',
      reason: mismatch,
      harm: (bench, reference) => {
        setWorkQueueReferenceOffset(bench.view, reference, PAGE_BYTES - 64);
      },
    },
    {
      what: 'a reference beyond the entry area',
      reason: mismatch,
      harm: (bench, reference) => {
        setWorkQueueReferenceOffset(bench.view, reference, 16 * entryStride);
      },
    },
    {
      what: 'a reference to another command',
      reason: mismatch,
      harm: (bench, reference) => {
        setWorkQueueReferenceOffset(bench.view, reference, 3 * entryStride);
      },
    },
    {
      what: 'a reserved bit in a reference',
      reason: mismatch,
      harm: (bench, reference) => {
        bench.memory[reference + 7]! |= 0x80;
      },
    },
    {
      what: 'a command with another sequence number',
      reason: mismatch,
      harm: (bench, _, entry) => {
        setCommandHeaderSendQueueSequenceNumber(bench.view, entry, 3);
      },
    },
    {
      what: 'a command of another queue pair',
      reason: mismatch,
      harm: (bench, _, entry) => {
        bench.memory[entry + 1]! ^= 1;
      },
    },
    {
      what: 'a command of another level',
      reason: Refusal.wrongQualityOfServiceLevel,
      harm: (bench, _, entry) => {
        bench.memory[entry + 7]! ^= 0x02;
      },
    },
    {
      what: 'an unknown version',
      reason: Refusal.unknownVersion,
      harm: (bench, _, entry) => {
        bench.memory[entry + 7]! ^= 0x10;
      },
    },
    {
      what: 'the reserved bit of segment 0',
      reason: Refusal.reservedNotZero,
      harm: (bench, _, entry) => {
        bench.memory[entry + 7]! ^= 0x80;
      },
    },
    {
      what: 'a wrong doorbell checksum',
      reason: Refusal.checksumMismatch,
      secret: 0x89abcdef,
      harm: (bench, _, entry) => {
        bench.memory[entry + 64 + 23]! ^= 0x40;
      },
    },
  ];

  it.each(damages)('$what: refused, never executed', ({ reason, secret, harm }) => {
    const bench = new OrderBench();
    const other = bench.makeQueuePair();
    const queuePair = bench.makeQueuePair({ checksumSecret: secret ?? 0 });
    post(bench, other, 5);
    post(bench, queuePair, 5);
    harm(bench, bench.referenceOf(queuePair, 2), bench.entryOf(queuePair, 2));
    start(bench, queuePair, other);
    bench.settle();
    expect(queuePair.executed).toEqual([0, 1]);
    expect(other.executed).toEqual(other.posted);
    expectFailed(bench, queuePair, reason);
    expect(bench.port.counters(0)).toMatchObject({
      commandsRefused: 1,
      checksumMismatches: reason === Refusal.checksumMismatch ? 1 : 0,
    });
  });

  it.each([
    ['reference', 0],
    ['entry', 1],
  ])('a %s that DMA cannot access: refused, with the address', (_, which) => {
    const bench = new OrderBench();
    const queuePair = bench.makeQueuePair();
    post(bench, queuePair, 3);
    const offset = which === 0 ? bench.referenceOf(queuePair, 1) : bench.entryOf(queuePair, 1);
    const begin = bench.address(offset);
    bench.port.setFaults([{ underlyingFunction: 0, begin, end: begin + 8n }]);
    start(bench, queuePair);
    bench.settle();
    expect(queuePair.executed).toEqual([0]);
    expect(bench.port.counters(0).dmaFaults).toBe(1);
    expectFailed(bench, queuePair, Refusal.sendQueueFault);
  });

  it('any damage to send queue and entries: only posted commands execute, in order', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = new Random(seed);
        const bench = new OrderBench({ schedulerBatch: 1 + random.below(4) });
        const queuePair = bench.makeQueuePair({ checksumSecret: 0x1234567 });
        post(bench, queuePair, 8);
        const at = random.below(8);
        const [begin, bits] = random.once(2)
          ? [bench.referenceOf(queuePair, at), 64]
          : [bench.entryOf(queuePair, at), 8 * 88];
        const bit = random.below(bits);
        bench.memory[begin + (bit >> 3)]! ^= 1 << (bit & 7);
        start(bench, queuePair);
        bench.settle();
        // The checksum is not compared if the command no longer requests it.
        const intact = queuePair.executed.length === 8;
        expect(queuePair.executed).toEqual(queuePair.posted.slice(0, intact ? 8 : at));
        expect(bench.port.counters(0).commandsRefused).toBe(intact ? 0 : 1);
        expect(bench.port.pins(queuePair.number)).toBe(0);
        expect(bench.port.verify()).toBeNull();
      }),
    );
  });

  it('a number further ahead than the send queue is long: refused, kicked or started', () => {
    for (const kicked of [true, false]) {
      const bench = new OrderBench();
      const queuePair = bench.makeQueuePair({ log2: 2 });
      post(bench, queuePair, 1);
      queuePair.next = 4;
      const command = bench.post(queuePair);
      if (kicked) bench.kick(queuePair, command);
      else bench.startThroughNewest(queuePair);
      bench.settle();
      expect(queuePair.executed).toEqual([]);
      expectFailed(bench, queuePair, Refusal.sequenceOutOfRange);
    }
  });
});

describe('a queuing structure', () => {
  /** Puts queue pairs of function 0, low level, into the queuing structure, none served yet. */
  function waiting(bench: OrderBench, count: number): BenchQueuePair[] {
    const queuePairs = Array.from({ length: count }, () => bench.makeQueuePair());
    for (const queuePair of queuePairs) {
      post(bench, queuePair, 3);
      bench.startThroughNewest(queuePair);
      bench.step(Block.queuePairFetch);
    }
    return queuePairs;
  }

  it('that returns a changed entry removes all waiting queue pairs, and works again', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = new Random(seed);
        const bench = new OrderBench({ schedulerBatch: 1 + random.below(3) });
        const elsewhere = bench.makeQueuePair({ level: 1 });
        post(bench, elsewhere, 3);
        bench.startThroughNewest(elsewhere);
        const queuePairs = waiting(bench, 4);
        const entry = random.below(4);
        // The entry is written when the scheduler accepts the request, and read when its turn comes.
        for (let steps = 0; steps < 40; steps++) {
          bench.stepAll();
          const bit = random.below(64);
          bench.memory[bench.queuingStructures[0]! + entry * 8 + (bit >> 3)]! ^= 1 << (bit & 7);
        }
        bench.settle();
        expect(elsewhere.executed).toEqual(elsewhere.posted);
        const events = bench.takeEvents();
        for (const queuePair of queuePairs) {
          const failed = bench.port.state(0, queuePair.number) === QueuePairState.error;
          const told = events.filter(({ object }) => object === queuePair.number);
          const { queuePairFatal: type } = EventType;
          const reason = Refusal.queuingStructureMismatch;
          expect(told).toEqual(failed ? [{ type, object: queuePair.number, reason }] : []);
          const executed = queuePair.posted.slice(0, queuePair.executed.length);
          expect(queuePair.executed).toEqual(executed);
          if (!failed) expect(queuePair.executed).toHaveLength(3);
          expect(bench.port.pins(queuePair.number)).toBe(0);
        }
        expect(bench.port.verify()).toBeNull();
        const [next] = waiting(bench, 1);
        bench.settle();
        expect(next!.executed).toEqual(next!.posted);
      }),
    );
  });

  it.each([
    ['is owed nothing', { level: 0 }, false],
    ['waits at another level', { level: 1 }, true],
    ["is another function's", { underlyingFunction: 1 }, true],
  ])('whose entry names a queue pair that %s does not serve it', (_, place, waits) => {
    const bench = new OrderBench();
    const [first, victim] = waiting(bench, 2);
    while (bench.port.counters(0).scheduledKicks < 2) bench.step(Block.sendQueueScheduler);
    const other = bench.makeQueuePair(place);
    post(bench, other, 3);
    setQueuingStructureEntryQueuePairNumber(bench.view, bench.queuingStructures[0]! + 8, other.number);
    if (waits) bench.startThroughNewest(other);
    bench.settle();
    expect(first!.executed).toEqual(first!.posted);
    expect(victim!.executed).toEqual([]);
    expect(other.executed).toEqual(waits ? other.posted : []);
    expectFailed(bench, victim!, Refusal.queuingStructureMismatch);
  });

  it.each([
    ['the bit that says it is valid', 24],
    ['a reserved bit', 31],
    ['a bit of its running number', 32],
  ])('whose entry has %s changed does not serve its queue pair', (_, bit) => {
    const bench = new OrderBench();
    const [, victim] = waiting(bench, 2);
    while (bench.port.counters(0).scheduledKicks < 2) bench.step(Block.sendQueueScheduler);
    bench.memory[bench.queuingStructures[0]! + 8 + (bit >> 3)]! ^= 1 << (bit & 7);
    bench.settle();
    expect(victim!.executed).toEqual([]);
    expectFailed(bench, victim!, Refusal.queuingStructureMismatch);
  });

  it.each([
    ['written', 0],
    ['read', 1],
  ])('that cannot be %s removes all waiting queue pairs, with an event, and works again', (_access, when) => {
    const bench = new OrderBench();
    const queuePairs = waiting(bench, 4);
    // By the time all are written, the first has its turn; the second is read next.
    if (when === 1) for (const _ of queuePairs) bench.step(Block.sendQueueScheduler);
    const begin = bench.address(bench.queuingStructures[0]!);
    bench.port.setFaults([{ underlyingFunction: 0, begin, end: begin + 64n }]);
    bench.settle();
    const events = bench.takeEvents();
    expect(events.filter(({ type }) => type === EventType.dmaFault)).toHaveLength(1);
    const reason = Refusal.queuingStructureFault;
    for (const [index, { number, executed }] of queuePairs.entries()) {
      const served = index < when;
      expect(executed).toHaveLength(served ? 3 : 0);
      const told = events.filter(({ object }) => object === number);
      expect(told).toEqual(served ? [] : [{ type: EventType.queuePairFatal, object: number, reason }]);
      expect(bench.port.pins(number)).toBe(0);
    }
    bench.port.setFaults([]);
    const [next] = waiting(bench, 1);
    bench.settle();
    expect(next!.executed).toEqual(next!.posted);
    expect(bench.port.verify()).toBeNull();
  });

  it('that is too small for the queue pairs removes them, and reports each', () => {
    const bench = new OrderBench();
    bench.port.setQueuingStructure(0, 0, bench.address(bench.queuingStructures[0]!), 1);
    const queuePairs = waiting(bench, 8);
    bench.settle();
    const failed = bench.takeEvents().map(({ object }) => object);
    for (const queuePair of queuePairs) {
      const success = bench.executions.filter(
        ({ queuePairNumber, status }) =>
          queuePairNumber === queuePair.number && status === CompletionStatus.success,
      );
      expect(failed.includes(queuePair.number) || success.length === 3).toBe(true);
      expect(bench.port.pins(queuePair.number)).toBe(0);
    }
    expect(failed.length).toBeGreaterThan(0);
  });
});
