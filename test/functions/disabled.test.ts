// A device that its control function disables, and enables again (US8589610, physical function: to disable the host channel adapter).
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';

import {
  Completion,
  CompletionStatus,
  Opcode,
  PortState,
  QueuePairState,
  VerbsError,
} from '../../lib/index.ts';
import { PortDiscard, UNDERLYING_FUNCTION_MANAGEMENT_PAGE_OFFSET } from '../../lib/spec/index.ts';
import { whyStalled } from '../../lib/driver/why.ts';
import {
  everyRight,
  connect,
  makeEnd,
  makeMemory,
  makePair,
  settle,
  type End,
} from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { controlRegister, eventsOf, functionRegister, makeFunctions } from '../helpers/function_verbs.ts';

afterEach(() => vi.useRealTimers());

const commandBar = 2;
const second = 1_000_000_000;
const { success, workRequestFlushedError, retryExceededError } = CompletionStatus;

const statuses = (completions: readonly Completion[]): [number, CompletionStatus][] =>
  completions
    .map(({ wrId, status }): [number, CompletionStatus] => [wrId, status])
    .sort(([one], [other]) => one - other);

const discards = (control: Verbs): number =>
  Number(controlRegister(control, 'port_discards')[PortDiscard.portDown]);

/** Two boards of one fabric: function 0 and a guest of the first, and function 0 of the second. */
function makeBoards(): { control: Verbs; guest: Verbs; peer: Verbs; run: () => void } {
  const fabric = `disabled ${randomUUID()}`;
  const [control, guest] = makeFunctions(2, { fabric }) as [Verbs, Verbs];
  const [peer] = makeFunctions(1, { fabric }) as [Verbs];
  const run = (): void => {
    for (let round = 0; round < 40; round++) {
      for (const { board } of [control, peer]) {
        board.runUntilIdle();
        board.advanceTime(second / 10);
      }
    }
  };
  return { control, guest, peer, run };
}

const write = (to: ReturnType<typeof makeMemory>, wrId: number, bytes = 64) => ({
  opcode: Opcode.rdmaWrite,
  remote: to.region.remote(),
  wrId,
  signaled: true,
  inlineData: new Uint8Array(bytes).fill(0xee),
});

function reconnect(one: End, other: End): void {
  for (const { queuePair } of [one, other]) queuePair.modify({ state: QueuePairState.reset });
  connect(one, other);
  connect(other, one);
}

