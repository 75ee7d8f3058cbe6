import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  Completion,
  CompletionStatus,
  Opcode,
  QualityOfServiceLevel,
  Resource,
  VerbsError,
  type ResourceRequest,
  type ResourceShare,
} from '../../lib/index.ts';
import { backends, settle as settleBoard } from '../helpers/backends.ts';
import { makeMemory, makePair, settle } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { eventsOf, functionRegister, makeFunctions } from '../helpers/function_verbs.ts';

const { virtualCollectBuffers, physicalCollectBuffers, transmitVirtualLanes } = Resource;
const { executionCredits, completionCredits, entryCredits, listSize } = Resource;
const { low, high } = QualityOfServiceLevel;

/** Two functions of a board of 4: 64 VCBs, 4 PCBs and 4 lanes each; 48 PCBs and 48 lanes are shared. */
const makeTwo = (): [Verbs, Verbs] => makeFunctions(2, { underlyingFunctions: 4 }) as [Verbs, Verbs];

/** The amount of a resource: of the function as a whole, or of a level. */
function amountOf(shares: readonly ResourceShare[], resource: Resource, level?: number): number {
  const found = shares.find((share) => share.resource === resource && share.level === level);
  if (found === undefined) throw new Error(`no share of resource ${resource}`);
  return found.amount;
}

function errorOf(call: () => unknown): VerbsError {
  try {
    call();
  } catch (error) {
    if (error instanceof VerbsError) return error;
    throw error;
  }
  throw new Error('a VerbsError was expected');
}

/** The complete allocation of all resources. */
const divisionOf = ({ context }: Verbs): ResourceShare[][] => [
  ...[0, 1, 2, 3].map((number) => context.queryResources(number)),
  context.queryResources('shared'),
  ...Array.from({ length: 64 }, (_, lane) => context.queryResources({ lane })),
];

