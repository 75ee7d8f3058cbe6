// Virtual queue pairs (US7095750): the number that peers know is in time-wait when its connection has ended.
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { addressOf, connectQueuePairAsync } from '../../lib/connect/index.ts';
import { whyStalled } from '../../lib/driver/why.ts';
import {
  CompletionStatus,
  Opcode,
  QueuePairState,
  VerbsError,
  openDevice,
  type QueuePair,
  type QueuePairType,
  type WaitOptions,
} from '../../lib/index.ts';
import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { Observer } from '../../lib/driver/observer.ts';
import { PacketDrop } from '../../lib/spec/index.ts';
import { makeBoard } from '../helpers/backends.ts';
import { connect, makeEnd, makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { makeQueuePair, makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';
import { setTimeWait } from '../helpers/time_wait.ts';

const { success } = CompletionStatus;
const bytes = 2000; // two packets
/** Ticks that packets of the first connection are in flight. */
const late = 1_000_000;
/**
 * Nanoseconds: timeout 14 and 7 retries, as connect() sets them, detected after twice the timeout, and an RNR
 * timer of 640 µs.
 */
const timeWait = 2 * 4096 * 2 ** 14 * 8 + 640_000;

function makeEnds(type: QueuePairType = 'RC', count = 2): End[] {
  const fabric = `numbers ${randomUUID()}`;
  return Array.from({ length: count }, () => makeEnd(makeVerbs(stepped, { fabric }), { type }));
}

function connectBoth([one, other]: readonly [End, End], type: QueuePairType = 'RC'): void {
  connect(one, other, { type });
  connect(other, one, { type });
}

function reset(end: End, newNumber = false): void {
  end.queuePair.modify({ state: QueuePairState.reset, newNumber });
}

const register = ({ context }: Verbs, name: string): bigint[] => [
  ...readNamed(context.driver.device.controlPage!, registerNamed(blockNamed('control'), name)).values,
];
const waiting = (verbs: Verbs): number => Number(register(verbs, 'numbers_in_time_wait')[0]);
const dropped = (verbs: Verbs): number => Number(register(verbs, 'packets_dropped')[PacketDrop.timeWait]);

describe.each([
  ['RC', 'the same number', false],
  ['RC', 'another number', true],
  ['UC', 'the same number', false],
  ['UC', 'another number', true],
] as const)('a packet of a former connection of %s whose PSN is expected again', (type, how, newNumber) => {
  it(`is not accepted by the next connection of the queue pair, by ${how}`, () => {
    const ends = makeEnds(type) as [End, End];
    const memories = ends.map((end) => makeMemory(end, bytes));
    const [from, to] = ends;
    const { board } = from.verbs;
    connectBoth(ends, type);
    const delay = to.verbs.board.impair({ delay: late, lane: 'requests' });
    memories[0]!.data.fill(66);
    from.queuePair.postSend({ opcode: Opcode.send, gather: [memories[0]!.region.slice()], signaled: true });
    board.runUntilIdle();
    to.verbs.board.impair({});
    to.verbs.board.clearImpairments(delay);
    for (const end of ends) reset(end, newNumber);
    connectBoth(ends, type);
    to.queuePair.postReceive({ scatter: [memories[1]!.region.slice()] });
    board.advanceTime(late);
    expect(settle(to)).toEqual([]);
    expect(dropped(to.verbs)).toBe(2);
    memories[0]!.data.fill(99);
    from.queuePair.postSend({ opcode: Opcode.send, gather: [memories[0]!.region.slice()], signaled: true });
    expect(settle(from)).toMatchObject([{ status: success, queuePairNumber: from.queuePair.number }]);
    expect(settle(to)).toMatchObject([
      { status: success, byteLength: bytes, queuePairNumber: to.queuePair.number },
    ]);
    expect(memories[1]!.data.every((byte) => byte === 99)).toBe(true);
  });
});

describe('the number of a queue pair that is reset', () => {
  it('stays, and can connect to the same peer when its time-wait is over', () => {
    const ends = makeEnds() as [End, End];
    const [one, other] = ends;
    const { number } = one.queuePair;
    connectBoth(ends);
    const begin = one.verbs.board.now();
    for (const end of ends) reset(end);
    expect(waiting(one.verbs)).toBe(1);
    const { device } = one.verbs.context.driver;
    expect(whyStalled(device, number)!.reasons.join()).toContain('is in time-wait');
    connect(one, other);
    expect(one.queuePair.number).toBe(number);
    const waited = Number(one.verbs.board.now() - begin);
    expect(waited).toBeGreaterThanOrEqual(timeWait);
    expect(waited).toBeLessThan(timeWait + 100_000);
    expect(waiting(one.verbs)).toBe(0);
    expect(whyStalled(device, number)!.reasons.join()).not.toContain('is in time-wait');
  });

  it('can connect to another peer at once', () => {
    const ends = makeEnds('RC', 3);
    const [one, other, third] = ends as [End, End, End];
    connectBoth([one, other]);
    const begin = one.verbs.board.now();
    reset(one);
    connectBoth([one, third]);
    expect(Number(one.verbs.board.now() - begin)).toBeLessThan(100_000);
    const { region } = makeMemory(third, bytes);
    third.queuePair.postSend({ opcode: Opcode.send, gather: [region.slice()], signaled: true });
    one.queuePair.postReceive({ scatter: [makeMemory(one, bytes).region.slice()] });
    expect(settle(one)).toMatchObject([{ status: success }]);
    // Packets of both peers may arrive now.
    reset(one);
    connect(one, other);
    expect(Number(one.verbs.board.now() - begin)).toBeGreaterThanOrEqual(timeWait);
  });

  it('cannot connect to the same peer during a long time-wait, and the error names the rest of it', () => {
    const ends = makeEnds() as [End, End];
    const [one, other] = ends;
    connectBoth(ends);
    setTimeWait(one.verbs, 30_000_000);
    reset(one);
    const error = caught(() => connect(one, other));
    expect(error).toMatchObject({ code: 'EAGAIN', verb: 'modifyQueuePair' });
    expect(error.message).toContain('for another 30.0 s');
    expect(error.message).toContain('newNumber');
    expect(error.retryAfter! / 30_000).toBeCloseTo(1, 2);
    one.verbs.board.advanceTime(30_000_000_000);
    reset(one);
    connect(one, other);
  });

  it('is awaited without blocking the event loop, for any time-wait', async () => {
    const ends = makeEnds() as [End, End];
    const [one, other] = ends;
    const board = one.verbs.board;
    connectBoth(ends);
    setTimeWait(one.verbs, 30_000_000);
    reset(one);
    const { context } = one.verbs;
    const addresses = [addressOf(context, one.queuePair), addressOf(other.verbs.context, other.queuePair)];
    let isConnected = false;
    const connectAgain = async (): Promise<void> => {
      await connectQueuePairAsync(one.queuePair, addresses[0]!, addresses[1]!);
      isConnected = true;
    };
    const connected = connectAgain();
    // Other commands of the function continue, and the queue pair keeps its state.
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    expect(isConnected).toBe(false);
    expect(one.queuePair.query().state).toBe(QueuePairState.init);
    expect(waiting(one.verbs)).toBe(1);
    board.advanceTime(30_000_000_000);
    await connected;
    expect(one.queuePair.query().state).toBe(QueuePairState.readyToSend);
  });

  it('is awaited until the signal or the timeout ends the wait, which leaves the queue pair in INIT', async () => {
    const ends = makeEnds() as [End, End];
    const [one, other] = ends;
    connectBoth(ends);
    reset(one);
    const { context } = one.verbs;
    const addresses = [addressOf(context, one.queuePair), addressOf(other.verbs.context, other.queuePair)];
    const connectAgain = async (wait: WaitOptions): Promise<void> =>
      connectQueuePairAsync(one.queuePair, addresses[0]!, addresses[1]!, {}, wait);
    await expect(connectAgain({ timeout: 1 })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(one.queuePair.query().state).toBe(QueuePairState.init);
    const giveUp = new AbortController();
    const aborted = connectAgain({ signal: giveUp.signal });
    await setImmediate();
    giveUp.abort(new Error('the program ends'));
    await expect(aborted).rejects.toThrow('the program ends');
    expect(one.queuePair.query().state).toBe(QueuePairState.init);
    await expect(one.queuePair.modifyAsync({ state: QueuePairState.readyToSend })).rejects.toMatchObject({
      code: 'EINVAL',
    });
    const closed = connectAgain({});
    await setImmediate();
    one.queuePair.close();
    await expect(closed).rejects.toMatchObject({ code: 'EBADF' });
  });

  it('is unchanged if the caller has aborted before', async () => {
    const [end] = makeEnds('RC', 1) as [End];
    const given = { state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: 0 };
    const gone = new Error('the program ends');
    await expect(end.queuePair.modifyAsync(given, { signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
    expect(end.queuePair.query().state).toBe(QueuePairState.reset);
  });

  it('is changed by true and kept by false; other values are refused', () => {
    const [end] = makeEnds('RC', 1) as [End];
    for (const newNumber of [1, 0, 'yes', null, {}] as unknown[]) {
      const error = caught(() => end.queuePair.modify({ state: QueuePairState.reset, newNumber } as never));
      expect(error).toMatchObject({ code: 'EINVAL', verb: 'modifyQueuePair', attribute: 'newNumber' });
      expect(error.message).toMatch(/^newNumber must be true or false, got /);
    }
  });

  it('is another one if the reset requests it, and the queue pair is free at once', () => {
    const ends = makeEnds() as [End, End];
    const [one] = ends;
    connectBoth(ends);
    const before = one.queuePair.number;
    const begin = one.verbs.board.now();
    for (const end of ends) reset(end, true);
    connectBoth(ends);
    expect(Number(one.verbs.board.now() - begin)).toBeLessThan(100_000);
    expect(one.queuePair.number).not.toBe(before);
    const { device } = one.verbs.context.driver;
    const why = whyStalled(device, one.queuePair.number)!.queuePair;
    expect(why).toMatchObject({ number: before, virtualNumber: one.queuePair.number, bound: true });
    expect(whyStalled(device, before)!.queuePair).toEqual(why);
    expect(one.queuePair.query().virtualNumber).toBe(one.queuePair.number);
    // A failed work request names it too.
    one.queuePair.modify({ state: QueuePairState.error });
    one.queuePair.postSend({ opcode: Opcode.send, gather: [], signaled: true });
    expect(settle(one)).toMatchObject([{ queuePairNumber: one.queuePair.number }]);
  });

  it('is shown to observers with the one in time-wait, until that is over', () => {
    const ends = makeEnds() as [End, End];
    const [one] = ends;
    connectBoth(ends);
    const before = one.queuePair.number;
    reset(one, true);
    using observer = new Observer(one.verbs.board.observe(0));
    expect(observer.queuePairs()).toMatchObject([
      { number: before, virtualQueuePair: one.queuePair.number, timeWaitLeft: 0 },
    ]);
    const [wait, ...others] = observer.timeWaits();
    expect(others).toEqual([]);
    expect(wait).toMatchObject({ number: before, virtualQueuePair: before, underlyingFunction: 0 });
    expect(Math.abs(wait!.timeWaitLeft - timeWait / 1000)).toBeLessThan(100);
    one.verbs.board.advanceTime(timeWait);
    expect(observer.timeWaits()).toEqual([]);
  });

  it('of a datagram service is the same, without a time-wait', () => {
    const [end] = makeEnds('UD', 1) as [End];
    const { queuePair } = end;
    const { number } = queuePair;
    for (let round = 0; round < 2; round++) {
      queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, queueKey: 1 });
      queuePair.modify({ state: QueuePairState.readyToReceive });
      reset(end);
      expect([queuePair.number, waiting(end.verbs)]).toEqual([number, 0]);
    }
    expect(caught(() => reset(end, true)).message).toContain('newNumber');
  });
});

describe('numbers in time-wait', () => {
  it('are those of connected queue pairs that were destroyed or whose function was reset', () => {
    const ends = makeEnds() as [End, End];
    const [one] = ends;
    const unconnected = makeQueuePair(one.verbs);
    connectBoth(ends);
    unconnected.close();
    expect(waiting(one.verbs)).toBe(0);
    one.queuePair.close();
    expect(waiting(one.verbs)).toBe(1);
  });

  it('outlast a reset of their function, and of the device', () => {
    const board = makeBoard(stepped, {});
    const [control, guest] = [0, 1].map((number) => {
      const context = openDevice(board.open(number));
      const protectionDomain = context.createProtectionDomain();
      return {
        board,
        context,
        protectionDomain,
        completionQueue: context.createCompletionQueue({ entries: 64 }),
      };
    }) as [Verbs, Verbs];
    const numbers = makePair(guest).map(({ queuePair }) => queuePair.number);
    guest.context.driver.close(); // as when its process ends: no object is closed first
    expect(waiting(control)).toBe(2);
    const switches = registerNamed(blockNamed('control'), 'control');
    control.context.driver.device.controlPage!.write32(switches.offset, 2);
    expect(waiting(control)).toBe(2);
    using observer = new Observer(board.observe(0));
    expect(observer.timeWaits().map(({ virtualQueuePair }) => virtualQueuePair)).toEqual(numbers);
  });

  it('for all numbers are reported, with the time until the first is free', () => {
    const fabric = `few ${randomUUID()}`;
    const end = makeEnd(makeVerbs(stepped, { fabric, queuePairs: 4 }));
    const peer = makeEnd(makeVerbs(stepped, { fabric }));
    setTimeWait(end.verbs, 5_000_000);
    const numbers = new Set<number>();
    const error = caught(() => {
      for (;;) {
        connect(end, peer);
        numbers.add(end.queuePair.number);
        reset(end, true);
      }
    });
    // Two places, 256 generations of each.
    expect(numbers.size).toBe(512);
    expect(error).toMatchObject({ code: 'EAGAIN', verb: 'modifyQueuePair', attribute: 'number' });
    expect(error.message).toMatch(/511 numbers, the first for another [45]\.\d+ s/);
    // The command keeps its place, and continues when the first number is free.
    expect(end.queuePair.query().state).toBe(QueuePairState.readyToSend);
    end.verbs.board.advanceTime(5_000_000_000);
    reset(end, true);
    connect(end, peer);
    expect(numbers.has(end.queuePair.number)).toBe(true);
  });

  it('are assigned to no new queue pair', () => {
    const fabric = `few ${randomUUID()}`;
    const verbs = makeVerbs(stepped, { fabric, queuePairs: 3 });
    const peer = makeEnd(makeVerbs(stepped, { fabric }));
    setTimeWait(verbs, 5_000_000);
    const given: number[] = [];
    const make = (): QueuePair => {
      const end = makeEnd(verbs);
      given.push(end.queuePair.number);
      connect(end, peer);
      return end.queuePair;
    };
    const error = caught(() => {
      for (;;) make().close();
    });
    expect([given.length, new Set(given).size]).toEqual([256, 256]);
    expect(error).toMatchObject({ code: 'EAGAIN', verb: 'createQueuePair' });
    verbs.board.advanceTime(5_000_000_000);
    make().close();
  });
});

function caught(action: () => void): VerbsError {
  try {
    action();
  } catch (error) {
    if (error instanceof VerbsError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
