import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { entryBits, LinkedListQueueModel, type Shape } from './linked_list_queue_model.ts';
import { type LinkedListQueuePort, makeLinkedListQueue } from './linked_list_queue_port.ts';

// Queue pair numbers: some that differ only in high bits, some that share a hash bucket by chance.
const indexes = [0, 1, 2, 3, 4, 5, 6, 0x10000, 0x20001, 0xffffff, 0x1000000, 0xffffffff];

const shapes: fc.Arbitrary<Shape> = fc
  .record({
    entries: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }) }, fc.constantFrom(64, 65, 130)),
    lists: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }) }, fc.constantFrom(64, 65, 130)),
    direct: fc.boolean(),
    underlyingFunctions: fc.integer({ min: 1, max: 3 }),
    readyOnPush: fc.boolean(),
  })
  .map((shape) => ({ ...shape, lists: shape.direct ? Math.min(shape.lists, 12) : shape.lists }));

const results =
  'ok full noEntryCredit noListIdentifier listFull closed unknownList empty notReady corrupted clean corrected uncorrectable';

const weights = {
  push: 26,
  markReady: 16,
  markNotReady: 3,
  forward: 14,
  pop: 6,
  peek: 5,
  resetPeekPointer: 2,
  find: 2,
  reclaim: 2,
  reclaimStep: 4,
  injectError: 10,
  scrubStep: 6,
  setMaximum: 1,
  setEntryCredits: 1,
  setSharedEntryCredits: 1,
};

// A command names places by a fraction, so that it stays meaningful when other commands are removed from a
// failing sequence.
const place = fc.noBias(fc.nat({ max: 0xffff })).map((number) => number / 0x10000);
const command = fc.tuple(
  fc.oneof(...Object.entries(weights).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name) }))),
  place,
  place,
);

const pick = <T>(from: readonly T[], at: number): T | undefined => from[Math.floor(at * from.length)];

type Both = LinkedListQueuePort | LinkedListQueueModel;

// Usually a place in use, sometimes one that is not.
const anyList = (model: LinkedListQueueModel, shape: Shape, at: number): number =>
  at < 0.8 ? (pick(model.usedLists(), at / 0.8) ?? 0) : Math.floor((at - 0.8) * 5 * (shape.lists + 1));
const anyEntry = (model: LinkedListQueueModel, shape: Shape, at: number): number => {
  if (at < 0.5) return pick(model.heads(), at / 0.5) ?? 0;
  return at < 0.9
    ? (pick(model.usedEntries(), (at - 0.5) / 0.4) ?? 0)
    : Math.floor((at - 0.9) * 10 * shape.entries);
};

// The call that a command stands for in the current state; undefined: none.
function callOf(
  model: LinkedListQueueModel,
  shape: Shape,
  number: number,
  [name, a, b]: [string, number, number],
): ((on: Both) => unknown) | undefined {
  const list = anyList(model, shape, a);
  const entry = anyEntry(model, shape, a);
  switch (name) {
    case 'push': {
      const unit = ((1n << 127n) / 3n) * BigInt(number + 1);
      const underlyingFunction = Math.floor(b * shape.underlyingFunctions);
      return (on) => on.push(pick(indexes, a)!, BigInt.asUintN(128, unit), underlyingFunction);
    }
    case 'markReady':
      return (on) => on.markReady(entry);
    case 'markNotReady':
      return (on) => on.markNotReady(entry);
    case 'forward':
      return (on) => {
        const granted = on.arbitrate(b < 0.1 ? 0 : 1);
        return [granted, granted === null ? null : on.pop(granted)];
      };
    case 'pop':
      return (on) => on.pop(list);
    case 'peek':
      return (on) => on.peek(list);
    case 'resetPeekPointer':
      return (on) => on.resetPeekPointer(list);
    case 'find':
      return (on) => on.find(pick(indexes, a)!);
    case 'reclaim':
      return (on) => on.reclaim(list);
    case 'reclaimStep':
      return (on) => on.reclaimStep();
    case 'scrubStep':
      return (on) => on.scrubStep();
    case 'injectError': {
      const bit = Math.floor(b * entryBits);
      return model.mayInject(entry, bit) ? (on) => on.injectError(entry, bit) : undefined;
    }
    case 'setMaximum':
      return (on) => on.setMaximum(Math.floor(a * shape.lists), Math.floor(b * (shape.entries + 1) * 1.1));
    case 'setEntryCredits':
      return (on) =>
        on.setEntryCredits(Math.floor(a * shape.underlyingFunctions), Math.floor(b * (shape.entries + 1)));
    case 'setSharedEntryCredits':
      return (on) =>
        on.setSharedEntryCredits(Math.floor(a * shape.entries), Math.floor(b * (shape.entries + 1)));
    default:
      throw new Error(`no such command: ${name}`);
  }
}

// The names of results in the answer to a command.
function namesIn(answer: unknown): string[] {
  if (typeof answer === 'string') return [answer];
  if (answer === null || typeof answer !== 'object') return [];
  return Object.values(answer).flatMap(namesIn);
}

describe('hardware linked list queue, random commands', () => {
  it('matches the plain reference model', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(shapes, fc.array(command, { size: 'max', maxLength: 250 }), (shape, commands) => {
        const model = new LinkedListQueueModel(shape);
        const port = makeLinkedListQueue(shape);
        for (const [number, next] of commands.entries()) {
          const call = callOf(model, shape, number, next);
          if (call === undefined) continue;
          const answer = call(port);
          for (const name of namesIn(answer)) seen.add(name);
          const got = [answer, port.state(), port.counters(), port.verify()];
          const expected = [call(model), model.state(), model.counters, null];
          if (!isDeepStrictEqual(got, expected))
            expect(got, `command ${number}: ${next[0]}`).toEqual(expected);
        }
      }),
      { numRuns: 100 },
    );
    // The sequences must produce every result.
    for (const name of results.split(' ')) expect(seen).toContain(name);
  }, 60_000);
});