describe('the control function', () => {
  it('allocates and reclaims every resource, and leaves the rest shared', () => {
    const [control] = makeTwo();
    const { context } = control;
    const of = (resource: Resource, level?: number): number =>
      amountOf(context.queryResources(1), resource, level);
    const shared = (resource: Resource): number => amountOf(context.queryResources('shared'), resource);
    context.allocateResources([
      { resource: physicalCollectBuffers, underlyingFunction: 1, amount: 20 },
      { resource: physicalCollectBuffers, underlyingFunction: 1, level: low, amount: 6 },
      { resource: physicalCollectBuffers, underlyingFunction: 1, level: high, amount: 9 },
      { resource: transmitVirtualLanes, underlyingFunction: 1, amount: 20 },
      { resource: transmitVirtualLanes, underlyingFunction: 1, level: high, lanes: [5, 7] },
      { resource: entryCredits, underlyingFunction: 1, amount: 30 },
      { resource: executionCredits, lane: 5, amount: 4 },
      { resource: completionCredits, lane: 5, amount: 0 },
      { resource: Resource.executionCreditsCap, lane: 5, amount: 3 },
      { resource: listSize, lane: 5, amount: 12 },
      { resource: virtualCollectBuffers, underlyingFunction: 1, level: low, amount: 10 },
      { resource: virtualCollectBuffers, underlyingFunction: 1, level: high, amount: 20 },
    ]);
    expect([
      of(physicalCollectBuffers),
      of(physicalCollectBuffers, low),
      of(physicalCollectBuffers, high),
    ]).toEqual([20, 6, 9]);
    expect(shared(physicalCollectBuffers)).toBe(32);
    expect([of(transmitVirtualLanes), of(transmitVirtualLanes, high), of(entryCredits)]).toEqual([20, 2, 30]);
    expect(shared(transmitVirtualLanes)).toBe(32);
    expect(context.queryResources({ lane: 5 }).map(({ amount }) => amount)).toEqual([4, 3, 0, 64, 12]);
    expect([shared(executionCredits), shared(completionCredits)]).toEqual([62, 260]);
    expect(
      context.queryResources(1).filter(({ resource }) => resource === virtualCollectBuffers),
    ).toMatchObject([
      { amount: 64, first: 64 },
      { amount: 10, level: low, first: 64 },
      { amount: 20, level: high, first: 108 },
    ]);
    // Reclaiming from a function also reclaims from its levels.
    context.allocateResources([
      { resource: physicalCollectBuffers, underlyingFunction: 1, amount: 4 },
      { resource: transmitVirtualLanes, underlyingFunction: 1, amount: 1 },
      { resource: executionCredits, lane: 5, amount: 2 },
      { resource: completionCredits, lane: 5, amount: 4 },
    ]);
    expect([of(physicalCollectBuffers, high), of(physicalCollectBuffers, low)]).toEqual([4, 0]);
    expect([shared(physicalCollectBuffers), shared(transmitVirtualLanes)]).toEqual([48, 51]);
    expect([shared(executionCredits), shared(completionCredits)]).toEqual([64, 256]);
  });

  it('moves amounts between functions in one command, in either order', () => {
    const [{ context }] = makeTwo();
    const swap = (amounts: readonly [number, number], order: 1 | -1): void =>
      context.allocateResources(
        [1, 2]
          .flatMap((underlyingFunction, index): ResourceRequest[] => [
            { resource: physicalCollectBuffers, underlyingFunction, amount: amounts[index]! },
          ])
          .sort((a, b) => order * (a.underlyingFunction! - b.underlyingFunction!)),
      );
    swap([52, 4], 1);
    swap([4, 52], 1);
    swap([52, 4], -1);
    expect(amountOf(context.queryResources(1), physicalCollectBuffers)).toBe(52);
    // Two functions swap their ranges of virtual collect buffers.
    context.allocateResources([
      { resource: virtualCollectBuffers, underlyingFunction: 2, first: 192, amount: 64 },
      { resource: virtualCollectBuffers, underlyingFunction: 3, first: 128, amount: 64 },
    ]);
    expect(context.queryResources(2)[0]).toMatchObject({ first: 192, amount: 64 });
    expect(context.queryResources(3)[0]).toMatchObject({ first: 128, amount: 64 });
  });

  const shortages: readonly [string, readonly ResourceRequest[], string][] = [
    [
      'physical collect buffers',
      [{ resource: physicalCollectBuffers, underlyingFunction: 1, amount: 53 }],
      'physicalCollectBuffers: 53 asked for, 52 left',
    ],
    [
      'physical collect buffers of a level',
      [{ resource: physicalCollectBuffers, underlyingFunction: 1, level: low, amount: 5 }],
      'physicalCollectBuffers: 5 asked for, 4 left',
    ],
    [
      'lanes',
      [{ resource: transmitVirtualLanes, underlyingFunction: 1, amount: 53 }],
      'transmitVirtualLanes: 53 asked for, 52 left',
    ],
    [
      'lanes by value that belong to another function',
      [{ resource: transmitVirtualLanes, underlyingFunction: 1, lanes: [0, 4, 20] }],
      'transmitVirtualLanes: 3 asked for, 2 left',
    ],
    [
      'virtual collect buffers',
      [{ resource: virtualCollectBuffers, underlyingFunction: 1, amount: 65 }],
      'virtualCollectBuffers: 65 asked for, 64 left',
    ],
    [
      'virtual collect buffers that belong to another function',
      [{ resource: virtualCollectBuffers, underlyingFunction: 1, first: 100, amount: 40 }],
      'virtualCollectBuffers: 40 asked for, 28 left',
    ],
    [
      'execution credits',
      [{ resource: executionCredits, underlyingFunction: 1, amount: 19 }],
      'executionCredits: 19 asked for, 15 left',
    ],
    ['entry credits', [{ resource: entryCredits, amount: 73 }], 'entryCredits: 73 asked for, 72 left'],
  ];

  it.each(shortages)(
    'gets an error that names the shortage, and nothing changes: %s',
    (_, requests, message) => {
      const [control] = makeTwo();
      const before = divisionOf(control);
      const others: ResourceRequest[] = [
        { resource: listSize, lane: 3, amount: 7 },
        { resource: physicalCollectBuffers, underlyingFunction: 2, amount: 2 },
      ];
      const error = errorOf(() => control.context.allocateResources([others[0]!, ...requests]));
      expect([error.code, error.message]).toEqual(['ENOMEM', expect.stringContaining(message)]);
      expect(divisionOf(control)).toEqual(before);
    },
  );

  it.each<[ResourceRequest, string]>([
    [{ resource: Resource.queuePairs, amount: 1 }, 'requests[1].resource'],
    [
      { resource: physicalCollectBuffers, underlyingFunction: 4, amount: 1 },
      'requests[1].underlyingFunction',
    ],
    [{ resource: physicalCollectBuffers, lane: 1, amount: 1 }, 'requests[1].lane'],
    [{ resource: executionCredits, lane: 64, amount: 1 }, 'requests[1].lane'],
    [{ resource: entryCredits, level: high, amount: 1 }, 'requests[1].level'],
    [{ resource: listSize, lane: 1, amount: 0 }, 'requests[1].amount'],
    [{ resource: entryCredits, lanes: [1] }, 'requests[1].lanes'],
  ])('gets an error that names the request and its wrong field: %o', (request, field) => {
    const [control] = makeTwo();
    const before = divisionOf(control);
    const first = { resource: physicalCollectBuffers, underlyingFunction: 1, amount: 9 };
    const error = errorOf(() => control.context.allocateResources([first, request]));
    expect([error.code, error.message]).toEqual(['EINVAL', expect.stringContaining(field)]);
    expect(divisionOf(control)).toEqual(before);
  });

  it('cannot leave a level without a lane, or a lane without credits', () => {
    const [{ context }] = makeTwo();
    const all = Array.from({ length: 48 }, (_, index) => index + 16);
    context.allocateResources([
      { resource: transmitVirtualLanes, underlyingFunction: 0, lanes: [0, 1, 2, 3, ...all] },
    ]);
    const error = errorOf(() =>
      context.allocateResources([
        { resource: transmitVirtualLanes, underlyingFunction: 1, level: low, amount: 4 },
      ]),
    );
    expect(error.code).toBe('ENOMEM');
    const none = errorOf(() =>
      context.allocateResources([
        { resource: executionCredits, lane: 9, amount: 0 },
        { resource: Resource.executionCreditsCap, lane: 9, amount: 0 },
      ]),
    );
    expect(none.message).toContain('requests[0].amount');
  });
});

