import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import { Completion, CompletionStatus, Opcode } from '../../lib/index.ts';
import { Connection } from '../../lib/connect/index.ts';
import { backends, closing, makeBoard } from '../helpers/backends.ts';
import { freeNetwork } from '../helpers/free_port.ts';
import { Random } from '../helpers/random.mjs';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';
import { playBothWays } from '../helpers/random_connections.ts';

const shared = backends.find(({ options }) => options.progress === 'shared')!;
const steppedBackend = backends.find(({ options }) => options.progress === 'stepped')!;
const port = 4791;
const sockets: Socket[] = [];

afterEach(async () => {
  await Promise.all(
    sockets.splice(0).map((socket) => new Promise((resolve) => socket.close(() => resolve(null)))),
  );
});

const network = await freeNetwork();
let last = 0;
const newAddress = (): string => `${network}${(last += 1)}`;

function makeSides(options: BoardOptions = {}): [Verbs, Verbs] {
  const side = (): Verbs => makeVerbs(shared, { ...options, link: `udp:${newAddress()}` });
  return [side(), side()];
}

async function bind(address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.bind(port, address);
  await once(socket, 'listening');
  return socket;
}

describe('a link of UDP sockets', () => {
  it.each<[string, BoardOptions]>([
    ['unimpaired', {}],
    ['with 2 % of packets lost and 2 % duplicated', { linkLoss: 0.02, linkDuplication: 0.02 }],
  ])('carries connections, %s', async (_, options) => {
    const sides = makeSides(options);
    await playBothWays(new Random(9), 60, sides);
  });

  it('uses its address as the GID, and sends from and to port 4791', async () => {
    const [own, peer] = [newAddress(), newAddress()];
    const socket = await bind(peer);
    const { context } = makeVerbs(shared, { link: `udp:${own}` });
    const gid = Buffer.from(context.queryGid(1, 0));
    expect([...gid.subarray(10)]).toEqual([0xff, 0xff, ...own.split('.').map(Number)]);
    const connection = closing(new Connection(context));
    const gidOfPeer = Buffer.from([...gid.subarray(0, 12), ...peer.split('.').map(Number)]).toString('hex');
    connection.connect({ queuePairNumber: 0x123456, packetSequenceNumber: 7, gid: gidOfPeer });
    const { bytes } = connection.allocate(8);
    connection.queuePair.postSend({ opcode: Opcode.send, inlineData: bytes });
    const [packet, from] = (await once(socket, 'message')) as [Buffer, { address: string; port: number }];
    expect(from).toMatchObject({ address: own, port });
    expect(packet).toHaveLength(12 + 8 + 4);
    expect(packet.readUIntBE(5, 3)).toBe(0x123456);
  });

  it('ignores malformed packets', async () => {
    const sides = makeSides();
    const stranger = await bind(newAddress());
    const connections = sides.map(({ context }) => closing(new Connection(context))) as [
      Connection,
      Connection,
    ];
    connections[0].connect(connections[1].address);
    connections[1].connect(connections[0].address);
    const address = sides[1].context.queryGid(1, 0).slice(12).join('.');
    const random = new Random(3);
    for (const length of [0, 1, 11, 12, 16, 100, 4200, 9000])
      for (let each = 0; each < 20; each += 1)
        stranger.send(
          Uint8Array.from({ length }, () => random.below(256)),
          port,
          address,
        );
    const [a, b] = connections;
    const memory = b.allocate(8);
    b.queuePair.postReceive({ scatter: [memory.slice()] });
    a.queuePair.postSend({ opcode: Opcode.send, inlineData: Uint8Array.of(1, 2, 3), signaled: true });
    const completion = new Completion();
    await b.completionQueue.wait({ timeout: 20_000 });
    expect(b.completionQueue.poll([completion])).toBe(1);
    expect(completion.status).toBe(CompletionStatus.success);
    expect([...memory.bytes.subarray(0, 3)]).toEqual([1, 2, 3]);
  });

  it('receives a packet after many malformed ones', async () => {
    const side = makeVerbs(shared, { link: `udp:${newAddress()}` });
    const stepped = makeVerbs(steppedBackend, { link: `udp:${newAddress()}` });
    const stranger = await bind(newAddress());
    const [a, b] = [side, stepped].map(({ context }) => closing(new Connection(context))) as [
      Connection,
      Connection,
    ];
    a.connect(b.address);
    b.connect(a.address);
    b.queuePair.postReceive({ scatter: [] });
    stepped.board.runUntilIdle();
    const address = stepped.context.queryGid(1, 0).slice(12).join('.');
    const sent = Array.from(
      { length: 300 },
      () => new Promise((resolve) => stranger.send(new Uint8Array(1), port, address, resolve)),
    );
    await Promise.all(sent);
    a.queuePair.postSend({ opcode: Opcode.send });
    // No poll here, because a poll would receive the packets itself.
    for (const until = Date.now() + 20_000; Date.now() < until && !b.completionQueue.driver.hasCompletion;) {
      await new Promise(setImmediate);
      stepped.board.runUntilIdle();
    }
    expect(b.completionQueue.driver.hasCompletion).toBe(true);
  });

  it('reports a wrong address', async () => {
    const taken = newAddress();
    makeBoard(shared, { link: `udp:${taken}` });
    expect(() => makeBoard(shared, { link: `udp:${taken}` })).toThrow(
      `link udp:${taken}: UDP port 4791 of ${taken} is taken by another board or driver; ` +
        'boards of one machine have addresses of their own, as 127.0.0.2',
    );
    expect(() => makeBoard(shared, { link: 'udp:203.0.113.1' })).toThrow(
      'this machine has no address 203.0.113.1',
    );
    expect(() => makeBoard(shared, { link: 'udp:here' })).toThrow(
      '"here" is not an IPv4 or IPv6 address of one interface',
    );
    expect(() => makeBoard(shared, { link: 'udp:127.0.0.1', linkLayer: 'infiniband' })).toThrow(
      'link udp:127.0.0.1: links are shm:NAME, host:NAME, and on Ethernet udp:ADDRESS and ethernet:PATH,PATH',
    );
  });
});
