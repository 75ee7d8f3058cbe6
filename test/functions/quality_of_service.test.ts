// The example of US8484392 (115 to 120): a control function, weatherModeler and OceanStreams share a board.
import { describe, expect, it } from 'vitest';

import {
  Completion,
  CompletionStatus,
  Opcode,
  QualityOfServiceLevel,
  Resource,
  type CompletionQueue,
  type QueuePair,
  type SendRequest,
} from '../../lib/index.ts';
import type { VirtualCollectBuffer } from '../../lib/driver/virtual_collect_buffers.ts';
import { everyRight, connect, makeEnd } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { controlRegister, functionRegister, makeFunctions } from '../helpers/function_verbs.ts';

const { low, high } = QualityOfServiceLevel;

interface Promised {
  readonly name: string;
  readonly virtualCollectBuffers: number;
  readonly physicalCollectBuffers: number;
  readonly transmitVirtualLanes: number;
}

const promises: readonly Promised[] = [
  { name: 'control', virtualCollectBuffers: 30, physicalCollectBuffers: 25, transmitVirtualLanes: 10 },
  { name: 'weatherModeler', virtualCollectBuffers: 25, physicalCollectBuffers: 20, transmitVirtualLanes: 20 },
  { name: 'OceanStreams', virtualCollectBuffers: 15, physicalCollectBuffers: 12, transmitVirtualLanes: 15 },
];
const lanesOfBoard = 64;
const buffersOfBoard = 64;
/** Virtual collect buffers of the high level: for weather alerts, and for the famous researcher. */
const forHighLevel = [0, 15, 10];

/** The three functions, with the resources that the virtual machine manager gives each and that each divides among its levels. */
function makeExample(): Verbs[] {
  const functions = makeFunctions(3, { underlyingFunctions: 3 });
  functions[0]!.context.allocateResources(
    promises.flatMap((promise, underlyingFunction) => [
      { resource: Resource.virtualCollectBuffers, underlyingFunction, amount: promise.virtualCollectBuffers },
      {
        resource: Resource.physicalCollectBuffers,
        underlyingFunction,
        amount: promise.physicalCollectBuffers,
      },
      { resource: Resource.transmitVirtualLanes, underlyingFunction, amount: promise.transmitVirtualLanes },
    ]),
  );
  for (const [index, amount] of forHighLevel.entries()) {
    if (amount === 0) continue;
    const rest = promises[index]!.virtualCollectBuffers - amount;
    functions[index]!.context.allocateResources([
      { resource: Resource.virtualCollectBuffers, level: high, amount },
      { resource: Resource.virtualCollectBuffers, level: low, amount: rest },
    ]);
  }
  return functions;
}

const buffersOf = ({ context }: Verbs): readonly VirtualCollectBuffer[] =>
  context.driver.virtualCollectBuffers.all;

/** Writes a command without its first segment to each buffer: it holds its physical collect buffer until it is canceled. */
function begin({ board, context }: Verbs, buffers: readonly VirtualCollectBuffer[]): void {
  const { underlyingFunction, virtualCollectBufferRegion } = context.driver.device;
  const { bar } = virtualCollectBufferRegion;
  for (const { offset } of buffers) {
    board.post({ underlyingFunction, bar, offset: offset + 8, data: new Uint8Array(8) });
  }
  board.runUntilIdle();
}

/** Physical collect buffers that a function holds. */
function heldBy(verbs: Verbs): number {
  const own = functionRegister(verbs, 'physical_collect_buffers_in_use');
  const borrowed = functionRegister(verbs, 'physical_collect_buffers_borrowed')[0]!;
  return Number(own.reduce((sum, each) => sum + each, borrowed));
}

const sendQueueModeKicks = (verbs: Verbs): number =>
  Number(functionRegister(verbs, 'send_queue_mode_kicks')[0]);