describe('a guest', () => {
  it('divides its resources among its levels, and gets an event for what it was given', () => {
    const [control, guest] = makeTwo();
    control.context.allocateResources([
      { resource: physicalCollectBuffers, underlyingFunction: 1, amount: 12 },
      { resource: transmitVirtualLanes, underlyingFunction: 1, amount: 15 },
    ]);
    expect(eventsOf(guest)).toMatchObject([
      { name: 'resourcesChanged', object: physicalCollectBuffers },
      { name: 'resourcesChanged', object: transmitVirtualLanes },
    ]);
    guest.context.allocateResources([
      { resource: physicalCollectBuffers, level: high, amount: 8 },
      { resource: transmitVirtualLanes, level: high, amount: 10 },
      { resource: virtualCollectBuffers, level: high, amount: 40 },
      { resource: executionCredits, lane: 4, amount: 0 },
      { resource: executionCredits, lane: 5, amount: 4 },
    ]);
    const shares = guest.context.queryResources();
    expect(amountOf(shares, physicalCollectBuffers, high)).toBe(8);
    expect(amountOf(shares, transmitVirtualLanes, high)).toBe(10);
    expect(amountOf(shares, virtualCollectBuffers, high)).toBe(40);
    expect(functionRegister(guest, 'physical_collect_buffers_total')).toEqual([0n, 8n, 4n]);
    expect(control.context.queryResources(1)).toEqual(shares);
  });

  it.each<[string, ResourceRequest, string]>([
    ['more to a level than it has', { resource: physicalCollectBuffers, level: low, amount: 5 }, 'ENOMEM'],
    ['more to itself', { resource: physicalCollectBuffers, amount: 5 }, 'EPERM'],
    [
      'to another function',
      { resource: physicalCollectBuffers, underlyingFunction: 2, level: low, amount: 1 },
      'EPERM',
    ],
    ['credits to a lane of another function', { resource: executionCredits, lane: 9, amount: 1 }, 'EPERM'],
    ['credits that other lanes would lack', { resource: executionCredits, lane: 5, amount: 3 }, 'ENOMEM'],
    ['a larger list to a lane', { resource: listSize, lane: 5, amount: 3 }, 'EPERM'],
  ])('cannot allocate %s', (_, request, code) => {
    const [control, guest] = makeTwo();
    const before = divisionOf(control);
    expect(errorOf(() => guest.context.allocateResources([request])).code).toBe(code);
    expect(divisionOf(control)).toEqual(before);
    expect(errorOf(() => guest.context.queryResources(0)).code).toBe('EPERM');
    expect(errorOf(() => guest.context.queryResources({ lane: 63 })).code).toBe('EPERM');
  });
});

