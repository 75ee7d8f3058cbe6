import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { entryBits, type Shape } from './linked_list_queue_model.ts';
import { type LinkedListQueuePort, makeLinkedListQueue } from './linked_list_queue_port.ts';

const queue = (shape: Partial<Shape>): LinkedListQueuePort =>
  makeLinkedListQueue({
    entries: 8,
    lists: 8,
    direct: false,
    underlyingFunctions: 1,
    readyOnPush: false,
    ...shape,
  });

const refused = (result: string): object => ({ result, entry: null, index: null, unit: null });

describe('hardware linked list queue', () => {
  it('keeps every list in order, and no list waits for another', () => {
    const port = queue({ entries: 4, lists: 4, readyOnPush: false });
    const [first, second] = [port.push(7, 70n, 0), port.push(9, 90n, 0)];
    const [third, fourth] = [port.push(7, 71n, 0), port.push(9, 91n, 0)];
    for (const ready of [third, second, fourth]) port.markReady(ready.entry!);
    // The second data unit of 7 is ready, but not its first; both of 9 leave.
    for (const unit of [90n, 91n]) {
      expect(port.arbitrate(1)).toBe(second.list);
      expect(port.pop(second.list!)).toMatchObject({ result: 'ok', index: 9, unit });
    }
    expect(port.arbitrate(1)).toBeNull();
    expect(port.pop(first.list!)).toEqual(refused('notReady'));
    port.markReady(first.entry!);
    for (const unit of [70n, 71n])
      expect(port.pop(port.arbitrate(1)!)).toMatchObject({ result: 'ok', index: 7, unit });
    expect(port.verify()).toBeNull();
  });

  it('has as many lists as data units, or one list of them all', () => {
    const size = 4096;
    const port = queue({ entries: size, lists: size, readyOnPush: true });
    const drain = (): bigint[] =>
      Array.from({ length: size }, () => {
        const read = port.pop(port.arbitrate(1)!);
        return (BigInt(read.index!) << 64n) + read.unit!;
      });
    const index = (number: number): number => Math.imul(number, 0x9e3779b1) >>> 0;
    const all = Array.from({ length: size }, (_, number) => number);
    for (const number of all) expect(port.push(index(number), BigInt(number), 0).list).toBe(number);
    expect(port.push(index(size), 0n, 0).result).toBe('full');
    expect(drain()).toEqual(all.map((number) => (BigInt(index(number)) << 64n) + BigInt(number)));
    for (const number of all) expect(port.push(5, BigInt(number), 0).list).toBe(0);
    expect(drain()).toEqual(all.map((number) => (5n << 64n) + BigInt(number)));
    expect(port.verify()).toBeNull();
  });

  it('releases an index when its list empties, and reuses the list identifier', () => {
    const port = queue({ entries: 4, lists: 2, readyOnPush: true });
    expect(port.find(100)).toBeNull();
    expect(port.push(100, 1n, 0).list).toBe(0);
    expect(port.push(200, 2n, 0).list).toBe(1);
    expect(port.push(300, 3n, 0).result).toBe('noListIdentifier');
    expect(port.pop(0).index).toBe(100);
    expect(port.find(100)).toBeNull();
    expect(port.pop(0)).toEqual(refused('unknownList'));
    expect(port.push(300, 4n, 0).list).toBe(0);
    expect([port.find(100), port.find(200), port.find(300)]).toEqual([null, 1, 0]);
  });

  it('serves every ready list within one round', () => {
    const lists = fc.uniqueArray(fc.nat({ max: 99 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(lists, fc.nat({ max: 99 }), (indexesOfLists, start) => {
        const port = queue({ entries: 128, lists: 100, direct: true, readyOnPush: true });
        // The arbiter may be at any place when they arrive.
        port.push(start, 0n, 0);
        port.pop(port.arbitrate(1)!);
        for (const index of indexesOfLists) for (let unit = 0n; unit < 3n; unit++) port.push(index, unit, 0);
        const granted = Array.from({ length: 3 }, () =>
          indexesOfLists.map(() => {
            const list = port.arbitrate(1)!;
            port.pop(list);
            return list;
          }),
        );
        const sorted = indexesOfLists.toSorted((a, b) => a - b);
        for (const round of granted) expect(round.toSorted((a, b) => a - b)).toEqual(sorted);
      }),
    );
  });

  it('forwards nothing without an outbound credit, and keeps the turn', () => {
    const port = queue({ readyOnPush: true });
    port.push(1, 0n, 0);
    port.push(2, 0n, 0);
    expect([port.arbitrate(1), port.arbitrate(0), port.arbitrate(1)]).toEqual([0, null, 1]);
  });

  it('returns an inbound credit for every freed entry', () => {
    const port = queue({ entries: 2, readyOnPush: true });
    const inboundCredits = (): unknown => (port.state() as { inboundCredits: number }).inboundCredits;
    port.push(1, 1n, 0);
    port.push(1, 2n, 0);
    expect(inboundCredits()).toBe(0);
    expect(port.push(2, 3n, 0).result).toBe('full');
    port.pop(0);
    expect(inboundCredits()).toBe(1);
    port.reclaim(0);
    port.reclaimStep();
    expect(inboundCredits()).toBe(2);
    expect(port.counters()).toMatchObject({ pushed: 2, popped: 1, reclaimed: 1, droppedFull: 1 });
  });

  it('continues from the peek pointer, from the last popped to the last pushed entry', () => {
    const port = queue({ readyOnPush: true });
    for (const unit of [1n, 2n, 3n]) port.push(1, unit, 0);
    expect([port.peek(0).unit, port.peek(0).unit]).toEqual([1n, 2n]);
    port.pop(0);
    expect(port.peek(0).unit).toBe(3n);
    expect(port.peek(0)).toEqual(refused('empty'));
    port.push(1, 4n, 0);
    expect(port.peek(0).unit).toBe(4n);
    expect(port.resetPeekPointer(0)).toBe('ok');
    expect(port.peek(0).unit).toBe(2n);
    for (const unit of [2n, 3n]) expect(port.pop(0).unit).toBe(unit);
    expect(port.peek(0).unit).toBe(4n);
  });

  it('reclaims an entry per clock while other lists progress', () => {
    const port = queue({ entries: 16, lists: 4, direct: true, readyOnPush: true });
    for (const unit of [10n, 11n, 12n]) port.push(1, unit, 0);
    for (const unit of [20n, 21n]) port.push(2, unit, 0);
    port.push(3, 30n, 0);
    expect(port.reclaim(1)).toBe('ok');
    expect(port.reclaim(2)).toBe('ok');
    for (const list of [1, 2]) {
      expect(port.push(list, 0n, 0).result).toBe('closed');
      expect(port.pop(list)).toEqual(refused('closed'));
      expect(port.peek(list)).toEqual(refused('closed'));
      expect(port.reclaim(list)).toBe('closed');
    }
    const reclaimed = [];
    for (let unit = 31n; ; unit++) {
      const step = port.reclaimStep();
      if (step.result === 'empty') break;
      reclaimed.push(step.unit);
      expect(port.push(3, unit, 0).result).toBe('ok');
      expect(port.arbitrate(1)).toBe(3);
      expect(port.pop(3).unit).toBe(unit - 1n);
      expect(port.verify()).toBeNull();
    }
    expect(reclaimed).toEqual([10n, 11n, 12n, 20n, 21n]);
    for (const list of [1, 2]) expect(port.push(list, 99n, 0).result).toBe('ok');
    expect(port.counters()).toMatchObject({ reclaimed: 5, droppedClosed: 2 });
  });

  it('limits a list to its own maximum only', () => {
    const port = queue({ lists: 2, direct: true, readyOnPush: true });
    port.setMaximum(0, 2);
    const push = (list: number): string => port.push(list, 0n, 0).result;
    expect([push(0), push(0), push(0), push(1)]).toEqual(['ok', 'ok', 'listFull', 'ok']);
    port.pop(0);
    expect([push(0), push(0)]).toEqual(['ok', 'listFull']);
    port.setMaximum(0, 1);
    port.pop(0);
    expect(push(0)).toBe('listFull');
    port.pop(0);
    expect([push(0), push(0)]).toEqual(['ok', 'listFull']);
    expect(port.counters().droppedListFull).toBe(4);
  });

  it('refuses a function beyond its entry credits, own first and then shared up to the cap', () => {
    const port = queue({ entries: 8, underlyingFunctions: 3, readyOnPush: true });
    for (const underlyingFunction of [0, 1, 2]) port.setEntryCredits(underlyingFunction, 1);
    port.setSharedEntryCredits(3, 2);
    const push = (underlyingFunction: number): string =>
      port.push(underlyingFunction, 0n, underlyingFunction).result;
    expect(Array.from({ length: 4 }, () => push(0))).toEqual(['ok', 'ok', 'ok', 'noEntryCredit']);
    expect(Array.from({ length: 3 }, () => push(1))).toEqual(['ok', 'ok', 'noEntryCredit']);
    // No credit that the others took comes from the third function.
    expect(Array.from({ length: 2 }, () => push(2))).toEqual(['ok', 'noEntryCredit']);
    // The first entry to leave was paid by its own function, so its credit is of no use to the third.
    port.pop(0);
    expect(push(2)).toBe('noEntryCredit');
    port.pop(0);
    expect(push(2)).toBe('ok');
    expect(port.counters().droppedNoEntryCredit).toBe(4);
  });

  it('guarantees a function its own entry credits under any load of the others', () => {
    const pushes = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()), { maxLength: 100 });
    fc.assert(
      fc.property(pushes, (load) => {
        const port = queue({
          entries: 12,
          lists: 4,
          direct: true,
          underlyingFunctions: 4,
          readyOnPush: true,
        });
        for (const underlyingFunction of [0, 1, 2, 3]) port.setEntryCredits(underlyingFunction, 2);
        port.setSharedEntryCredits(4, 3);
        for (const [underlyingFunction, leaves] of load) {
          port.push(underlyingFunction, 0n, underlyingFunction);
          if (leaves) port.pop(port.arbitrate(1)!);
        }
        expect([port.push(0, 0n, 0).result, port.push(0, 0n, 0).result]).toEqual(['ok', 'ok']);
      }),
    );
  });

  const unit = 0x0123456789abcdef_fedcba9876543210n;
  const damaged = (...bits: number[]): LinkedListQueuePort => {
    const port = queue({ entries: 2, readyOnPush: true });
    port.push(1, unit, 0);
    for (const bit of bits) port.injectError(0, bit);
    return port;
  };
  const word = (bit: number): number => Math.floor(bit / 72);

  it('corrects every single-bit error of a data unit', () => {
    for (let bit = 0; bit < entryBits; bit++) {
      const port = damaged(bit);
      expect(port.pop(0), `bit ${bit}`).toMatchObject({ result: 'ok', unit });
      expect(port.counters()).toMatchObject({ correctedBitErrors: 1, detectedBitErrors: 0, popped: 1 });
    }
  });

  it('detects every double-bit error of a word, and corrects one in each word', () => {
    for (let first = 0; first < entryBits; first++)
      for (let second = first + 1; second < entryBits; second++) {
        const port = damaged(first, second);
        const got = port.pop(0);
        const expected = word(first) === word(second) ? ['corrupted', null] : ['ok', unit];
        if (got.result !== expected[0] || got.unit !== expected[1])
          expect(got, `bits ${first} and ${second}`).toMatchObject({
            result: expected[0],
            unit: expected[1],
          });
      }
  });

  it('scrubs one entry per clock: memory no longer has a corrected error', () => {
    const port = damaged(5);
    expect(port.scrubStep()).toEqual({ status: 'corrected', entry: 0 });
    expect(port.scrubStep()).toEqual({ status: 'clean', entry: 1 });
    expect(port.scrubStep()).toEqual({ status: 'clean', entry: 0 });
    // Without the scrubber this would be the second error of its word.
    port.injectError(0, 6);
    expect(port.pop(0)).toMatchObject({ result: 'ok', unit });
    expect(port.counters().correctedBitErrors).toBe(2);
  });

  it('reports an uncorrectable entry once, drops it at its turn, and continues after it', () => {
    const port = damaged(80, 90);
    port.push(1, 7n, 0);
    for (let round = 0; round < 3; round++)
      expect(port.scrubStep().status + port.scrubStep().status).toBe('uncorrectableclean');
    expect(port.peek(0).result).toBe('corrupted');
    expect(port.pop(0)).toEqual({ result: 'corrupted', entry: 0, index: 1, unit: null });
    expect(port.pop(0)).toMatchObject({ result: 'ok', unit: 7n });
    expect(port.counters()).toMatchObject({ detectedBitErrors: 1, droppedCorrupted: 1, popped: 1 });
    // The next data unit pushed into that entry is intact.
    port.push(1, unit, 0);
    expect(port.pop(0)).toMatchObject({ result: 'ok', entry: 0, unit });
    expect(port.verify()).toBeNull();
  });
});
