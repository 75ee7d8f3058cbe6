// `hca share` runs in a separate process; if the device is a named board, the board belongs to this test.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

import { shareWithin } from '../../lib/cli/observe/own_function.ts';
import { Scope } from '../../lib/cli/scope.ts';
import { openBeside } from '../../lib/board/index.ts';
import { Observer } from '../../lib/driver/observer.ts';
import { Connection } from '../../lib/connect/index.ts';
import { openDevice } from '../../lib/index.ts';
import { closing, makeBoard, backends, newSocket } from '../helpers/backends.ts';
import { runHca } from '../helpers/run_hca.ts';

it('hca share lets every command that observes see the device, until it is interrupted', async () => {
  const name = `shared${process.pid}`;
  const end = new AbortController();
  const socket = newSocket();
  const sharing = runHca(['share', socket, '--device', `emu:0?name=${name}`, '--json'], end.signal);
  const givenUp = performance.now() + 30_000;
  while (!existsSync(socket)) {
    if (performance.now() > givenUp) throw new Error('nothing is shared');
    await new Promise((resolve) => setImmediate(resolve));
  }
  const guest = openDevice(`emu:1?name=${name}`);
  const pair = [new Connection(guest), new Connection(guest)] as const;
  pair[0].connect(pair[1].address);
  pair[1].connect(pair[0].address);
  const observed = async (...words: string[]): Promise<unknown> => {
    const { exitCode, out, error } = await runHca([...words, '--device', `serve:${socket}`, '--json']);
    expect(exitCode, error).toBe(0);
    return JSON.parse(out.trim().split('\n').at(-1)!);
  };
  expect(await observed('qps')).toMatchObject(
    pair.map(({ queuePair }) => ({ number: queuePair.number, underlyingFunction: 1, state: 'readyToSend' })),
  );
  const memory = guest.createProtectionDomain().allocate(100);
  expect(await observed('regions')).toContainEqual(expect.objectContaining({ key: memory.localKey }));
  const target = pair[1].allocate(64);
  const received = pair[1].receive(target.slice());
  await pair[0].send(pair[0].allocate(64).slice());
  await received;
  const counters = (await observed('counters', 'commands_sent')) as { underlyingFunction: number }[];
  expect(counters).toContainEqual(expect.objectContaining({ underlyingFunction: 1, value: 1 }));
  const top = (await observed('top', '--count', '2', '--interval', '10')) as { functions: unknown[] };
  expect(top.functions.length).toBeGreaterThanOrEqual(8);
  guest[Symbol.dispose]();
  end.abort();
  const { exitCode, out } = await sharing;
  expect(exitCode).toBe(0);
  expect(JSON.parse(out)).toEqual({ shared: `serve:${socket}`, underlyingFunction: 0 });
  expect(existsSync(socket)).toBe(false);
});

it('a command that opens a function itself observes through it, and leaves nothing behind', async () => {
  const board = makeBoard(backends[0]!);
  const control = closing(openDevice(board.open(0)));
  const folder = await Scope.run(new AbortController().signal, (scope) => {
    const name = shareWithin(scope, control);
    const observer = scope.use(new Observer(openBeside(name)));
    expect(observer.queuePairs()).toEqual([]);
    expect(observer.device.controlPage).toBeDefined();
    return path.dirname((name as { path: string }).path);
  });
  expect(existsSync(folder)).toBe(false);
});
