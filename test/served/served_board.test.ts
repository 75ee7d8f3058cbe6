import { statSync, writeFileSync, existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { loadAddon, type BoardOptions, type EmulatedBoard } from '../../lib/board/addon.ts';
import { Context, VerbsError, openDevice } from '../../lib/index.ts';
import { backends, closing, makeBoard, newSocket } from '../helpers/backends.ts';
import { Random } from '../helpers/random.mjs';
import type { Verbs } from '../helpers/make_verbs.ts';
import { playBothWays } from '../helpers/random_connections.ts';
import { connectPair, exchange, open, serve, untilOpen } from './serving.ts';

const shared = backends[0]!;

function errorOf(device: string): VerbsError {
  try {
    openDevice(device).close();
  } catch (error) {
    if (error instanceof VerbsError) return error;
    throw error;
  }
  throw new Error('a VerbsError was expected');
}

describe('a served board', () => {
  it('is opened by device string, one function for each client', async () => {
    const serving = serve();
    const { path } = serving;
    const contexts = [open(`serve:${path}/1`), open(`serve:${path}/3`)] as const;
    expect(contexts.map((context) => context.queryDevice().underlyingFunction)).toEqual([1, 3]);
    expect(contexts[0].queryDevice().board).toMatchObject({
      backend: 'serve',
      progress: 'own',
      interruptVectors: 8,
    });
    await exchange(connectPair(...contexts), 7);
    for (const context of contexts.toReversed()) context[Symbol.dispose]();
    await untilOpen(serving, []);
    expect(
      serving.served.takeNotices().map(({ kind, underlyingFunction }) => [kind, underlyingFunction]),
    ).toEqual([
      ['opened', 1],
      ['opened', 3],
      ['closed', 3],
      ['closed', 1],
    ]);
  });

  it.each([1, 2])('carries every operation between two clients in both directions: seed %i', async (seed) => {
    const { path, board } = serve();
    const sides = [1, 2].map((number): Verbs => {
      const context = open(`serve:${path}/${number}`);
      const protectionDomain = context.createProtectionDomain();
      return {
        board,
        context,
        protectionDomain,
        completionQueue: context.createCompletionQueue({ entries: 256 }),
      };
    }) as [Verbs, Verbs];
    await playBothWays(new Random(seed), 100, sides);
  });

  it('gives out any free function, until none is left', () => {
    const { path } = serve({ underlyingFunctions: 3 });
    const functions = [1, 2].map(() => open(`serve:${path}`).queryDevice().underlyingFunction);
    expect(functions).toEqual([1, 2]);
    expect(errorOf(`serve:${path}`)).toMatchObject({
      code: 'EBUSY',
      message: `board at ${path}: every underlying function is open; end a process that has one of 1 to 2`,
    });
  });

  it('gives a function to one client at a time, and again after that client has closed it', async () => {
    const serving = serve();
    const { path } = serving;
    const first = open(`serve:${path}/2`);
    expect(errorOf(`serve:${path}/2`)).toMatchObject({
      code: 'EBUSY',
      message: `board at ${path}: underlying function 2 is open in process ${process.pid}; open another one of 1 to 7`,
    });
    first.close();
    await untilOpen(serving, []);
    open(`serve:${path}/2`);
  });

  it.each([0, 8])('refuses to open function %i', (underlyingFunction) => {
    const { path } = serve();
    expect(errorOf(`serve:${path}/${underlyingFunction}`)).toMatchObject({ code: 'EINVAL' });
  });

  it('reports a path where no process serves a board', () => {
    const path = newSocket();
    expect(errorOf(`serve:${path}/1`)).toMatchObject({
      code: 'ENODEV',
      message: `board at ${path}: no server serves a board there; start: hca serve ${path}`,
    });
    expect(errorOf(`serve:/${'x'.repeat(120)}/1`).message).toContain('1 to 107 characters');
  });

  it('refuses memory of the process, and says what it accepts', () => {
    const { path } = serve();
    const domain = open(`serve:${path}/1`).createProtectionDomain();
    expect(() => domain.registerMemory(new Uint8Array(8192))).toThrow(
      expect.objectContaining({ code: 'ENOTSUP', expected: 'memory of allocate()' }),
    );
  });

  it('limits the memory of each client', () => {
    const board = makeBoard(shared);
    closing(openDevice(board.open(0)));
    const path = newSocket();
    closing(board.serve({ path, memoryPerClient: 2 ** 20 }));
    const [one, other] = [1, 2].map((number) => closing(loadAddon().openServed(path, number))) as [
      ReturnType<EmulatedBoard['open']>,
      ReturnType<EmulatedBoard['open']>,
    ];
    const half = one.allocateMemory(2 ** 19);
    expect(() => one.allocateMemory(2 ** 19 + 1)).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
    other.allocateMemory(2 ** 20);
    half.free();
    expect(one.allocateMemory(2 ** 20).buffer.byteLength).toBe(2 ** 20);
  });

  it('has a socket that only its user can open, and refuses an existing path', () => {
    const { path, board, served } = serve();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(() => board.serve({ path })).toThrow(`${path}: the path already exists; end the server`);
    served.close();
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, '');
    expect(() => board.serve({ path })).toThrow('the path already exists');
  });

  it.each<[BoardOptions, string]>([
    [{ progress: 'stepped' }, 'a board with progress stepped cannot be served'],
    [{ underlyingFunctions: 1 }, 'the board has 1 underlying functions: none is left for clients'],
  ])('with options %j is refused', (options, message) => {
    const board = makeBoard(shared, options);
    expect(() => board.serve({ path: newSocket() })).toThrow(message);
  });

  it('can be opened by other threads too', () => {
    const { path } = serve();
    const context = open(`serve:${path}/1`);
    const other = closing(Context.from(context.share()));
    expect(other.queryDevice().underlyingFunction).toBe(2);
  });
});