describe('random requests', () => {
  it('either change nothing, or leave every resource allocated exactly once', () => {
    const [control] = makeTwo();
    const total = (shares: readonly ResourceShare[][], resource: Resource): number =>
      shares.flat().reduce((sum, share) => {
        const whole = share.level === undefined && share.resource === resource;
        return whole ? sum + share.amount : sum;
      }, 0);
    const request = fc.record({
      resource: fc.constantFrom(
        virtualCollectBuffers,
        physicalCollectBuffers,
        transmitVirtualLanes,
        executionCredits,
        completionCredits,
      ),
      underlyingFunction: fc.nat(3),
      level: fc.option(fc.constantFrom(low, high), { nil: undefined }),
      amount: fc.nat(70),
      first: fc.option(fc.nat(255), { nil: undefined, freq: 3 }),
    });
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 4 }), (requests) => {
        const before = divisionOf(control);
        let refused = false;
        try {
          control.context.allocateResources(
            requests.map(({ first, level, ...rest }): ResourceRequest => {
              if (level !== undefined) return { ...rest, level };
              const places = rest.resource === virtualCollectBuffers && first !== undefined;
              return places ? { ...rest, first } : rest;
            }),
          );
        } catch (error) {
          if (!(error instanceof VerbsError)) throw error;
          refused = true;
        }
        const after = divisionOf(control);
        if (refused) expect(after).toEqual(before);
        const totals = [virtualCollectBuffers, physicalCollectBuffers, transmitVirtualLanes].map((resource) =>
          total(after, resource),
        );
        expect(totals).toEqual([256, 64, 64]);
        expect([total(after, executionCredits), total(after, completionCredits)]).toEqual([192, 512]);
        const lanes = after
          .flat()
          .filter(({ resource, level }) => resource === transmitVirtualLanes && level === undefined);
        expect(new Set(lanes.flatMap((share) => share.lanes!)).size).toBe(64);
      }),
      { numRuns: 60, seed: 11 },
    );
  });
});

