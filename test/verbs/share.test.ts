import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';

import { Connection, type QueuePairAddress } from '../../lib/connect/index.ts';
import { Context, openDevice, type ContextToken } from '../../lib/index.ts';
import { closing } from '../helpers/backends.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

const program = fileURLToPath(new URL('context_worker.mjs', import.meta.url));

function start(token: ContextToken, way: string): Worker {
  return new Worker(program, { workerData: { token, way } });
}

async function messageOf<Message>(worker: Worker): Promise<Message> {
  const [message] = (await once(worker, 'message')) as [Message];
  return message;
}

const small = 'queuePairs=64&pageTableEntries=4096';

describe.each(['shared', 'own'])('a context that is shared with workers, progress %s', (progress) => {
  const open = (options = ''): Context => openDevice(`emu:?progress=${progress}&${small}${options}`);

  it('opens for each of them a function of the same board, whose queue pairs can be connected', async () => {
    const context = closing(open());
    const token = context.share();
    const workers = Array.from({ length: 3 }, () => start(token, 'echoes'));
    const peers = await Promise.all(workers.map((worker) => messageOf<QueuePairAddress>(worker)));
    const functions = await Promise.all(
      workers.map(async (worker, index) => {
        const connection = new Connection(context);
        connection.connect(peers[index]!);
        worker.postMessage(connection.address);
        const underlyingFunction = await messageOf<number>(worker);
        const memory = connection.allocate(64);
        for (let value = 1; value <= 20; value++) {
          const received = connection.receive(memory.slice());
          await connection.send(new Uint8Array(8).fill(value + index));
          expect((await received).byteLength).toBe(8);
          expect(memory.bytes[7]).toBe(value + index);
        }
        const ended = once(worker, 'exit');
        await connection.send(new Uint8Array());
        expect(await ended).toEqual([0]);
        connection.close();
        return underlyingFunction;
      }),
    );
    expect(new Set(functions)).toEqual(new Set([1, 2, 3]));
  });

  it.each(['waits', 'posts'])('is unchanged after a worker that %s is terminated', async (way) => {
    const context = closing(open('&underlyingFunctions=2'));
    for (let times = 0; times < 3; times++) {
      // The only function besides the context's is free again each time; otherwise the next worker would
      // fail.
      const worker = start(context.share(), way);
      expect(await messageOf(worker)).toBe('ready');
      await worker.terminate();
    }
    Context.from(context.share()).close();
    const [a, b] = [new Connection(context), new Connection(context)];
    a.connect(b.address);
    b.connect(a.address);
    const memory = b.allocate(8);
    await a.write(new Uint8Array(8).fill(3), memory.remote());
    expect(memory.bytes[0]).toBe(3);
    a.close();
    b.close();
  });
});

describe('a token', () => {
  it('opens no more contexts than the board has functions, and reopens closed ones', () => {
    const context = closing(openDevice(`emu:?underlyingFunctions=3&${small}`));
    const token = structuredClone(context.share());
    const [first, second] = [Context.from(token), Context.from(token)];
    expect([first, second].map((each) => each.queryDevice().underlyingFunction)).toEqual([1, 2]);
    expect(() => Context.from(token)).toThrow(
      expect.objectContaining({ code: 'EBUSY', message: 'every underlying function of the board is open' }),
    );
    first.close();
    const again = Context.from(second.share());
    expect(again.queryDevice().underlyingFunction).toBe(1);
    again.close();
    second.close();
  });

  it('of a closed context opens nothing', () => {
    const context = openDevice(`emu:?${small}`);
    const token = context.share();
    context.close();
    expect(() => Context.from(token)).toThrow(expect.objectContaining({ code: 'ENODEV' }));
    expect(() => context.share()).toThrow(expect.objectContaining({ code: 'EBADF' }));
  });

  it('is validated, and comes from a context of a device string', () => {
    for (const wrong of [undefined, null, 'emu:', {}, { device: 5 }]) {
      expect(() => Context.from(wrong as unknown as ContextToken)).toThrow(TypeError);
    }
    expect(() => makeVerbs().context.share()).toThrow(
      expect.objectContaining({ code: 'ENOTSUP', expected: 'a context that was opened by a device string' }),
    );
  });
});