describe('a disabled device', () => {
  it('drops and counts arriving packets, and leaves memory unchanged', () => {
    const { control, guest, peer, run } = makeBoards();
    const to = makeEnd(guest);
    const from = makeEnd(peer);
    connect(from, to, { timeout: 8, retryCount: 2 });
    connect(to, from);
    const memory = makeMemory(to, 4096);
    const before = Uint8Array.from(memory.data);
    const dropped = discards(control);
    control.context.disableDevice();
    from.queuePair.postSend(write(memory, 1));
    run();
    expect(memory.data).toEqual(before);
    expect(statuses(settle(from))).toEqual([[1, retryExceededError]]);
    expect(discards(control)).toBe(dropped + 3);
    expect(control.board.verify(true)).toBeUndefined();
  });

  it('stops a message in the middle, and neither sends nor fetches the rest', () => {
    const { control, guest, peer, run } = makeBoards();
    const [near, far] = [makeEnd(guest), makeEnd(peer)];
    connect(near, far);
    connect(far, near, { timeout: 8, retryCount: 1 });
    const bytes = 1 << 17;
    const [source, target] = [makeMemory(near, bytes, 1), makeMemory(far, bytes, 2)];
    const request = {
      remote: target.region.remote(),
      signaled: true,
      gather: [source.region.slice(0, bytes)],
    };
    near.queuePair.postSend({ ...request, opcode: Opcode.rdmaWrite, wrId: 1 });
    near.queuePair.postSend({ ...request, opcode: Opcode.rdmaRead, wrId: 2 });
    for (let steps = 0; steps < 200; steps++) for (const { board } of [control, peer]) board.step(1);
    control.context.disableDevice();
    const packets = Number(controlRegister(control, 'port_packets_out')[0]);
    expect(packets).toBeGreaterThan(0);
    expect(target.data.at(-1)).not.toBe(source.data.at(-1)); // the last packet has not arrived
    const kept = Uint8Array.from(source.data);
    run();
    expect(Number(controlRegister(control, 'port_packets_out')[0])).toBe(packets);
    expect(source.data).toEqual(kept);
    expect(statuses(settle(near))).toEqual([
      [1, workRequestFlushedError],
      [2, workRequestFlushedError],
    ]);
    expect(control.board.verify(true)).toBeUndefined();
  });

  it('flushes posted work requests, notifies every function, and refuses new work requests', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from, to] = makePair(guest);
    const [own] = makePair(control);
    // The sends wait because the peer has posted no receives; the receives wait for sends.
    for (const [{ queuePair }, count] of [
      [from, 20],
      [own, 3],
    ] as const) {
      for (let wrId = 0; wrId < count; wrId++) {
        queuePair.postSend({
          opcode: Opcode.send,
          wrId,
          signaled: wrId % 2 === 0,
          inlineData: new Uint8Array(8),
        });
        queuePair.postReceive({ wrId: 100 + wrId, scatter: [] });
      }
    }
    guest.board.runUntilIdle();
    eventsOf(guest);
    control.context.disableDevice();
    const flushed = (count: number): [number, CompletionStatus][] =>
      [0, 100].flatMap((first) =>
        Array.from({ length: count }, (_, index): [number, CompletionStatus] => [
          first + index,
          workRequestFlushedError,
        ]),
      );
    expect(statuses(settle(from))).toEqual(flushed(20));
    expect(statuses(settle(own))).toEqual(flushed(3));
    for (const verbs of [control, guest]) {
      expect(eventsOf(verbs)).toMatchObject([{ name: 'portError', object: 1 }]);
      expect(verbs.context.queryPort(1).state).toBe(PortState.down);
    }
    for (const { queuePair } of [from, to, own]) {
      expect(queuePair.query().state).toBe(QueuePairState.error);
      expect(() => queuePair.postSend({ opcode: Opcode.send })).toThrow(/the device is disabled/);
      expect(() => queuePair.postSend([{ opcode: Opcode.send }])).toThrow(VerbsError);
    }
    expect(whyStalled(guest.context.driver.device, from.queuePair.number)!.reasons[0]).toMatch(/disabled/);
    // A posted receive reaches the device by register and is flushed, even if the queue pair had no work requests.
    for (const [{ queuePair }, wrId] of [
      [from, 7],
      [to, 8],
    ] as const) {
      queuePair.postReceive({ wrId, scatter: [] });
      expect(statuses(settle(from))).toEqual([[wrId, workRequestFlushedError]]);
    }
    // The device stays present, so no wait ends.
    guest.context.driver.watch.hold();
    vi.advanceTimersByTime(5000);
    guest.context.driver.watch.release();
    expect(guest.context.driver.device.loss.reason).toBeUndefined();
    expect(control.board.verify(true)).toBeUndefined();
  });

  it('cancels half-written commands, and drops and counts further writes', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from, to] = makePair(guest);
    const memory = makeMemory(to, 256);
    const fault = guest.board.inject({ kind: 'drop', bar: commandBar, underlyingFunction: 1, nth: 1 });
    from.queuePair.postSend(write(memory, 1));
    guest.board.runUntilIdle();
    expect(guest.board.injected(fault)).toBe(1);
    guest.board.clearFaults();
    control.context.disableDevice();
    expect(functionRegister(guest, 'commands_cancelled')).toEqual([1n]);
    const unclaimed = controlRegister(control, 'writes_unclaimed')[0]!;
    const { offset } = guest.context.driver.queuePairs.get(from.queuePair.number)!.virtualCollectBuffer;
    guest.board.post({ underlyingFunction: 1, bar: commandBar, offset, data: new Uint8Array(64) });
    const page = guest.context.driver.device.page;
    page.write32(UNDERLYING_FUNCTION_MANAGEMENT_PAGE_OFFSET, 1);
    guest.board.runUntilIdle();
    expect(controlRegister(control, 'writes_unclaimed')[0]).toBe(unclaimed + 1n);
    expect(functionRegister(guest, 'writes_dropped')).toEqual([1n]);
    control.context.enableDevice();
    guest.board.runUntilIdle();
    eventsOf(guest);
    // The device did not know of the command: it is flushed as soon as it arrives.
    expect(statuses(settle(from))).toEqual([[1, workRequestFlushedError]]);
  });

  it('delivers events, and serves reconnected and new queue pairs, after it is enabled again', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const ends = makePair(guest);
    for (let times = 0; times < 3; times++) {
      control.context.disableDevice();
      control.context.disableDevice();
      guest.board.runUntilIdle();
      expect(eventsOf(guest)).toMatchObject([{ name: 'portError' }]);
      control.context.enableDevice();
      control.context.enableDevice();
      guest.board.runUntilIdle();
      expect(eventsOf(guest)).toMatchObject([{ name: 'portActive', object: 1 }]);
      expect(guest.context.queryPort(1).state).toBe(PortState.active);
      reconnect(...ends);
      for (const [from, to] of [ends, makePair(guest)]) {
        const memory = makeMemory(to, 64);
        from.queuePair.postSend(write(memory, 1));
        expect(statuses(settle(from))).toEqual([[1, success]]);
        expect(memory.data).toEqual(new Uint8Array(64).fill(0xee));
      }
    }
    expect(control.board.verify(true)).toBeUndefined();
  });

  it('flushes a work request that was in flight when it was disabled, once it is enabled again', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from, to] = makePair(guest);
    const memory = makeMemory(to, 64);
    guest.board.runUntilIdle();
    guest.board.inject({ kind: 'reorder', underlyingFunction: 1, bar: commandBar, count: 0, ticks: 1000 });
    from.queuePair.postSend(write(memory, 1));
    control.context.disableDevice();
    guest.board.clearFaults();
    expect(settle(from)).toEqual([]);
    control.context.enableDevice();
    guest.board.runUntilIdle();
    vi.advanceTimersByTime(1000); // without any call by the program
    expect(statuses(settle(from))).toEqual([[1, workRequestFlushedError]]);
  });

  it('allows objects to be created, queried, reset and closed', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from, to] = makePair(guest);
    control.context.disableDevice();
    guest.board.runUntilIdle();
    from.queuePair.modify({ state: QueuePairState.reset });
    from.queuePair.close();
    to.queuePair.close();
    guest.protectionDomain.allocate(4096, everyRight).close();
    guest.completionQueue.close();
    guest.protectionDomain.close();
    expect(functionRegister(control, 'kicks').length).toBe(1);
    expect(control.board.verify(true)).toBeUndefined();
  });

  it('can be disabled by its control function only', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    for (const call of [() => guest.context.disableDevice(), () => guest.context.enableDevice()])
      expect(call).toThrow(
        expect.objectContaining({ code: 'EPERM', expected: 'underlying function 0, the control function' }),
      );
    expect(eventsOf(control)).toEqual([]);
  });
});