describe('moving or shrinking the resources of an active function', () => {
  it.each(backends)('loses no command and keeps their order when VCBs move, on $name', (backend) => {
    const [control, guest] = makeFunctions(2, { underlyingFunctions: 4 }, backend) as [Verbs, Verbs];
    control.context.allocateResources([
      { resource: virtualCollectBuffers, underlyingFunction: 3, amount: 0 },
      { resource: virtualCollectBuffers, underlyingFunction: 2, amount: 0 },
    ]);
    const [from, to] = makePair(guest);
    const target = makeMemory(to, 8);
    const places = [192, 100, 64, 150];
    for (const [round, first] of places.entries()) {
      const numbers = Array.from({ length: 24 }, (_, index) => round * 100 + index);
      for (const number of numbers) {
        const inlineData = new Uint8Array(8).fill(number & 0xff);
        const remote = target.region.remote();
        from.queuePair.postSend({
          opcode: Opcode.rdmaWrite,
          inlineData,
          remote,
          wrId: number,
          signaled: true,
        });
        if (number % 100 === 11) {
          control.context.allocateResources([
            { resource: virtualCollectBuffers, underlyingFunction: 1, first, amount: 20 },
          ]);
        }
      }
      const taken: Completion[] = [];
      settleBoard(guest.board, backend, () => {
        const completions = Array.from({ length: 32 }, () => new Completion());
        taken.push(...completions.slice(0, guest.completionQueue.poll(completions)));
        if (backend.options.progress === 'stepped') guest.board.runUntilIdle();
        return taken.length >= numbers.length;
      });
      expect(taken.map(({ wrId }) => wrId)).toEqual(numbers);
      expect(taken.every(({ status }) => status === CompletionStatus.success)).toBe(true);
      expect(target.data).toEqual(new Uint8Array(8).fill(numbers.at(-1)! & 0xff));
    }
    expect(functionRegister(guest, 'virtual_collect_buffer_bar')).toEqual([(20n << 16n) | 150n]);
  });

  it.each([
    ['one by one', false],
    ['in batches', true],
  ])('moves the VCBs of a guest that posts without polling, %s', (_, inBatches) => {
    const [control, guest] = makeTwo();
    control.context.allocateResources([
      { resource: virtualCollectBuffers, underlyingFunction: 2, amount: 0 },
    ]);
    const [from, to] = makePair(guest);
    const target = makeMemory(to, 32);
    const post = (number: number): void => {
      const remote = target.region.remote().slice(8 * number, 8);
      const request = {
        opcode: Opcode.rdmaWrite,
        inlineData: new Uint8Array(8).fill(1 + number),
        remote,
        wrId: number,
      };
      if (inBatches) from.queuePair.postSend([request]);
      else from.queuePair.postSend(request);
      // The program does not poll.
      guest.board.runUntilIdle();
    };
    post(0);
    for (const first of [130, 140, 150]) {
      control.context.allocateResources([
        { resource: virtualCollectBuffers, underlyingFunction: 1, first, amount: 10 },
      ]);
      post([130, 140, 150].indexOf(first) + 1);
    }
    expect(target.data).toEqual(new Uint8Array(32).map((__, at) => 1 + (at >> 3)));
  });

  it('lets the resources in use drain, and fails no command', () => {
    const [control, guest] = makeTwo();
    control.context.allocateResources([
      { resource: physicalCollectBuffers, underlyingFunction: 1, amount: 30 },
    ]);
    const [from, to] = makePair(guest);
    const target = makeMemory(to, 64);
    const post = (wrId: number): void =>
      from.queuePair.postSend({
        opcode: Opcode.rdmaWrite,
        inlineData: new Uint8Array(64).fill(wrId),
        remote: target.region.remote(),
        wrId,
        signaled: true,
      });
    for (let wrId = 0; wrId < 24; wrId++) post(wrId);
    control.context.allocateResources([
      { resource: physicalCollectBuffers, underlyingFunction: 1, amount: 1 },
      { resource: physicalCollectBuffers, underlyingFunction: 2, amount: 51 },
      { resource: transmitVirtualLanes, underlyingFunction: 1, amount: 1 },
      { resource: executionCredits, underlyingFunction: 1, amount: 1 },
      { resource: completionCredits, underlyingFunction: 1, amount: 1 },
    ]);
    for (let wrId = 24; wrId < 48; wrId++) post(wrId);
    expect(settle(from).map(({ wrId }) => wrId)).toEqual(Array.from({ length: 48 }, (_, wrId) => wrId));
    expect(target.data).toEqual(new Uint8Array(64).fill(47));
  });
});
