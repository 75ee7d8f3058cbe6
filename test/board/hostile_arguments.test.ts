// Arguments whose properties run code that closes what the call is for, or are something else when they are read again.
import { describe, expect, it } from 'vitest';

import { loadAddon, type BoardFunction, type EmulatedBoard } from '../../lib/board/addon.ts';
import { addressOf, connectQueuePair } from '../../lib/connect/index.ts';
import { Opcode, openDevice } from '../../lib/index.ts';

const makeBoard = (): EmulatedBoard =>
  new (loadAddon().EmulatedBoard)({ progress: 'stepped', queuePairs: 64 });
const closed = expect.objectContaining({ code: 'ERR_CLOSED' }) as Error;
const write = { kind: 'write', underlyingFunction: 0, bar: 0, offset: 0, data: new Uint8Array(4) } as const;

/** `fields` with a getter for field `name` that closes `object` first. */
const closing = <Fields extends object>(object: { close(): void }, name: string, fields: Fields): Fields =>
  Object.defineProperty({ ...fields }, name, {
    enumerable: true,
    get: () => {
      object.close();
      return (fields as Record<string, unknown>)[name];
    },
  });

describe('an argument whose getter closes the board', () => {
  it.each<[string, (board: EmulatedBoard) => unknown]>([
    ['post', (board) => board.post(closing(board, 'data', write) as never)],
    ['inject', (board) => board.inject(closing(board, 'kind', { kind: 'drop' }))],
    ['impair', (board) => board.impair(closing(board, 'loss', { loss: 0.5 }))],
    ['replay', (board) => board.replay([{ ...write, time: 1n }, closing(board, 'data', write)] as never)],
  ])('fails the call with ERR_CLOSED: %s', (_, call) => {
    const board = makeBoard();
    expect(() => call(board)).toThrow(closed);
    expect(() => board.now()).toThrow(closed);
  });

  it('fails a call of a function that the getter closes', () => {
    const board = makeBoard();
    const opened = board.open(0);
    const memory = opened.allocateMemory(65_536);
    const setup = {
      virtualCollectBufferBar: 2,
      virtualCollectBufferOffset: 0,
      commandBytes: 64,
      entryOffset: 0,
      sendQueueLog2: 1,
      firstSequenceNumber: 0,
      recordsLog2: 1,
      entryArea: memory,
      references: memory,
      records: memory,
      recordsHead: memory,
      completionsLog2: 1,
      completions: memory,
      completionsHead: memory,
      clockBar: 0,
      clockOffset: 0,
      clockFrequency: 1,
      timeout: 1,
    };
    expect(() => opened.doorbellProbe(closing(opened, 'timeout', setup))).toThrow(closed);
  });
});

describe('a field whose value differs on every read', () => {
  it('is read only once', () => {
    const board = makeBoard();
    let looks = 0;
    board.post({
      ...write,
      get data() {
        looks += 1;
        return looks === 1 ? new Uint8Array(4) : new Float64Array(1000);
      },
    } as never);
    expect(looks).toBe(1);
  });
});

describe('an object that imitates an object of the addon', () => {
  const board = makeBoard();
  const opened: BoardFunction = board.open(0);
  const memory = opened.allocateMemory(4096);
  const prototype = Object.getPrototypeOf(memory) as object;

  it.each<[string, () => unknown]>([
    ['an object of its prototype', () => Object.create(prototype) as unknown],
    [
      'another object of the addon with its prototype',
      () => Object.setPrototypeOf(makeBoard(), prototype) as unknown,
    ],
    ['a proxy of one', () => new Proxy(memory, {})],
  ])('is not accepted as DMA memory: %s', (_, make) => {
    expect(() => opened.commandWriter(make() as never, 2)).toThrow(/must be a DmaMemory of allocateMemory/);
  });

  it('is accepted if it is DMA memory with a replaced prototype', () => {
    const other = Object.setPrototypeOf(opened.allocateMemory(4096), null) as never;
    expect(opened.commandWriter(other, 2)).toBeDefined();
  });

  it.each<[string, object]>([
    ['DmaMemory', memory],
    ['BoardFunction', opened],
  ])('cannot be created with the constructor of %s', (name, made) => {
    const { constructor } = Object.getPrototypeOf(made) as { constructor: new (given?: unknown) => unknown };
    for (const given of [undefined, {}, memory, opened])
      expect(() => new constructor(given)).toThrow(`${name} is made by`);
  });
});

describe('the clock of a stepped board', () => {
  it('ends at 2^63 - 1, and never wraps', () => {
    const board = makeBoard();
    board.advanceTime(5);
    for (const ticks of [2n ** 63n - 5n, 2n ** 64n - 1n, 2n ** 64n - 5n]) {
      expect(() => board.advanceTime(ticks)).toThrow(
        new RangeError(
          `ticks is ${ticks}, but must be at most ${2n ** 63n - 6n}: the clock is at 5 and ends at 2^63 - 1`,
        ),
      );
    }
    expect(() => board.replay([{ ...write, byteEnables: 0xfn, time: 2n ** 63n }])).toThrow(
      /time of transaction 0 .* ends at 2\^63 - 1/,
    );
    expect(board.now()).toBe(5n);
    board.advanceTime(2n ** 63n - 6n);
    expect(board.now()).toBe(2n ** 63n - 1n);
  });

  it('stops advancing with an error if the device never becomes idle', () => {
    const board = makeBoard();
    const context = openDevice(board.open(0));
    const domain = context.createProtectionDomain();
    const completionQueue = context.createCompletionQueue({ entries: 4 });
    const queuePair = domain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
    });
    const address = addressOf(context, queuePair);
    connectQueuePair(queuePair, address, address, { receiverNotReadyRetry: 7 });
    // There is no receive: the send is retried forever.
    queuePair.postSend({ opcode: Opcode.send, inlineData: new Uint8Array(8), signaled: true });
    const before = board.now();
    expect(() => board.advanceTime(2n ** 50n, 10_000)).toThrow(
      /after 10000 units of work, and not yet at the time; expected: fewer ticks/,
    );
    const after = board.now();
    expect(after).toBeGreaterThan(before);
    expect(after).toBeLessThan(2n ** 50n);
    board.advanceTime(10); // time continues from there
    expect(board.now()).toBe(after + 10n);
  });
});
