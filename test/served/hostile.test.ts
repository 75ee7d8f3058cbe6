import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import type { ServedBoardOptions } from '../../lib/board/serving.ts';
import type { Connection } from '../../lib/connect/index.ts';
import { closing, newSocket } from '../helpers/backends.ts';
import { testAddonPath } from '../helpers/test_addon.ts';
import { endHostile, hostilePort, startHostile, type HostileWay } from './hostile_clients.ts';
import { ServerProcess, type Footprint } from './server_process.ts';
import { connectPair, exchange, open } from './serving.ts';

/** A process that is hostile, and the function that it opens or looks at. */
type Neighbor = readonly [underlyingFunction: number, way: HostileWay];

/** Units of work that one client can add to a turn: its ring, and the largest of its requests, which maps or unmaps 1 GiB. */
const unitsOfOne = 2 * 32 + 4 * 512 + 512;
/** Connections that open nothing, or looks, that a server keeps, and those that come at this moment. */
const descriptorsOfOne = 64 + 16;
/** Units after which a turn ends, whatever is to do. */
const unitsOfTurn = 512;

afterEach(endHostile);

async function start(options: Omit<ServedBoardOptions, 'path'> = {}): Promise<ServerProcess> {
  const server = await ServerProcess.start(newSocket(), options);
  closing({ close: () => server.kill() });
  return server;
}

function openPair({ path }: ServerProcess): [Connection, Connection] {
  return connectPair(open(`serve:${path}/1`), open(`serve:${path}/2`));
}

/** The work of two clients that know how to behave, and of one that comes and goes. Each byte is compared. */
async function work({ path }: ServerProcess, pair: readonly [Connection, Connection]): Promise<void> {
  for (let value = 1; value <= 30; value += 1) await exchange(pair, value);
  const context = open(`serve:${path}/7`);
  await exchange(connectPair(context, context), 77);
  context[Symbol.dispose]();
}

async function until(isSo: () => boolean): Promise<void> {
  const givenUp = performance.now() + 120_000;
  while (!isSo()) {
    if (performance.now() > givenUp) throw new Error('what the test waits for does not happen');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The footprint of a server for the two that stay: their rings have come round, the third is gone. */
async function footprintOf(
  server: ServerProcess,
  pair: readonly [Connection, Connection],
): Promise<Footprint> {
  for (let times = 0; times < 3; times += 1) await work(server, pair);
  await until(() => loadAddon().lookAtServed([server.path], 1000)[0]?.open.length === 2);
  return server.footprint();
}

/** Waits until a server takes no more of its machine than it did. */
async function untilGivenBack(server: ServerProcess, before: Footprint): Promise<void> {
  const isGivenBack = (): boolean =>
    Object.entries(before).every(([name, value]) => server.footprint()[name as keyof Footprint] <= value);
  await until(isGivenBack).catch(() => expect(server.footprint()).toEqual(before));
}

/** Milliseconds: all of them want the processors at once. */
const timeLimit = 400_000;

describe('a client of a served board', { timeout: timeLimit }, () => {
  it.each<[string, readonly Neighbor[]]>([
    ['asks for memory without end', [3, 4, 5, 6].map((number): Neighbor => [number, 'asks for memory'])],
    ['has much memory, and dies', [[3, 'keeps memory']]],
    ['sends descriptors', [[3, 'brings descriptors']]],
    ['connects, and says nothing', [[0, 'is idle']]],
    ['looks on a hundred times', [[1, 'looks on']]],
    [
      'asks for all that observers are told, and reads none of it',
      [0, 1, 2].map((number): Neighbor => [number, 'watches without reading']),
    ],
    ['stops while it watches', [0, 1].map((number): Neighbor => [number, 'stops while it watches'])],
    [
      'tries to write what it may only watch',
      [0, 1].map((number): Neighbor => [number, 'writes what it watches']),
    ],
    [
      'watches again and again, and keeps what it mapped',
      [0, 1].map((number): Neighbor => [number, 'keeps what it watched']),
    ],
    ['comes and goes without end', [[3, 'comes and goes']]],
    ['changes lines while they are read', [[3, 'tears its ring']]],
    ['takes the pages of its ring away', [[3, 'punches holes']]],
    ['has many threads wait for an answer', [[3, 'sleeps on answers']]],
    ['stops in the middle, and dies', [[3, 'stops itself']]],
    [
      'is one of many, and each of them is hostile',
      [
        [3, 'asks for memory'],
        [4, 'tears its ring'],
        [5, 'punches holes'],
        [6, 'comes and goes'],
        [0, 'is idle'],
        [1, 'looks on'],
        [2, 'watches without reading'],
      ],
    ],
  ])('that %s harms no other, and leaves nothing', async (_, neighbors) => {
    const server = await start();
    const pair = openPair(server);
    const before = await footprintOf(server, pair);
    const { mostUnitsInTurn: alone } = await server.work();
    for (let times = 1; times <= 2; times += 1) {
      for (const [underlyingFunction, way] of neighbors) {
        startHostile(server.path, underlyingFunction, way, times);
      }
      await work(server, pair);
      const most = before.descriptors + neighbors.length * descriptorsOfOne;
      expect(server.footprint().descriptors).toBeLessThanOrEqual(most);
      endHostile();
      await untilGivenBack(server, before);
    }
    await work(server, pair);
    // The wait of a client is bounded by the work of the server's thread in a turn.
    const { mostUnitsInTurn } = await server.work();
    expect(mostUnitsInTurn).toBeLessThanOrEqual(alone + unitsOfTurn + neighbors.length * unitsOfOne);
    await server.end();
  });

  it('that lets its interrupts wait, and leaves them no room, does not hold up the server', async () => {
    const server = await start();
    const pair = openPair(server);
    const before = await footprintOf(server, pair);
    const program = fileURLToPath(new URL('interrupt_blocker.mjs', import.meta.url));
    const child = fork(program, [`serve:${server.path}/3`, testAddonPath()], { execArgv: [], silent: true });
    closing({ close: () => child.kill('SIGKILL') });
    const [said] = (await once(child.stdout!, 'data')) as [Buffer];
    expect(String(said)).toBe('blocked\n');
    await work(server, pair);
    child.kill('SIGKILL');
    await untilGivenBack(server, before);
    await server.end();
  });

  it('that opens nothing in its time is not waited for', async () => {
    const server = await start({ openWithin: 100 });
    const pair = openPair(server);
    const before = await footprintOf(server, pair);
    startHostile(server.path, 0, 'is idle');
    await untilGivenBack(server, before); // though all of them are there
    await work(server, pair);
    await server.end();
  });
});

describe('a signal to another process', () => {
  it('waits for nothing that its reader does', () => {
    const taken = hostilePort.signalWithoutReader(100_000);
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(100_000);
  });
});
