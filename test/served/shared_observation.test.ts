// A process that has a function open shares its observation: of the emulated board, or through a device on
// PCIe. Both run on emulated boards here; the observers connect through a socket, as other processes do.
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import type { ServedBoard } from '../../lib/board/serving.ts';
import { readCounters } from '../../lib/driver/counters.ts';
import { DeviceFunction } from '../../lib/driver/device_function.ts';
import { Observer } from '../../lib/driver/observer.ts';
import { readOccupancy } from '../../lib/driver/occupancy.ts';
import { whyStalled } from '../../lib/driver/why.ts';
import { EventType, Opcode, openDevice, type Context } from '../../lib/index.ts';
import { CONTROL_CONTROL_OFFSET, RegionType } from '../../lib/spec/index.ts';
import type { Connection } from '../../lib/connect/index.ts';
import { backends, closing, makeBoard, newSocket } from '../helpers/backends.ts';
import { connectPair, exchange } from './serving.ts';

const until = async <Value>(look: () => Value | undefined): Promise<Value> => {
  const givenUp = performance.now() + 30_000;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > givenUp) throw new Error('what the test waits for does not happen');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** Reads until there are as many as expected. */
const taken = async <Value>(take: () => readonly Value[], count: number): Promise<Value[]> => {
  const all: Value[] = [];
  return until(() => {
    all.push(...take());
    return all.length >= count ? all : undefined;
  });
};

