import { describe, expect, it } from 'vitest';

import { Access, Opcode, QueuePairState, type Kick } from '../../lib/index.ts';
import { Observer } from '../../lib/driver/observer.ts';
import { readCounters } from '../../lib/driver/counters.ts';
import {
  CONTROL_INSPECT_SELECT_OFFSET,
  CONTROL_INSPECT_VIRTUAL_COLLECT_BUFFER_OFFSET,
  CompletionStatus,
  EventType,
  KickOrigin,
  QueuePairState as State,
  getCompletionQueueEntryQueuePairNumber,
  getCompletionQueueEntrySequenceNumber,
  getCompletionQueueEntryTimestamp,
  getCompletionQueueEntryWorkQueue,
} from '../../lib/spec/index.ts';
import { closing } from '../helpers/backends.ts';
import { eventsOf, makeFunctions, openFunctions } from '../helpers/function_verbs.ts';
import { makePair, type End } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';

/** An observer of a function of the board, until the test ends. */
const observe = ({ board }: Verbs, underlyingFunction: number): Observer =>
  closing(new Observer(board.observe(underlyingFunction)));

function send({ queuePair, verbs }: End, times = 1): void {
  for (let wrId = 0; wrId < times; wrId++) {
    queuePair.postSend({ opcode: Opcode.send, wrId, signaled: true });
    verbs.board.runUntilIdle();
  }
}

function receive({ queuePair }: End, times: number): void {
  for (let wrId = 0; wrId < times; wrId++) queuePair.postReceive({ wrId, scatter: [] });
}

const functionsOf = (kicks: readonly Kick[]): number[] =>
  kicks.map(({ underlyingFunction }) => underlyingFunction);

/** Writes beyond a command: the device refuses it and raises an event of the function. */
function refuse({ board, context }: Verbs, underlyingFunction: number): void {
  const { bar } = context.driver.device.virtualCollectBufferRegion;
  const [buffer] = context.driver.virtualCollectBuffers.all;
  board.post({ underlyingFunction, bar, offset: buffer!.offset + 320, data: new Uint8Array(8) });
  board.runUntilIdle();
  buffer!.cancel();
  board.runUntilIdle();
}

/** The same, without canceling the command. */
function refuseAndLeave({ board, context }: Verbs): void {
  const { bar } = context.driver.device.virtualCollectBufferRegion;
  const { offset } = context.driver.virtualCollectBuffers.all[0]!;
  board.post({ underlyingFunction: 1, bar, offset: offset + 320, data: new Uint8Array(8) });
  board.runUntilIdle();
}

