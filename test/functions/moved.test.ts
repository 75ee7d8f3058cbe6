// Virtual collect buffers move to another function while their function posts, and the program makes no
// further call.
import { afterEach, describe, expect, it, vi } from 'vitest';

import { CompletionStatus, Opcode, Resource, type ResourceRequest } from '../../lib/index.ts';
import { makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { controlRegister, functionRegister, makeFunctions } from '../helpers/function_verbs.ts';

afterEach(() => vi.useRealTimers());

const commandBar = 2;
const held = 1000;

const range = (underlyingFunction: number, first: number, amount: number): ResourceRequest => ({
  resource: Resource.virtualCollectBuffers,
  underlyingFunction,
  first,
  amount,
});

/** A guest whose next writes to its buffers are delayed by `held` ticks, while other writes overtake them. */
function makeGuest(): { control: Verbs; guest: Verbs; ends: [End, End]; arrive: () => void } {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const [control, guest] = makeFunctions(3) as [Verbs, Verbs, Verbs];
  control.context.allocateResources([5, 6, 7].map((number) => range(number, 0, 0)));
  const ends = makePair(guest);
  guest.board.runUntilIdle();
  guest.board.inject({ kind: 'reorder', underlyingFunction: 1, bar: commandBar, count: 0, ticks: held });
  const arrive = (): void => {
    guest.board.clearFaults();
    guest.board.runUntilIdle();
  };
  return { control, guest, ends, arrive };
}

const write = (end: End, wrId: number, inlineData: Uint8Array) => ({
  opcode: Opcode.rdmaWrite,
  remote: makeMemory(end, 8).region.remote(),
  wrId,
  signaled: true,
  inlineData,
});

/** Lets time pass without a call by the program. */
function letTimePass({ board }: Verbs): void {
  vi.advanceTimersByTime(1000);
  board.runUntilIdle();
}

const sent = (verbs: Verbs): number => Number(functionRegister(verbs, 'commands_sent')[0]);

describe('a function that posts once, while its virtual collect buffers are moved,', () => {
  it.each([
    ['one command', 1, 8],
    ['a long command', 1, 200],
    ['several commands', 5, 64],
  ])('has %s executed without another call', (__, count, bytes) => {
    const { control, guest, ends, arrive } = makeGuest();
    const [{ queuePair }, to] = ends;
    const unclaimed = controlRegister(control, 'writes_unclaimed')[0]!;
    const { region } = makeMemory(to, 256);
    for (let wrId = 0; wrId < count; wrId++) {
      queuePair.postSend({
        opcode: Opcode.rdmaWrite,
        remote: region.remote(),
        wrId,
        signaled: true,
        inlineData: new Uint8Array(bytes).fill(7),
      });
    }
    control.context.allocateResources([range(1, 200, 16), range(2, 32, 64)]);
    arrive();
    expect(controlRegister(control, 'writes_unclaimed')[0]).toBeGreaterThan(unclaimed);
    expect(sent(guest)).toBe(0);
    letTimePass(guest);
    expect(sent(guest)).toBe(count);
    expect([...region.bytes.subarray(0, bytes)]).toEqual([...new Uint8Array(bytes).fill(7)]);
    expect(settle(ends[0]).map(({ wrId, status }) => [wrId, status])).toEqual(
      Array.from({ length: count }, (_, wrId) => [wrId, CompletionStatus.success]),
    );
    letTimePass(guest);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('continues when it gets buffers again after having none', () => {
    const { control, guest, ends, arrive } = makeGuest();
    ends[0].queuePair.postSend(write(ends[1], 1, new Uint8Array(8)));
    control.context.allocateResources([range(1, 0, 0)]);
    arrive();
    letTimePass(guest);
    expect(sent(guest)).toBe(0);
    control.context.allocateResources([range(1, 200, 16)]);
    guest.board.runUntilIdle();
    letTimePass(guest);
    expect(settle(ends[0])).toMatchObject([{ wrId: 1, status: CompletionStatus.success }]);
  });

  it('has its command executed even if the event is lost because its event queue is full', () => {
    const { control, guest, ends, arrive } = makeGuest();
    ends[0].queuePair.postSend(write(ends[1], 1, new Uint8Array(8)));
    for (let times = 0; times < 150; times++) {
      control.context.allocateResources([range(1, 200 + (times % 2) * 20, 16)]);
      control.board.runUntilIdle();
    }
    control.context.allocateResources([range(2, 32, 64), range(1, 180, 16)]);
    arrive();
    expect(Number(functionRegister(guest, 'events_dropped')[0])).toBeGreaterThan(0);
    letTimePass(guest);
    letTimePass(guest);
    expect(settle(ends[0])).toMatchObject([{ wrId: 1, status: CompletionStatus.success }]);
  });
});
