import { afterEach, describe, expect, it, vi } from 'vitest';

import { EmulatedFabric } from '../../lib/board/index.ts';
import { Connection, type ConnectionOptions } from '../../lib/connect/index.ts';
import { CompletionStatus, openDevice } from '../../lib/index.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

function makePair(options: ConnectionOptions): [Connection, Connection] {
  const fabric = new EmulatedFabric();
  closers.push(() => fabric.close());
  const make = (): Connection => {
    const context = openDevice(fabric.makeBoard({ queuePairs: 64, pageTableEntries: 4096 }).open(0));
    closers.push(() => context[Symbol.dispose]());
    return new Connection(context, options);
  };
  const [a, b] = [make(), make()];
  a.connect(b.address);
  b.connect(a.address);
  return [a, b];
}

const few = { capabilities: { maxSendWorkRequests: 4, maxReceiveWorkRequests: 4 } };

describe('operations of a connection beyond the size of its queues', () => {
  it.each([few, { capabilities: { maxSendWorkRequests: 5, maxReceiveWorkRequests: 3 } }, {}])(
    'wait for their turn, and keep their order: %j',
    async (options) => {
      const [a, b] = makePair(options);
      const target = b.allocate(8 * 1000);
      const received = Array.from({ length: 1000 }, (_, at) => b.receive(target.slice(8 * at, 8)));
      const bytes = new Uint8Array(8);
      const view = new DataView(bytes.buffer);
      const sent = Array.from({ length: 1000 }, (_, at) => {
        view.setUint32(0, at); // the same bytes for all, because a call copies them
        return a.send(bytes, { immediateData: at });
      });
      await Promise.all(sent);
      expect((await Promise.all(received)).map(({ immediateData }) => immediateData)).toEqual(
        Array.from({ length: 1000 }, (_, at) => at),
      );
      const there = new DataView(target.bytes.buffer, target.bytes.byteOffset);
      expect(Array.from({ length: 1000 }, (_, at) => there.getUint32(8 * at))).toEqual(
        Array.from({ length: 1000 }, (_, at) => at),
      );
    },
  );

  it('return to each atomic its own answer', async () => {
    const [a, b] = makePair(few);
    const counter = b.allocate(8).remote();
    const added = await Promise.all(Array.from({ length: 300 }, () => a.fetchAndAdd(counter, 1n)));
    expect(added).toEqual(Array.from({ length: 300 }, (_, at) => BigInt(at)));
  });

  it('are not posted if they are aborted before', async () => {
    const [a, b] = makePair(few);
    const target = b.allocate(64);
    const first = Array.from({ length: 4 }, (_, at) => b.receive(target.slice(at, 1)));
    const stop = new AbortController();
    const postReceive = vi.spyOn(b.queuePair, 'postReceive');
    const aborted = b.receive(target.slice(8, 1), { signal: stop.signal });
    const late = b.receive(target.slice(9, 1), { timeout: 1 });
    const last = b.receive(target.slice(10, 1));
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(postReceive).not.toHaveBeenCalled();
    for (let value = 1; value <= 5; value++) await a.send(Uint8Array.of(value));
    await Promise.all([...first, last]);
    expect([...target.bytes.subarray(0, 11)]).toEqual([1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 5]);
  });

  it('are rejected with their own errors, and the next one is posted', async () => {
    const [a, b] = makePair(few);
    const there = b.allocate(8);
    const good = (): Promise<void> => a.write(new Uint8Array(8).fill(7), there.remote());
    const operations = [good(), good(), good(), good(), a.send(new Uint8Array(257)), good()];
    const outcomes = await Promise.allSettled(operations);
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 4 }, () => 'fulfilled'),
      'rejected',
      'fulfilled',
    ]);
    expect(outcomes[4]).toMatchObject({ reason: { code: 'EINVAL', attribute: 'inlineData.length' } });
    await good();
  });

  it('end with the connection', async () => {
    const [a] = makePair(few);
    const nowhere = { key: 0x5555, addressLow: 0, addressHigh: 0 };
    const failed = await Promise.allSettled(
      Array.from({ length: 10 }, () => a.write(new Uint8Array(8), nowhere)),
    );
    expect(failed.map((each) => (each as { reason: { status: number } }).reason.status)).toEqual([
      CompletionStatus.remoteAccessError,
      ...Array.from({ length: 9 }, () => CompletionStatus.workRequestFlushedError),
    ]);
    const [c] = makePair(few);
    const memory = c.allocate(8).slice();
    const never = Array.from({ length: 10 }, () => c.receive(memory));
    c.close();
    c.close();
    for (const each of await Promise.allSettled(never)) {
      expect(each).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
    }
    await expect(c.receive(memory)).rejects.toMatchObject({ code: 'EBADF' });
  });
});

it('a failed connect leaves no object behind', () => {
  const { context, protectionDomain, completionQueue } = makeVerbs();
  expect(() => new Connection(context, { capabilities: { maxGatherEntries: 99 } })).toThrow(
    'maxGatherEntries must be 0 to 16, got 99',
  );
  expect(() => new Connection(context, { port: 9 })).toThrow(/port/);
  protectionDomain.close();
  completionQueue.close();
  context.close(); // throws EBUSY if an object were left
});
