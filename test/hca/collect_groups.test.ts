import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CollectGroup, Refusal, VirtualCollectBufferState } from '../../lib/spec/enums.ts';
import { makeCollectBuffer, type CollectBufferPort } from '../helpers/collect_buffer_port.ts';
import { makeCommand, post, wholeLines } from '../helpers/command.ts';

const queuePairNumber = 0x010007;
const functions = 4;
const pool = 12;
const perFunction = 24; // VCBs: [0, 8) low, [8, 16) shared, [16, 24) high
const [line] = wholeLines(makeCommand({ length: 0, queuePairNumber }));
const segment1 = { offset: 8, bytes: new Uint8Array(8), byteEnables: 0xffn };

type Allotment = [low: number, high: number, shared: number];

/** Begins a command; returns whether it has a PCB. */
function begin(port: CollectBufferPort, buffer: number): boolean {
  post(port, buffer, segment1);
  return port.virtual(buffer).state === VirtualCollectBufferState.collecting;
}

function makePort(allotments: Allotment[]): CollectBufferPort {
  const port = makeCollectBuffer({
    underlyingFunctions: functions,
    virtualCollectBuffers: functions * perFunction,
    physicalCollectBuffers: pool,
  });
  for (let underlyingFunction = 0; underlyingFunction < functions; underlyingFunction++) {
    expect(port.setAllotment(underlyingFunction, 0, 0, 0)).toBe(true);
    expect(port.setBar(underlyingFunction, underlyingFunction * perFunction, perFunction, 8, 16)).toBe(true);
    port.defineQueuePair(underlyingFunction, queuePairNumber, 0, 0);
  }
  for (const [underlyingFunction, allotment] of allotments.entries())
    expect(port.setAllotment(underlyingFunction, ...allotment)).toBe(true);
  return port;
}

/**
 * The groups by definition: who has taken how many PCBs and how many are left, counted again for each
 * question.
 */
class ReferenceModel {
  readonly taken = Array.from({ length: functions }, () => [0, 0, 0]);
  readonly allotments: Allotment[];

  constructor(allotments: Allotment[]) {
    this.allotments = allotments.map((allotment) => [...allotment]);
  }

  /** PCBs that the allotments of the levels do not cover. */
  beyondLevels(underlyingFunction: number): number {
    const [low, high, shared] = this.taken[underlyingFunction]!;
    const [ownLow, ownHigh] = this.allotments[underlyingFunction]!;
    return Math.max(0, low! - ownLow) + Math.max(0, high! - ownHigh) + shared!;
  }

  borrowed(underlyingFunction: number): number {
    return Math.max(0, this.beyondLevels(underlyingFunction) - this.allotments[underlyingFunction]![2]);
  }

  sharedTotal(): number {
    return pool - this.allotments.flat().reduce((sum, count) => sum + count, 0);
  }

  allBorrowed(): number {
    return this.taken.reduce((sum, _, underlyingFunction) => sum + this.borrowed(underlyingFunction), 0);
  }

  /** Within the guarantee, whatever the other functions do. */
  guaranteed(underlyingFunction: number, part: number): boolean {
    const [low, high, shared] = this.allotments[underlyingFunction]!;
    if (part !== CollectGroup.functionShared && this.taken[underlyingFunction]![part]! < [low, high][part]!)
      return true;
    return this.beyondLevels(underlyingFunction) < shared;
  }

  held(): number {
    return this.taken.flat().reduce((sum, count) => sum + count, 0);
  }
}

const allotmentsOf = fc
  .array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.nat({ max: 3 })), {
    minLength: functions,
    maxLength: functions,
  })
  .filter((allotments) => allotments.flat().reduce((sum, count) => sum + count, 0) <= pool);
const actions = fc.array(
  fc.record({
    kind: fc.constantFrom('begin', 'begin', 'begin', 'cancel', 'finish'),
    underlyingFunction: fc.nat({ max: functions - 1 }),
    part: fc.constantFrom(CollectGroup.low, CollectGroup.high, CollectGroup.functionShared),
  }),
  { minLength: 20, maxLength: 200 },
);
const firstOfPart = {
  [CollectGroup.low]: 0,
  [CollectGroup.high]: 16,
  [CollectGroup.functionShared]: 8,
} as const;

