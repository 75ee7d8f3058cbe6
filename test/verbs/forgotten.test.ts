import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';

import { Completion, Opcode, openDevice, type CompletionQueue, type Context } from '../../lib/index.ts';
import { describeInProcess, makeBoard, settle } from '../helpers/backends.ts';
import { makeFailedQueuePair, stepped } from '../helpers/make_verbs.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Collects garbage until `done`; the event loop runs finalizers in between. */
async function collectUntil(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !done(); turn++) {
    await new Promise(setImmediate); // objects that done() has accessed are kept until the end of this turn
    collectGarbage();
  }
  expect(done()).toBe(true);
}

const descriptors = (): number => readdirSync('/proc/self/fd').length;

describeInProcess('what is forgotten', (backend) => {
  it('is released as a whole device, with its function, memory and interrupts', async () => {
    const board = makeBoard(backend);
    const before = descriptors();
    const memories: WeakRef<ArrayBuffer>[] = [];
    const forget = (): WeakRef<Context> => {
      const context = openDevice(board.open(0));
      const protectionDomain = context.createProtectionDomain();
      const completionQueue = context.createCompletionQueue();
      memories.push(new WeakRef(protectionDomain.allocate(100_000).bytes.buffer as ArrayBuffer));
      const queuePair = makeFailedQueuePair({ board, context, protectionDomain, completionQueue });
      queuePair.postSend({ opcode: Opcode.send });
      return new WeakRef(context);
    };
    for (let times = 0; times < 5; times++) {
      const forgotten = forget();
      await collectUntil(() => forgotten.deref() === undefined);
      await collectUntil(() => descriptors() <= before);
      await collectUntil(() => memories.every((memory) => memory.deref() === undefined));
    }
    openDevice(board.open(0)).close(); // EBUSY if a driver still existed
    expect(board.takeDmaFaults().filter(({ reason }) => reason !== 'not_mapped')).toEqual([]);
  });

  it('without its device stays until the device closes, because the peer may use it', async () => {
    const board = makeBoard(backend);
    const context = openDevice(board.open(0));
    const forget = (): { completionQueue: CompletionQueue; number: number; memory: WeakRef<ArrayBuffer> } => {
      const protectionDomain = context.createProtectionDomain();
      const completionQueue = context.createCompletionQueue();
      const queuePair = makeFailedQueuePair({ board, context, protectionDomain, completionQueue });
      const memory = protectionDomain.allocate(64).bytes.buffer as ArrayBuffer;
      queuePair.postSend({ opcode: Opcode.send, wrId: 77 });
      return { completionQueue, number: queuePair.number, memory: new WeakRef(memory) };
    };
    const { completionQueue, number, memory } = forget();
    for (let turn = 0; turn < 5; turn++) {
      collectGarbage();
      await new Promise(setImmediate);
    }
    const completion = new Completion();
    settle(board, backend, () => completionQueue.poll([completion]) === 1);
    expect(completion).toMatchObject({ wrId: 77, queuePairNumber: number });
    expect(memory.deref()).toBeDefined();
    expect(() => context.close()).toThrow(/is in use by protection domain/);
    context[Symbol.dispose]();
  });

  it("of the caller's memory is held until the device is closed or collected too", async () => {
    const board = makeBoard(backend);
    const register = (context: Context): WeakRef<ArrayBuffer> => {
      const memory = new ArrayBuffer(100_000);
      context.createProtectionDomain().registerMemory(memory);
      return new WeakRef(memory);
    };
    const context = openDevice(board.open(0));
    const held = register(context);
    for (let turn = 0; turn < 5; turn++) {
      collectGarbage();
      await new Promise(setImmediate);
    }
    expect(held.deref()).toBeDefined();
    context[Symbol.dispose]();
    await collectUntil(() => held.deref() === undefined);
    const forgotten = (() => register(openDevice(board.open(0))))();
    await collectUntil(() => forgotten.deref() === undefined);
  });

  it('stays while a caller waits', async () => {
    const board = makeBoard(backend);
    const wait = (() => {
      const context = openDevice(board.open(0));
      const protectionDomain = context.createProtectionDomain();
      const completionQueue = context.createCompletionQueue();
      const queuePair = makeFailedQueuePair({ board, context, protectionDomain, completionQueue });
      const waited = completionQueue.wait();
      setTimeout(() => {
        queuePair.postSend({ opcode: Opcode.send });
        if (backend === stepped) board.runUntilIdle();
      }, 1);
      return waited;
    })();
    for (let turn = 0; turn < 5; turn++) {
      collectGarbage();
      await new Promise(setImmediate);
    }
    await wait;
  });
});