describe.each([
  ['by the emulated board', false],
  ['through the device', true],
] as const)('shared observation %s', (_, throughDevice) => {
  let contexts: Context[];
  let path: string;
  let shared: ServedBoard;
  let pairs: [Connection, Connection][];

  const observe = (underlyingFunction?: number): Observer =>
    closing(new Observer(loadAddon().openServed(path, underlyingFunction, true)));

  function share(underlyingFunction: number): void {
    path = newSocket();
    shared = contexts[underlyingFunction]!.driver.shareObservation(path, throughDevice);
  }

  beforeEach(() => {
    const board = makeBoard(backends[0]!);
    contexts = [0, 1, 2].map((number) => openDevice(board.open(number)));
    pairs = contexts.slice(1).map((context) => connectPair(context, context));
    share(0);
  });
  afterEach(() => {
    for (const context of [...contexts].reverse()) context[Symbol.dispose]();
  });

  it('has queue pairs and regions of all functions; an observer of one function gets its own', async () => {
    const memory = contexts[1]!.createProtectionDomain().allocate(5000);
    const [all, ofOne] = [observe(), observe(1)];
    expect(all.device.underlyingFunction).toBe(0);
    const numbers = pairs.flat().map(({ queuePair }) => queuePair.number);
    const found = all.queuePairs();
    expect(new Set(found.map(({ number }) => number))).toEqual(new Set(numbers));
    expect(found).toHaveLength(numbers.length);
    const first = found.find(({ number }) => number === numbers[0])!;
    expect(first).toMatchObject({
      underlyingFunction: 1,
      destinationQueuePair: pairs[0]![1].queuePair.number,
      port: 1,
    });
    expect(ofOne.queuePairs().map(({ underlyingFunction }) => underlyingFunction)).toEqual([1, 1]);
    const region = all.regions().find(({ key }) => key === memory.localKey);
    expect(region).toMatchObject({ underlyingFunction: 1, isWindow: false, quiesced: false });
    expect(Number(region!.length)).toBe(memory.bytes.length);
    expect(ofOne.regions().some(({ key }) => key === memory.localKey)).toBe(true);
    expect(
      observe(2)
        .regions()
        .some(({ key }) => key === memory.localKey),
    ).toBe(false);
    // Posted work requests are visible.
    const { next } = first;
    await exchange(pairs[0]!, 3);
    expect(all.queuePairs().find(({ number }) => number === numbers[0])!.next).toBe(next + 1);
  });

  it('has kicks of all functions, separately for each watch, and none without a watch', async () => {
    const [all, ofTwo] = [observe().watchKicks(), observe(2).watchKicks()];
    await exchange(pairs[0]!, 1);
    await exchange(pairs[1]!, 2);
    const kicks = await taken(() => all.take(), 2);
    expect(kicks.map(({ underlyingFunction, opcode }) => [underlyingFunction, opcode])).toEqual([
      [1, Opcode.send],
      [2, Opcode.send],
    ]);
    expect(await taken(() => ofTwo.take(), 1)).toEqual([kicks[1]]);
    expect([all.lost, ofTwo.lost]).toEqual([0, 0]);
    all.close();
    ofTwo.close();
    const counters = observe();
    counters.queuePairs(); // the server has handled the earlier messages
    const written = (): bigint =>
      [0, 1, 2].reduce((sum, number) => sum + counterOf(observe(number).device, 'kick_records_written'), 0n);
    const before = written();
    await exchange(pairs[0]!, 4);
    expect(written()).toBe(before);
    const again = observe().watchKicks();
    await exchange(pairs[1]!, 5);
    expect(await taken(() => again.take(), 1)).toMatchObject([{ underlyingFunction: 2 }]);
  });

  it('has events of all functions', async () => {
    const dropped = (): bigint[] =>
      [0, 1, 2].map((number) => counterOf(observe(number).device, 'events_dropped'));
    const droppedBefore = dropped();
    const [all, ofOne, ofTwo] = [observe(), observe(1), observe(2)].map((each) => each.watchEvents());
    contexts[0]!.disableDevice();
    contexts[0]!.enableDevice();
    const events = await taken(() => all!.take(), 6);
    for (const number of [0, 1, 2])
      expect(
        events
          .filter(({ underlyingFunction }) => underlyingFunction === number)
          .map(({ type }) => type)
          .slice(0, 2),
      ).toEqual([EventType.portError, EventType.portActive]);
    const own = await taken(() => ofOne!.take(), 2);
    expect(new Set(own.map(({ underlyingFunction }) => underlyingFunction))).toEqual(new Set([1]));
    ofTwo!.close();
    expect(all!.lost).toBe(0);
    // The functions' own queues also got them, and nothing was dropped.
    for (const context of contexts.slice(1)) expect(context.pollEvent()).toBeDefined();
    expect(dropped()).toEqual(droppedBefore);
  });

  it('fills no queue of the driver, however often it is read', () => {
    const observer = observe();
    const before = counterOf(contexts[0]!.driver.device, 'events_dropped');
    // More than the driver's event queue holds.
    for (let times = 0; times < 300; times++) observer.regions();
    expect(counterOf(contexts[0]!.driver.device, 'events_dropped')).toBe(before);
    contexts[0]!.disableDevice();
    contexts[0]!.enableDevice();
    expect(contexts[0]!.pollEvent()).toMatchObject({ type: EventType.portError, lost: 0 });
  });

  it('has the registers of all functions, with the values that their processes read', async () => {
    await exchange(pairs[0]!, 6);
    for (const [number, context] of contexts.entries()) {
      const seen = readCounters(observe(number).device).filter(
        ({ name }) => !name.startsWith('reads_refused'),
      );
      const own = readCounters(context.driver.device).filter(({ name }) => !name.startsWith('reads_refused'));
      const of = (all: typeof own, name: string): bigint | undefined =>
        all.find((counter) => counter.name === name)?.value;
      for (const name of ['kicks', 'commands_sent', 'commands_failed'])
        expect(of(seen, name), `${name} of ${number}`).toBe(of(own, name));
      expect(seen.map(({ name }) => name)).toEqual(own.map(({ name }) => name));
    }
    expect(readOccupancy(observe().device).map(({ underlyingFunction }) => underlyingFunction)).toContain(2);
    const [one] = pairs[0]!;
    for (const [observer, sees] of [
      [0, true],
      [1, true],
      [2, false],
    ] as const)
      expect(whyStalled(observe(observer).device, one.queuePair.number) !== undefined).toBe(sees);
  });

  it('changes nothing: an observer that writes is disconnected, and no function can be opened', async () => {
    const { device } = observe(0);
    device.regions.page(RegionType.control, 0).write32(CONTROL_CONTROL_OFFSET, 3);
    expect(device.board.read32(0, 0)).toBe(0xffff_ffff);
    expect(shared.takeNotices()).toMatchObject([{ kind: 'refused', reason: 'a write by an observer' }]);
    for (const number of [undefined, 0, 3])
      expect(() => loadAddon().openServed(path, number)).toThrow(/cannot be opened there.*others observe/);
    expect(() => loadAddon().openServed(path, 8, true)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    await exchange(pairs[0]!, 7);
    expect(loadAddon().lookAtServed([path], 5000)[0]).toMatchObject({ state: 'serving', firstFunction: 8 });
  });

  it('of a function other than 0 covers only that function', async () => {
    share(2);
    const own = observe();
    expect(own.device.underlyingFunction).toBe(2);
    expect(own.device.controlPage).toBeUndefined();
    expect(own.queuePairs().map(({ underlyingFunction }) => underlyingFunction)).toEqual([2, 2]);
    expect(whyStalled(own.device, pairs[1]![0].queuePair.number)).toBeDefined();
    expect(whyStalled(own.device, pairs[0]![0].queuePair.number)).toBeUndefined();
    expect(() => observe(0)).toThrow(/function 0 cannot be observed there/);
    const [kicks, events] = [own.watchKicks(), own.watchEvents()];
    await exchange(pairs[0]!, 1);
    await exchange(pairs[1]!, 2);
    expect(await taken(() => kicks.take(), 1)).toMatchObject([{ underlyingFunction: 2 }]);
    contexts[0]!.disableDevice();
    const seen = await taken(() => events.take(), 1);
    expect(new Set(seen.map(({ underlyingFunction }) => underlyingFunction))).toEqual(new Set([2]));
    contexts[0]!.enableDevice();
  });

  it('ends with its process, and can be shared again', async () => {
    const observer = observe();
    expect(() => contexts[0]!.driver.shareObservation(newSocket(), throughDevice)).toThrow(
      expect.objectContaining({ code: 'EBUSY' }),
    );
    shared.close();
    shared.close();
    expect(existsSync(path)).toBe(false);
    expect(() => loadAddon().openServed(path, 0, true)).toThrow(expect.objectContaining({ code: 'ENODEV' }));
    expect(await until(() => observer.device.loss.reason)).toMatchObject({ code: 'ENODEV' });
    await exchange(pairs[0]!, 8);
    // The driver continues to use its management queue.
    contexts[0]!.createProtectionDomain().allocate(100);
    share(0);
    expect(observe().queuePairs()).toHaveLength(4);
    contexts[0]![Symbol.dispose]();
    expect(existsSync(path)).toBe(false);
  });
});

function counterOf(device: DeviceFunction, name: string): bigint {
  return readCounters(device).find((counter) => counter.name === name)!.value;
}

describe('observation shared through the device', () => {
  it('has the kick records, which this process does not get until sharing ends', () => {
    const board = makeBoard(backends[0]!);
    const control = closing(openDevice(board.open(0)));
    const shared = control.driver.shareObservation(newSocket(), true);
    expect(() => control.observeKicks()).toThrow(expect.objectContaining({ code: 'EBUSY' }));
    shared.close();
    control.observeKicks();
    expect(() => control.driver.shareObservation(newSocket(), true)).toThrow(
      /reads the kick records of the function itself/,
    );
    control.ignoreKicks();
    control.driver.shareObservation(newSocket(), true).close();
  });

  it('has no packets and no completions, and reports why', () => {
    const board = makeBoard(backends[0]!);
    const control = closing(openDevice(board.open(0)));
    const path = newSocket();
    control.driver.shareObservation(path, true);
    const observed = closing(new Observer(loadAddon().openServed(path, undefined, true)));
    expect(() => observed.watchPackets()).toThrow(/of an emulated board/);
    expect(() => observed.device.board.watch('completions')).toThrow(/not through a device/);
  });

  it('is bounded: an observer that does not read loses the oldest records, and learns how many', async () => {
    const board = makeBoard(backends[0]!);
    const [control, guest] = [0, 1].map((number) => openDevice(board.open(number))) as [Context, Context];
    closing({ close: () => [guest, control].forEach((context) => context[Symbol.dispose]()) });
    const path = newSocket();
    control.driver.shareObservation(path, true);
    const watch = closing(new Observer(loadAddon().openServed(path, undefined, true))).watchEvents();
    // More than an event queue holds, and than a ring of events.
    const rounds = 900;
    for (let round = 0; round < rounds; round++) {
      control.disableDevice();
      control.enableDevice();
    }
    let read = 0;
    await until(() => {
      read += watch.take().length;
      return read + watch.lost >= 4 * rounds ? true : undefined;
    });
    expect(watch.lost).toBeGreaterThan(0);
    expect(guest.createProtectionDomain()).toBeDefined();
  });
});