function expectGroups(port: CollectBufferPort, model: ReferenceModel): void {
  expect(port.verify()).toBeNull();
  for (let underlyingFunction = 0; underlyingFunction < functions; underlyingFunction++) {
    const groups = port.groups(underlyingFunction);
    const allotment = model.allotments[underlyingFunction]!;
    const [low, high] = model.taken[underlyingFunction]!;
    const inUse = [low!, high!, model.beyondLevels(underlyingFunction)].map((count, group) =>
      Math.min(count, allotment[group]!),
    );
    expect(groups.inUse).toEqual(inUse);
    expect(groups.available).toEqual(allotment.map((count, group) => count - inUse[group]!));
    expect(groups.borrowed).toBe(model.borrowed(underlyingFunction));
    expect(groups.sharedTotal).toBe(model.sharedTotal());
    expect(groups.sharedAvailable).toBe(Math.max(0, model.sharedTotal() - model.allBorrowed()));
  }
}

describe('the collect group table', () => {
  it('random traffic of all functions: lookup in order, repayment, conservation, guarantees', () => {
    fc.assert(
      fc.property(allotmentsOf, actions, (allotments, traffic) => {
        const port = makePort(allotments);
        const model = new ReferenceModel(allotments);
        const holding: { buffer: number; underlyingFunction: number; part: number }[] = [];
        for (const { kind, underlyingFunction, part } of traffic) {
          if (kind === 'begin') {
            const first = underlyingFunction * perFunction + firstOfPart[part];
            const buffer = Array.from({ length: 8 }, (_, index) => first + index).find(
              (number) => port.virtual(number).state === VirtualCollectBufferState.free,
            );
            if (buffer === undefined) continue;
            const expected =
              model.guaranteed(underlyingFunction, part) || model.allBorrowed() < model.sharedTotal();
            expect(begin(port, buffer)).toBe(expected);
            if (expected) {
              model.taken[underlyingFunction]![part]!++;
              holding.push({ buffer, underlyingFunction, part });
            } else {
              port.cancel(buffer);
            }
          } else {
            const [held] = holding.splice(Math.floor(holding.length / 2), 1);
            if (held === undefined) continue;
            const pcb = port.virtual(held.buffer).physicalCollectBuffer;
            if (kind === 'cancel') {
              port.cancel(held.buffer);
            } else {
              post(port, held.buffer, line!);
              expect(port.takeKicks().length).toBe(1);
              port.release(pcb);
            }
            model.taken[held.underlyingFunction]![held.part]!--;
          }
          expectGroups(port, model);
          expect(model.held()).toBeLessThanOrEqual(pool);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('a PCB comes from the level, then the function, then the pool that all share', () => {
    const port = makePort([
      [1, 0, 1],
      [0, 0, 1],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    expect(begin(port, 0)).toBe(true);
    expect(port.groups(0)).toMatchObject({ inUse: [1, 0, 0], borrowed: 0 });
    expect(begin(port, 1)).toBe(true);
    expect(port.groups(0)).toMatchObject({ inUse: [1, 0, 1], borrowed: 0 });
    expect(begin(port, 2)).toBe(true);
    expect(port.groups(0)).toMatchObject({ inUse: [1, 0, 1], borrowed: 1, sharedAvailable: 8 });
    // The low level's second command ends, and returns the borrowed PCB.
    port.cancel(1);
    expect(port.groups(0)).toMatchObject({ inUse: [1, 0, 1], borrowed: 0, sharedAvailable: 9 });
  });

  it('a level does not pay for another: its allotment is free again when its own commands end', () => {
    const port = makePort([
      [1, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    begin(port, 0);
    for (let buffer = 16; buffer < 24; buffer++) begin(port, buffer); // the high level borrows 8
    begin(port, perFunction + 8);
    begin(port, perFunction + 9);
    begin(port, perFunction + 10); // function 1 borrows the last 3
    expect(port.groups(0).sharedAvailable).toBe(0);
    port.cancel(0);
    expect(begin(port, perFunction + 11)).toBe(false);
    expect(begin(port, 0)).toBe(true);
  });

  it('the shared part of a BAR does not use PCBs of the levels', () => {
    const port = makePort([
      [2, 2, 1],
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 7],
    ]);
    expect([begin(port, 8), begin(port, 9)]).toEqual([true, false]);
    expect([begin(port, 0), begin(port, 1), begin(port, 2)]).toEqual([true, true, false]);
    expect([begin(port, 16), begin(port, 17), begin(port, 18)]).toEqual([true, true, false]);
  });
});

describe('a changed division', () => {
  it('refuses more PCBs than there are, and changes nothing', () => {
    const port = makePort([
      [1, 1, 1],
      [3, 3, 3],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    expect(port.setAllotment(2, 0, 0, 1)).toBe(false);
    expect(port.setAllotment(0, 2, 1, 1)).toBe(false);
    expect(port.groups(0)).toMatchObject({ available: [1, 1, 1], sharedTotal: 0 });
    expect(port.setAllotment(0, 0, 0, 3)).toBe(true);
    expect(port.verify()).toBeNull();
  });

  it('shrinking below the PCBs of kicked commands takes effect as these are sent', () => {
    const port = makePort([
      [6, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    const kicked = (buffer: number): number => {
      expect(begin(port, buffer)).toBe(true);
      const physical = port.virtual(buffer).physicalCollectBuffer;
      post(port, buffer, line!);
      expect(port.takeKicks().length).toBe(1);
      return physical;
    };
    const own = Array.from({ length: 6 }, (_, buffer) => kicked(buffer));
    for (let buffer = 8; buffer < 14; buffer++) kicked(perFunction + buffer); // all shared PCBs
    expect(port.setAllotment(0, 2, 0, 0)).toBe(true);
    expect(port.setAllotment(2, 0, 0, 4)).toBe(true);
    expect(port.groups(0)).toMatchObject({
      inUse: [2, 0, 0],
      borrowed: 4,
      sharedTotal: 6,
      sharedAvailable: 0,
    });
    expect(begin(port, 2 * perFunction + 8)).toBe(false); // promised, but not returned yet
    port.cancel(2 * perFunction + 8);
    for (const physical of own.slice(0, 4)) port.release(physical);
    expect(port.groups(0)).toMatchObject({ inUse: [2, 0, 0], borrowed: 0, sharedAvailable: 0 });
    for (let buffer = 8; buffer < 12; buffer++) expect(begin(port, 2 * perFunction + buffer)).toBe(true);
    expect(port.verify()).toBeNull();
  });

  it('half-written commands above the new number go to send queue mode at once, the oldest last', () => {
    const port = makePort([
      [8, 0, 0],
      [0, 0, 4],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    const order = [3, 7, 0, 5, 1, 6, 4, 2];
    for (const [index, buffer] of order.entries()) {
      port.setTime(BigInt(index + 1));
      expect(begin(port, buffer)).toBe(true);
    }
    expect(port.setAllotment(0, 3, 0, 0)).toBe(true);
    expect(port.setAllotment(2, 0, 0, 5)).toBe(true);
    const inMode = (state: number): number[] =>
      order.filter((buffer) => port.virtual(buffer).state === state);
    expect(inMode(VirtualCollectBufferState.collecting)).toEqual(order.slice(0, 3));
    expect(inMode(VirtualCollectBufferState.sendQueueMode)).toEqual(order.slice(3));
    expect(port.verify()).toBeNull();
    // The promised PCBs are available.
    for (let buffer = 8; buffer < 13; buffer++) expect(begin(port, 2 * perFunction + buffer)).toBe(true);
    for (let buffer = 8; buffer < 12; buffer++) expect(begin(port, perFunction + buffer)).toBe(true);
    // The rest of each command arrives, and the scheduler gets a notice of those without a PCB.
    for (const buffer of order) post(port, buffer, line!);
    expect([port.takeKicks().length, port.takeNotices().length]).toEqual([3, 5]);
    expect(port.counters(0)['sendQueueModeKicks']).toBe(5);
    expect(port.verify()).toBeNull();
  });

  it('a command that enters send queue mode is tracked from its current state, and refused as usual', () => {
    const command = makeCommand({ length: 64, queuePairNumber });
    const lines = wholeLines(command);
    const port = makePort([[2, 0, 10]]);
    post(port, 0, lines[0]!);
    begin(port, 1);
    expect(port.setAllotment(0, 0, 0, 0)).toBe(true);
    expect(port.setAllotment(1, 0, 0, pool)).toBe(true);
    expect([port.virtual(0).state, port.virtual(1).state]).toEqual(
      Array(2).fill(VirtualCollectBufferState.sendQueueMode),
    );
    post(port, 0, {
      ...lines[0]!,
      bytes: Uint8Array.from(lines[0]!.bytes, (byte, at) => byte ^ (at === 4 ? 1 : 0)),
    });
    expect(port.virtual(0).refusal).toBe(Refusal.segment0Differs);
    post(port, 1, lines[0]!);
    post(port, 1, lines[1]!);
    expect(port.takeNotices().length).toBe(1);
    expect(port.verify()).toBeNull();
  });

  it('a level can also give its PCBs to the other level', () => {
    const port = makePort([
      [4, 0, 0],
      [8, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    for (let buffer = 0; buffer < 4; buffer++) expect(begin(port, buffer)).toBe(true);
    expect(port.setAllotment(0, 1, 3, 0)).toBe(true);
    expect([16, 17, 18].map((buffer) => begin(port, buffer))).toEqual([true, true, true]);
    expect([0, 1, 2, 3].map((buffer) => port.virtual(buffer).state)).toEqual([
      VirtualCollectBufferState.collecting,
      ...Array<number>(3).fill(VirtualCollectBufferState.sendQueueMode),
    ]);
  });

  it('random divisions of half-written commands: promised PCBs are always available', () => {
    const divisions = fc.array(
      fc.tuple(allotmentsOf, fc.array(fc.nat({ max: functions * perFunction - 1 }))),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(divisions, (rounds) => {
        const port = makePort([]);
        for (const [allotments, buffers] of rounds) {
          for (const buffer of buffers)
            if (port.virtual(buffer).state === VirtualCollectBufferState.free) begin(port, buffer);
          for (let number = 0; number < functions; number++)
            expect(port.setAllotment(number, 0, 0, 0)).toBe(true);
          for (const [number, allotment] of allotments.entries())
            expect(port.setAllotment(number, ...allotment)).toBe(true);
          expect(port.verify()).toBeNull();
          const groups = allotments.map((_, number) => port.groups(number));
          const borrowed = groups.reduce((sum, group) => sum + group.borrowed, 0);
          expect(borrowed).toBeLessThanOrEqual(groups[0]!.sharedTotal);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('a VCB changes owner only while it is closed, and never to two', () => {
    const port = makePort([]);
    expect(port.setBar(0, 0, 23, 8, 16)).toBe(false); // VCB 23 is open
    port.close(23);
    expect(port.setBar(1, 23, 25, 8, 16)).toBe(false); // and function 0's
    expect(port.setBar(0, 0, 23, 8, 16)).toBe(true);
    expect(port.setBar(1, 23, 25, 8, 16)).toBe(true);
    port.open(23);
    post(port, 23, line!);
    expect(port.counters(1)['kicks']).toBe(1);
  });

  it('refuses a BAR beyond the board, and dividers out of order', () => {
    const port = makePort([]);
    for (let buffer = 72; buffer < 96; buffer++) port.close(buffer);
    expect(port.setBar(3, 72, 25, 8, 16)).toBe(false);
    expect(port.setBar(3, 72, 24, 9, 8)).toBe(false);
    expect(port.setBar(3, 72, 24, 8, 25)).toBe(false);
    expect(port.setBar(3, 72, 24, 24, 24)).toBe(true);
  });

  it('a VCB without an owner is unclaimed', () => {
    const port = makePort([]);
    port.close(23);
    port.setBar(0, 0, 23, 8, 16);
    port.open(23);
    post(port, 23, line!);
    expect(port.takeKicks()).toEqual([]);
    expect(port.counters(0)['writesUnclaimed']).toBe(1);
  });
});
