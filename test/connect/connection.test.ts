import { getEventListeners } from 'node:events';

import { afterEach, describe, expect, it, vi } from 'vitest';

import { EmulatedFabric } from '../../lib/board/index.ts';
import { Connection, type ConnectionOptions, type QueuePairAddress } from '../../lib/connect/index.ts';
import { CompletionStatus, openDevice } from '../../lib/index.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

/** Two connected ends, on two boards of a fabric; their addresses are passed as JSON. */
function makePair(options: ConnectionOptions = {}): [Connection, Connection] {
  const fabric = new EmulatedFabric();
  closers.push(() => fabric.close());
  const make = (): Connection => {
    const context = openDevice(fabric.makeBoard({ queuePairs: 64, pageTableEntries: 4096 }).open(0));
    closers.push(() => context[Symbol.dispose]());
    const connection = new Connection(context, options);
    closers.push(() => connection.close());
    return connection;
  };
  const [a, b] = [make(), make()];
  const told = (address: QueuePairAddress): QueuePairAddress =>
    JSON.parse(JSON.stringify(address)) as QueuePairAddress;
  a.connect(told(b.address));
  b.connect(told(a.address));
  return [a, b];
}

describe('a connection', () => {
  it('sends and receives, with immediate data and without, in either order', async () => {
    const [a, b] = makePair();
    const source = a.allocate(10_000);
    source.bytes.forEach((_, at) => (source.bytes[at] = at * 7));
    const target = b.allocate(10_000);
    const received = b.receive(target.slice());
    await a.send(source.slice());
    expect(await received).toEqual({ byteLength: 10_000 });
    expect(target.bytes).toEqual(source.bytes);
    const sent = a.send(Uint8Array.of(1, 2, 3), { immediateData: 0x1234_5678 });
    expect(await b.receive(target.slice())).toEqual({ byteLength: 3, immediateData: 0x1234_5678 });
    await sent;
    expect([...target.bytes.subarray(0, 3)]).toEqual([1, 2, 3]);
  });

  it('writes, reads, and changes memory of the peer atomically', async () => {
    const [a, b] = makePair();
    const here = a.allocate(4096);
    const there = b.allocate(4096);
    here.bytes.fill(9);
    await a.write(here.slice(), there.remote());
    expect(there.bytes).toEqual(here.bytes);
    there.bytes.fill(4);
    await a.read(here.slice(100, 200), there.remote().slice(8));
    expect([...here.bytes.subarray(98, 102)]).toEqual([9, 9, 4, 4]);
    const number = new BigUint64Array(there.bytes.buffer, there.bytes.byteOffset, 1);
    number[0] = 5n;
    expect(await a.fetchAndAdd(there.remote(), 3n)).toBe(5n);
    expect(await a.compareAndSwap(there.remote(), 8n, 2n ** 63n)).toBe(8n);
    expect(await a.compareAndSwap(there.remote(), 8n, 1n)).toBe(2n ** 63n);
    expect(number[0]).toBe(2n ** 63n);
  });

  it('distinguishes the answers of as many atomics as the queue holds', async () => {
    const [a, b] = makePair();
    const counter = b.allocate(8).remote();
    const added = (): Promise<bigint>[] => Array.from({ length: 128 }, () => a.fetchAndAdd(counter, 1n));
    const expected = (from: number): bigint[] => Array.from({ length: 128 }, (_, at) => BigInt(from + at));
    expect(await Promise.all(added())).toEqual(expected(0));
    expect(await Promise.all(added())).toEqual(expected(128));
  });

  it('sends 256 B that are not registered', async () => {
    const [a, b] = makePair();
    const target = b.allocate(256);
    const received = b.receive(target.slice());
    const sent = Uint8Array.from({ length: 256 }, (_, at) => at);
    await a.send(sent);
    await received;
    expect(target.bytes).toEqual(sent);
    await expect(a.send(new Uint8Array(257))).rejects.toThrow(
      'inlineData.length must be at most 256 B (maxInlineData), got 257',
    );
  });

  it('reports an error by its status, and ends all waits when it is closed', async () => {
    const [a, b] = makePair();
    const there = b.allocate(64);
    const waiting = b.receive(there.slice());
    await expect(
      a.write(new Uint8Array(8), { key: 0x5555, addressLow: 0, addressHigh: 0 }),
    ).rejects.toMatchObject({
      status: CompletionStatus.remoteAccessError,
    });
    await expect(waiting).rejects.toMatchObject({ status: CompletionStatus.workRequestFlushedError });
    const [c] = makePair();
    const never = c.receive(c.allocate(8).slice());
    c.close();
    await expect(never).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('loses no message to an abort or a time limit', async () => {
    const [a, b] = makePair();
    const target = b.allocate(64);
    await expect(b.receive(target.slice(0, 8), { timeout: 5 })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    const stop = new AbortController();
    const aborted = b.receive(target.slice(8, 8), { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    const third = b.receive(target.slice(16, 8));
    for (const value of [1, 2, 3]) await a.send(new Uint8Array(8).fill(value));
    expect(await third).toEqual({ byteLength: 8 });
    expect([0, 8, 16].map((at) => target.bytes[at])).toEqual([1, 2, 3]);
  });

  it('leaves no listener at a signal after the operation', async () => {
    const [a, b] = makePair();
    const { signal } = new AbortController();
    const memory = b.allocate(8).remote();
    await a.write(new Uint8Array(8), memory, { signal, timeout: Infinity });
    await a.read(a.allocate(8).slice(), memory, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('sleeps no longer than a caller waits, and receives abandoned messages later', async () => {
    const [a, b] = makePair();
    const target = b.allocate(16);
    const sleep = vi.spyOn(b.completionQueue, 'wait');
    await expect(b.receive(target.slice(0, 8), { timeout: 5 })).rejects.toThrow('not done within 5 ms');
    await Promise.allSettled(sleep.mock.results.map(({ value }) => value as Promise<void>));
    await a.send(new Uint8Array(8).fill(1));
    const second = b.receive(target.slice(8, 8));
    await a.send(new Uint8Array(8).fill(2));
    await second;
    expect([target.bytes[0], target.bytes[8]]).toEqual([1, 2]);
  });

  it.each([
    [{ gid: 'fe80' }, 'gid must be 32 hexadecimal digits, got "fe80"'],
    [
      { mac: undefined, gid: '0'.repeat(32) },
      `mac must be given: the GID ${'0'.repeat(32)} has no MAC address`,
    ],
  ])('refuses an invalid address: %j', (wrong, message) => {
    const [a, b] = makePair();
    expect(() => a.connect({ ...b.address, ...wrong } as QueuePairAddress)).toThrow(message);
  });
});