describe('the example of US8484392', () => {
  it('divides the resources as the patent does', () => {
    const functions = makeExample();
    const [control] = functions as [Verbs];
    for (const [index, promise] of promises.entries()) {
      const shares = control.context.queryResources(index);
      const amounts = (resource: Resource): number[] =>
        shares.filter((share) => share.resource === resource).map(({ amount }) => amount);
      const first = forHighLevel[index]!;
      expect(amounts(Resource.virtualCollectBuffers)).toEqual([
        promise.virtualCollectBuffers,
        first === 0 ? 0 : promise.virtualCollectBuffers - first,
        first,
      ]);
      expect(amounts(Resource.physicalCollectBuffers)[0]).toBe(promise.physicalCollectBuffers);
      expect(amounts(Resource.transmitVirtualLanes)[0]).toBe(promise.transmitVirtualLanes);
    }
    const shared = control.context.queryResources('shared').map(({ amount }) => amount);
    expect(shared.slice(1, 3)).toEqual([64 - 57, 64 - 45]);
  });

  it.each([0, 1, 2])(
    'reserves the physical collect buffers of function %i while the others take all',
    (third) => {
      const functions = makeExample();
      const others = functions.filter((_, index) => index !== third);
      for (const other of others) begin(other, buffersOf(other));
      const promised = promises[third]!.physicalCollectBuffers;
      // The others hold all buffers that are not reserved for the third.
      expect(others.reduce((sum, other) => sum + heldBy(other), 0)).toBe(buffersOfBoard - promised);
      expect(controlRegister(functions[0]!, 'physical_collect_buffers_shared')[0]! >> 16n).toBe(0n);
      const verbs = functions[third]!;
      begin(verbs, buffersOf(verbs).slice(0, promised));
      expect(heldBy(verbs)).toBe(promised);
      // Buffers that the others free become shared again, and the third may borrow them.
      for (const other of others) for (const buffer of buffersOf(other)) buffer.cancel();
      functions[0]!.board.runUntilIdle();
      begin(verbs, buffersOf(verbs).slice(promised));
      const all = promises[third]!.virtualCollectBuffers;
      expect(heldBy(verbs)).toBe(Math.min(all, promised + 7));
    },
  );

  it('reserves the buffers of one level from the other', () => {
    const weather = makeExample()[1]!;
    weather.context.allocateResources([
      { resource: Resource.physicalCollectBuffers, level: high, amount: 12 },
      { resource: Resource.physicalCollectBuffers, level: low, amount: 3 },
    ]);
    const buffers = buffersOf(weather);
    // The low level takes 10: 3 of its own, 5 of both levels, 2 shared by all functions.
    begin(weather, buffers.slice(0, 10));
    expect(functionRegister(weather, 'physical_collect_buffers_in_use')).toEqual([3n, 0n, 5n]);
    expect(functionRegister(weather, 'physical_collect_buffers_borrowed')).toEqual([2n]);
    begin(weather, buffers.slice(10, 22));
    expect(functionRegister(weather, 'physical_collect_buffers_in_use')).toEqual([3n, 12n, 5n]);
    expect(functionRegister(weather, 'physical_collect_buffers_available')).toEqual([0n, 0n, 0n]);
    // A release returns borrowed buffers first.
    buffers[0]!.cancel();
    weather.board.runUntilIdle();
    expect(functionRegister(weather, 'physical_collect_buffers_borrowed')).toEqual([1n]);
  });
});

const messageBytes = 4096;

/** A function that posts WRITEs continuously on several queue pairs, each with several outstanding. */
class Load {
  completed = 0;
  private readonly completionQueue: CompletionQueue;
  private readonly queuePairs: QueuePair[];
  private readonly request: SendRequest;

  constructor(verbs: Verbs, queuePairs: number, outstanding: number) {
    const { context, protectionDomain } = verbs;
    this.completionQueue = context.createCompletionQueue({ entries: 1024 });
    const memory = protectionDomain.allocate(2 * messageBytes, everyRight);
    const [source, target] = [
      memory.slice(0, messageBytes),
      memory.remote().slice(messageBytes, messageBytes),
    ];
    this.request = { opcode: Opcode.rdmaWrite, gather: [source], remote: target, signaled: true };
    const of = { ...verbs, completionQueue: this.completionQueue };
    this.queuePairs = Array.from({ length: queuePairs }, () => {
      const end = makeEnd(of, {
        capabilities: { maxGatherEntries: 1, maxInlineData: 0, maxReceiveWorkRequests: 1 },
      });
      connect(end, end);
      return end.queuePair;
    });
    for (const [wrId, queuePair] of this.queuePairs.entries())
      for (let each = 0; each < outstanding; each++) queuePair.postSend({ ...this.request, wrId });
  }

  /** Posts a new WRITE for each completed one. */
  drive(): void {
    const completions = Array.from({ length: 64 }, () => new Completion());
    const count = this.completionQueue.poll(completions);
    for (const { status, wrId } of completions.slice(0, count)) {
      if (status !== CompletionStatus.success) throw new Error(`a WRITE ended with status ${status}`);
      this.completed += 1;
      this.queuePairs[wrId]!.postSend({ ...this.request, wrId });
    }
  }
}

describe('while two functions demand all resources', () => {
  it.each([0, 1, 2])('function %i gets its share of the commands within its allocation', (third) => {
    const functions = makeExample();
    const { board } = functions[0]!;
    const { physicalCollectBuffers, transmitVirtualLanes } = promises[third]!;
    const queuePairs = Math.min(physicalCollectBuffers, transmitVirtualLanes);
    const loads = functions.map((verbs, index) =>
      index === third ? new Load(verbs, queuePairs, 1) : new Load(verbs, 40, 4),
    );
    const drive = (commands: number): number[] => {
      const before = loads.map(({ completed }) => completed);
      const done = (): number[] => loads.map(({ completed }, index) => completed - before[index]!);
      for (let rounds = 0; done().reduce((sum, each) => sum + each, 0) < commands; rounds++) {
        if (rounds > 100_000) throw new Error('the commands do not come to an end');
        board.step(50);
        for (const load of loads) load.drive();
      }
      return done();
    };
    drive(300); // until all lanes are taken
    const commands = drive(1200);
    const share = commands[third]! / commands.reduce((sum, each) => sum + each, 0);
    expect(share).toBeGreaterThan((0.95 * queuePairs) / lanesOfBoard);
    // The third never enters send queue mode; the others progress, and share the rest.
    expect(sendQueueModeKicks(functions[third]!)).toBe(0);
    for (const [index, count] of commands.entries()) {
      expect(count).toBeGreaterThan(0);
      if (index !== third) expect(sendQueueModeKicks(functions[index]!)).toBeGreaterThan(0);
    }
  });
});
