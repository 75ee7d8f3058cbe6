import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

import { Connection } from '../../lib/connect/index.ts';
import { Completion, Opcode } from '../../lib/index.ts';
import { makeBoard } from '../helpers/register_file_board.ts';
import { backends } from '../helpers/backends.ts';
import { Random } from '../helpers/random.mjs';
import { requireTool, toolEnvironment } from '../helpers/tools.ts';
import { makeStation, queueKey, routeBytes } from '../helpers/datagram.ts';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';
import { playBothWays } from '../helpers/random_connections.ts';

const shared = backends.find(({ options }) => options.progress === 'shared')!;
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
});

const newLink = (): string => `host:${randomUUID()}`;

describe('a host fabric', () => {
  it('connects any two of its boards', async () => {
    const link = newLink();
    const [one, two, three] = [1, 2, 3].map(() => makeVerbs(shared, { link })) as [Verbs, Verbs, Verbs];
    await playBothWays(new Random(1), 30, [one, two]);
    await playBothWays(new Random(2), 30, [three, one]);
    await playBothWays(new Random(3), 30, [two, three]);
  });

  it.each(['ethernet', 'infiniband'] as const)(
    'connects only boards of the same link layer: %s',
    async (linkLayer) => {
      const link = newLink();
      makeVerbs(shared, { link, linkLayer: linkLayer === 'ethernet' ? 'infiniband' : 'ethernet' });
      const sides = [1, 2, 3].map(() => makeVerbs(shared, { link, linkLayer }).context);
      for (const [from, to] of [
        [0, 1],
        [2, 0],
        [1, 2],
      ] as const) {
        const [own, peer] = [new Connection(sides[from]!), new Connection(sides[to]!)];
        own.connect(peer.address);
        peer.connect(own.address);
        const memory = peer.allocate(1);
        await own.write(Uint8Array.of(41 + to), memory.remote(), { timeout: 20_000 });
        expect(memory.bytes[0]).toBe(41 + to);
      }
    },
  );

  it('gives each board the lowest free number', () => {
    const link = newLink();
    const boards = [1, 2].map(() => makeBoard({ link }));
    expect(boards.map((board) => board.boardNumber())).toEqual([0, 1]);
    expect(makeBoard({ link, boardNumber: 700 }).boardNumber()).toBe(700);
    expect(() => makeBoard({ link, boardNumber: 1 })).toThrow(
      `link ${link}: its boardNumber 1 is taken by another process; use another one`,
    );
    boards[0]!.close();
    expect(makeBoard({ link }).boardNumber()).toBe(0);
    expect(() => makeBoard({ link: 'host:' })).toThrow('link host:: links are shm:NAME, host:NAME');
  });

  it('delivers a multicast datagram to all members of the group', async () => {
    const link = newLink();
    const stations = [1, 2, 3].map(() => makeStation(makeVerbs(shared, { link })));
    const group = Uint8Array.of(...Array.from({ length: 10 }, () => 0), 0xff, 0xff, 239, 1, 2, 3);
    for (const { queuePair, region } of stations) {
      queuePair.postReceive({ wrId: 1, scatter: [region.slice(0, 64)] });
      queuePair.attachMulticast(group);
    }
    const [{ queuePair, verbs }] = stations as [(typeof stations)[0]];
    queuePair.postSend({
      opcode: Opcode.send,
      inlineData: Uint8Array.of(77),
      addressHandle: verbs.protectionDomain.createAddressHandle({
        port: 1,
        isGlobal: true,
        hopLimit: 1,
        gidIndex: 1,
        destinationGid: group,
      }),
      destinationQueuePair: 0xff_ffff,
      queueKey,
    });
    for (const { verbs: heard, region } of stations) {
      await heard.completionQueue.wait({ timeout: 20_000 });
      expect(heard.completionQueue.poll([new Completion()])).toBe(1);
      expect(region.bytes[routeBytes]).toBe(77);
    }
  });
});

describe('an untrusted process', () => {
  it.for(['a wrong message', 'unsealed', 'small', 'rings', 'tail', 'length'])(
    'cannot harm the fabric: %s',
    async (way, context) => {
      const name = randomUUID();
      const verbs = makeVerbs(shared, { link: `host:${name}` });
      const program = fileURLToPath(new URL('host_intruder.py', import.meta.url));
      const words = [program, way, name, '7'];
      const child = spawn(requireTool('python3', context), words, {
        env: toolEnvironment(),
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      children.push(child);
      const [said] = (await once(child.stdout, 'data')) as [Buffer];
      expect(String(said).trim()).toBe(way === 'tail' || way === 'length' ? 'closed' : 'done');
      await playBothWays(new Random(4), 30, [verbs, makeVerbs(shared, { link: `host:${name}` })]);
    },
  );
});