describe('an observer', () => {
  it('gets the kicks of all functions through the control function, and through another function its own', () => {
    const [control, one, two] = makeFunctions(3) as [Verbs, Verbs, Verbs];
    const pairs = [one, two].map((verbs) => makePair(verbs));
    for (const [, to] of pairs) receive(to, 4);
    send(pairs[0]![0]); // not watched yet
    const watches = [0, 1, 2].map((number) => observe(control, number).watchKicks());
    send(pairs[0]![0]);
    send(pairs[1]![0], 2);
    const [all, ofOne, ofTwo] = watches.map((watch) => watch.take());
    expect(functionsOf(all!)).toEqual([1, 2, 2]);
    expect(all![0]).toMatchObject({
      queuePairNumber: pairs[0]![0].queuePair.number,
      opcode: Opcode.send,
      origin: KickOrigin.collected,
      sent: { status: CompletionStatus.success },
    });
    expect(all![0]!.sent!.end).toBeGreaterThan(all![0]!.kicked);
    expect(functionsOf(ofOne!)).toEqual([1]);
    expect(functionsOf(ofTwo!)).toEqual([2, 2]);
    expect(watches.map(({ lost }) => lost)).toEqual([0, 0, 0]);
    // A closed watch gets nothing more; the others do.
    watches[0]!.close();
    send(pairs[0]![0]);
    expect(watches[1]!.take()).toHaveLength(1);
    expect(() => watches[0]!.take()).toThrow(/is closed/);
  });

  it('does not disturb the kick ring of the driver', async () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from, to] = makePair(guest);
    receive(to, 3);
    const own = guest.context.kicks();
    const first = own.next();
    send(from);
    const watch = observe(control, 0).watchKicks();
    send(from);
    expect((await first).value).toMatchObject({ sent: { status: CompletionStatus.success } });
    const second = (await own.next()).value as Kick;
    expect(watch.take()).toEqual([second]);
    watch.close();
    send(from);
    expect((await own.next()).value).toMatchObject({ kickNumber: second.kickNumber + 1 });
    await own.return();
  });

  it('loses records if it reads too late, and learns how many', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const observer = observe(control, 1);
    const watch = observer.watchEvents();
    const late = observe(control, 0).watchEvents();
    for (let times = 0; times < 5; times++) refuse(guest, 1);
    expect(watch.take()).toHaveLength(5);
    const all = 3000; // the ring has room for less than half of them
    let read = 0;
    for (let times = 0; times < all; times++) {
      refuse(guest, 1);
      eventsOf(guest);
      read += watch.take().length;
    }
    expect([read, watch.lost]).toEqual([all, 0]);
    let taken = 0;
    for (let events = late.take(); events.length > 0; events = late.take()) taken += events.length;
    expect(late.lost).toBeGreaterThan(0);
    expect(taken + late.lost).toBe(all + 5);
    refuse(guest, 1);
    expect(late.take()).toMatchObject([
      { underlyingFunction: 1, type: EventType.virtualCollectBufferError, offset: 320 },
    ]);
  });

  it('gets every event, even if the event queue of the function is full', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const watch = observe(control, 0).watchEvents();
    const [from] = makePair(guest);
    from.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
    guest.board.runUntilIdle();
    for (let times = 0; times < 300; times++) refuse(guest, 1); // more than the function's queue has entries
    const types: number[] = [];
    for (let events = watch.take(); events.length > 0; events = watch.take())
      types.push(...events.map(({ type }) => type));
    expect(types.filter((type) => type === EventType.virtualCollectBufferError)).toHaveLength(300);
  });

  it('continues after a device reset', () => {
    const [control] = makeFunctions(1) as [Verbs];
    const watch = observe(control, 0).watchKicks();
    control.context[Symbol.dispose](); // disables and resets the device
    const again = makeFunctionsOn(control);
    const [from, to] = makePair(again);
    receive(to, 1);
    send(from);
    expect(watch.take()).toHaveLength(1);
  });

  it('lists all queue pairs and regions through the control function, and through another function its own', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from, to] = makePair(guest);
    receive(to, 3);
    send(from);
    const own = makePair(control);
    const regions = Array.from({ length: 70 }, () =>
      guest.protectionDomain.allocate(4096, Access.localWrite | Access.remoteRead),
    );
    const [all, ofGuest] = [observe(control, 0), observe(control, 1)] as const;
    const numbers = [from, to, ...own].map(({ queuePair }) => queuePair.number).toSorted((a, b) => a - b);
    expect(all.queuePairs().map(({ number }) => number)).toEqual(numbers);
    expect(ofGuest.queuePairs()).toHaveLength(2);
    expect(ofGuest.queuePairs().find(({ number }) => number === from.queuePair.number)).toMatchObject({
      underlyingFunction: 1,
      state: State.readyToSend,
      destinationQueuePair: to.queuePair.number,
      next: 1,
      acknowledged: 1,
      port: 1,
    });
    const receiver = ofGuest.queuePairs().find(({ number }) => number === to.queuePair.number)!;
    expect((receiver.receiveTail - receiver.receiveHead) & 0xffff).toBe(2);
    expect(ofGuest.regions()).toHaveLength(70);
    expect(ofGuest.regions().at(-1)).toMatchObject({
      key: regions.at(-1)!.localKey,
      length: 4096n,
      accessFlags: Access.localWrite | Access.remoteRead,
      inFlight: 0,
      isWindow: false,
    });
    const last = regions.pop()!;
    last.close();
    expect(ofGuest.regions().map(({ key }) => key)).toEqual(regions.map(({ localKey }) => localKey));
    from.queuePair.modify({ state: QueuePairState.error });
    expect(ofGuest.queuePairs().map(({ state }) => state)).toContain(State.error);
  });

  it('reads counters by name', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from, to] = makePair(guest);
    receive(to, 2);
    send(from, 2);
    const of = (number: number): Record<string, bigint> =>
      Object.fromEntries(
        readCounters(observe(control, number).device).map(({ name, value }) => [name, value]),
      );
    expect(of(1)).toMatchObject({ kicks: 2n, commands_sent: 2n, 'send_holds.fence': 0n });
    for (const other of ['transactions', 'clock', 'level_execution_credits'])
      expect(of(1)).not.toHaveProperty(other);
    expect(of(0)).toMatchObject({
      kicks: 0n,
      'port_packets_looped.1': 4n,
      'packets_dropped.icrc_mismatch': 0n,
    });
  });

  it('gets completions as the completion queue holds them', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from, to] = makePair(guest);
    receive(to, 3);
    send(from); // not watched yet
    const [all, own] = [observe(control, 0), observe(control, 1)].map(({ device }) =>
      device.board.watch('completions'),
    );
    const kicks = observe(control, 1).watchKicks();
    send(from, 2);
    const taken = new Uint8Array(64 * 16);
    expect(all!.take(taken)).toBe(4 * 64); // a send and a receive each
    const view = new DataView(taken.buffer);
    const sends = [0, 1, 2, 3]
      .map((index) => 64 * index)
      .filter((at) => getCompletionQueueEntryWorkQueue(view, at) === 0);
    const [, second] = kicks.take();
    expect(sends).toHaveLength(2);
    expect(getCompletionQueueEntryQueuePairNumber(view, sends[1]!)).toBe(from.queuePair.number);
    expect(getCompletionQueueEntrySequenceNumber(view, sends[1]!)).toBe(second!.sendQueueSequenceNumber);
    expect(Number(getCompletionQueueEntryTimestamp(view, sends[1]!))).toBeGreaterThan(second!.sent!.end);
    expect(own!.take(taken)).toBe(4 * 64);
    own!.close();
    receive(to, 1);
    send(from);
    expect(all!.take(taken)).toBe(2 * 64);
    expect(() => own!.take(taken)).toThrow(/is closed/);
  });

  it('reads the same values from registers in one batch as one by one', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    makePair(guest);
    const { device } = observe(control, 0);
    const page = device.controlPage!;
    const select = (number: number) => ({ offset: CONTROL_INSPECT_SELECT_OFFSET, write: number * 0x1_0000 });
    const state = { offset: CONTROL_INSPECT_VIRTUAL_COLLECT_BUFFER_OFFSET };
    refuseAndLeave(guest);
    const first = guest.context.driver.virtualCollectBuffers.all[0]!.number;
    const row = page.access([select(first), state, select(first + 1), state, { offset: 0 }]);
    const inspected = [first, first + 1].map((number) => {
      page.write32(CONTROL_INSPECT_SELECT_OFFSET, number * 0x1_0000);
      return page.read32(state.offset);
    });
    expect(row).toEqual([...inspected, page.read32(0)]);
    expect(inspected[0]).not.toBe(inspected[1]);
    expect(() => device.board.access(0, new Uint32Array(3))).toThrow(
      /accesses must be a Uint32Array of pairs/,
    );
    const { page: open } = guest.context.driver.device;
    expect(() => guest.context.driver.device.board.access(0, new Uint32Array(2))).toThrow(
      expect.objectContaining({ code: 'ENOTSUP' }),
    );
    expect(open.access([{ offset: 0 }, { offset: 8 }])).toEqual([open.read32(0), open.read32(8)]);
  });

  it('gets packets through the control function only, in a format that Wireshark reads', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const watch = observe(control, 0).watchPackets();
    expect(() => observe(control, 1).watchPackets()).toThrow(
      expect.objectContaining({
        code: 'ENOTSUP',
        message: 'packets are watched through the control function, 0, of an emulated board',
      }),
    );
    expect(new DataView(watch.head.buffer).getUint32(0, true)).toBe(0x0a0d0d0a); // section header block
    const [from, to] = makePair(guest);
    receive(to, 1);
    send(from);
    const blocks = watch.take();
    const { buffer, byteOffset, length } = blocks;
    const view = new DataView(buffer, byteOffset, length);
    let packets = 0;
    for (let at = 0; at < length; at += view.getUint32(at + 4, true)) {
      expect(view.getUint32(at, true)).toBe(6); // enhanced packet block
      packets++;
    }
    expect(packets).toBe(4); // a request and its acknowledgement, each of which goes out and comes in
  });

  it('cannot change or allocate anything', () => {
    const [control] = makeFunctions(1) as [Verbs];
    const { device } = observe(control, 0);
    expect(() => device.allocate(4096)).toThrow(/is observed, not open/);
    expect(() => device.board.map(new ArrayBuffer(4096))).toThrow(
      expect.objectContaining({ code: 'ENOTSUP' }),
    );
    const enabled = device.controlPage!.read32(0);
    device.controlPage!.write32(0, 0);
    expect([enabled, device.controlPage!.read32(0)]).toEqual([1, 1]);
    expect(() => control.context.driver.device.board.watch('kicks')).toThrow(
      expect.objectContaining({ code: 'ENOTSUP' }),
    );
    expect(() => device.board.watch('cats' as 'kicks')).toThrow(
      /kind must be one of kicks, events, packets, completions/,
    );
  });
});

/** The control function of the board again. */
function makeFunctionsOn({ board }: Verbs): Verbs {
  return openFunctions(board, [0])[0]!;
}
