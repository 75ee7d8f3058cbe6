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

/** A hostile process, and the function that it opens or observes. */
type Neighbor = readonly [underlyingFunction: number, way: HostileWay];

/** Units of work that one client can add to a turn: its ring, and the largest of its requests, which maps or unmaps 1 GiB. */
const unitsOfOne = 2 * 32 + 4 * 512 + 512;
/** Idle connections or observers that a server keeps, plus those that are connecting. */
const descriptorsOfOne = 64 + 16;
/** Units of work after which a turn ends, even if more is pending. */
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

/** Runs two well-behaved clients, and one that connects and disconnects. Compares each byte. */
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

/** The footprint of a server for the two staying clients: their rings have wrapped, the third has disconnected. */
async function footprintOf(
  server: ServerProcess,
  pair: readonly [Connection, Connection],
): Promise<Footprint> {
  for (let times = 0; times < 3; times += 1) await work(server, pair);
  await until(() => loadAddon().lookAtServed([server.path], 1000)[0]?.open.length === 2);
  return server.footprint();
}

/** Waits until a server uses no more resources than before. */
async function untilGivenBack(server: ServerProcess, before: Footprint): Promise<void> {
  const isGivenBack = (): boolean =>
    Object.entries(before).every(([name, value]) => server.footprint()[name as keyof Footprint] <= value);
  await until(isGivenBack).catch(() => expect(server.footprint()).toEqual(before));
}

/** Milliseconds: all processes compete for the processors. */
const timeLimit = 400_000;

describe('a client of a served board', { timeout: timeLimit }, () => {
  it.each<[string, readonly Neighbor[]]>([
    ['allocates memory without end', [3, 4, 5, 6].map((number): Neighbor => [number, 'asks for memory'])],
    ['has much memory and dies', [[3, 'keeps memory']]],
    ['sends descriptors', [[3, 'brings descriptors']]],
    ['connects in silence', [[0, 'is idle']]],
    ['observes a hundred times', [[1, 'looks on']]],
    [
      'watches everything and reads nothing',
      [0, 1, 2].map((number): Neighbor => [number, 'watches without reading']),
    ],
    ['stops while watching', [0, 1].map((number): Neighbor => [number, 'stops while it watches'])],
    [
      'tries to write the memory of a watch',
      [0, 1].map((number): Neighbor => [number, 'writes what it watches']),
    ],
    [
      'watches repeatedly and keeps all mappings',
      [0, 1].map((number): Neighbor => [number, 'keeps what it watched']),
    ],
    ['connects and disconnects without end', [[3, 'comes and goes']]],
    ['changes lines while the server reads them', [[3, 'tears its ring']]],
    ['removes the pages of its ring', [[3, 'punches holes']]],
    ['has many threads waiting for an answer', [[3, 'sleeps on answers']]],
    ['stops in the middle of a command and dies', [[3, 'stops itself']]],
    [
      'is one of many hostile clients',
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
  ])('that %s harms no other, and leaves nothing behind', async (_, neighbors) => {
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

  it('that blocks its interrupt descriptors does not delay the server', async () => {
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

  it('that opens no function in time is disconnected', async () => {
    const server = await start({ openWithin: 100 });
    const pair = openPair(server);
    const before = await footprintOf(server, pair);
    startHostile(server.path, 0, 'is idle');
    await untilGivenBack(server, before); // although all processes are alive
    await work(server, pair);
    await server.end();
  });
});

describe('signaling another process', () => {
  it('never waits for the reader', () => {
    const taken = hostilePort.signalWithoutReader(100_000);
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(100_000);
  });
});
