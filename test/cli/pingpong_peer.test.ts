import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { play, type Player } from '../../lib/cli/pingpong.ts';
import { markable, meetPeer, type LocalEnd, type PeerOptions } from '../../lib/cli/pingpong_peer.ts';
import { Scope } from '../../lib/cli/scope.ts';
import type { QueuePairAddress } from '../../lib/connect/index.ts';
import { PortState, type CompletionQueue, type Context } from '../../lib/index.ts';
import { freeNetwork, freePort } from '../helpers/free_port.ts';
import { runHca } from '../helpers/run_hca.ts';
import { newSignal, retrying, runTwo } from './two_processes.ts';

const small = 'queuePairs=64&pageTableEntries=8192&memoryKeys=256';

const local: QueuePairAddress = {
  localIdentifier: 0x12,
  queuePairNumber: 0x345678,
  packetSequenceNumber: 0x9abcde,
  gid: '00000000000000000000ffff7f000001',
};
const line = '0012:345678:9abcde:00000000000000000000ffff7f000001\0';
const marked = '0012:345678:9ABCDE:00000000000000000000ffff7f000001\0';

/** Connects to a program of libibverbs, or an imitation of one, with a device on the same link. */
async function meetIt(
  place: PeerOptions['place'],
  whileConnected: (remotes: readonly QueuePairAddress[]) => void = () => {},
): Promise<readonly QueuePairAddress[]> {
  const end: LocalEnd = {
    context: { queryPort: () => ({ state: PortState.active }) } as unknown as Context,
    addresses: [local],
    connect: () => {},
  };
  const options = { place, deviceString: 'emu:?link=udp:127.0.0.1', settings: {}, port: 1, told: 1 };
  return Scope.run(newSignal(), async (scope) => {
    const { remotes, play: playOut } = await meetPeer(options, scope, () => end);
    await playOut(async () => whileConnected(remotes));
    return remotes;
  });
}

async function connected(port: number): Promise<Socket> {
  const { tried } = await retrying(
    newSignal(),
    async () => {
      const socket = connect(port);
      const [error] = (await Promise.race([once(socket, 'connect'), once(socket, 'error')])) as [
        Error | undefined,
      ];
      return { tried: socket, error };
    },
    ({ error }) => error !== undefined,
  );
  return tried;
}

describe('the address exchange of two ends', () => {
  it('follows ibv_rc_pingpong when this end waits', async () => {
    const port = await freePort();
    const met = meetIt({ port, timeout: 60 });
    const socket = await connected(port);
    socket.write('0000:000011:000022:fe8000000000000000000000000000ff\0');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toBe(line);
    socket.end('done\0');
    expect(await met).toEqual([
      {
        localIdentifier: 0,
        queuePairNumber: 0x11,
        packetSequenceNumber: 0x22,
        gid: 'fe8000000000000000000000000000ff',
      },
    ]);
  });

  it.each([
    ['an answer', '0000:000011:000022:fe8000000000000000000000000000ff\0', undefined],
    ['garbage', 'x'.repeat(52), 'but an address is LID:QPN:PSN:GID'],
    ['nothing', '', 'the other end disconnected too early'],
  ])('follows ibv_rc_pingpong when the peer waits and sends %s', async (_, said, message) => {
    const server = createServer((socket) => {
      socket.once('data', (asked) => {
        expect(asked.toString()).toBe(marked);
        socket.end(said);
      });
    }).listen(0);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const met = meetIt({ host: 'localhost', port, timeout: 60 });
    if (message === undefined) expect(await met).toMatchObject([{ queuePairNumber: 0x11 }]);
    else await expect(met).rejects.toThrow(message);
    server.close();
  });

  it('reports a missing end', async () => {
    const port = await freePort();
    await expect(meetIt({ host: 'localhost', port, timeout: 60 })).rejects.toThrow(
      `no end waits at TCP port ${port} of localhost; start the other end first, with --listen`,
    );
  });

  it('marks any packet sequence number and keeps it within 24 bits', () => {
    for (const number of [0, 9, 15, 0x10, 0xff_ffff, 0x12_3456]) {
      const { packetSequenceNumber } = markable({ ...local, packetSequenceNumber: number });
      expect(packetSequenceNumber.toString(16)).toMatch(/[a-f]$/);
      expect(Math.floor(packetSequenceNumber / 16)).toBe(Math.floor(number / 16));
    }
  });
});

const network = await freeNetwork();

describe('hca pingpong between two processes', () => {
  const links = {
    'shared memory': (service: string): string[] => [1, 2].map(() => `shm:${service} ${process.pid}`),
    UDP: (service: string): string[] => {
      const first = 1 + 2 * ['rc', 'uc', 'ud', 'srq', 'rping'].indexOf(service);
      return [first, first + 1].map((end) => `udp:${network}${end}`);
    },
    'a link that they find': (): string[] => ['', ''],
  };

  it.each([
    ['rc', 'shared memory', 4096],
    ['rc', 'UDP', 4096],
    ['uc', 'shared memory', 4096],
    ['uc', 'UDP', 4096],
    ['ud', 'shared memory', 2048],
    ['ud', 'UDP', 2048],
    ['srq', 'UDP', 4096],
    ['srq', 'shared memory', 4096],
    ['rc', 'a link that they find', 4096],
    ['uc', 'a link that they find', 4096],
    ['ud', 'a link that they find', 2048],
    ['srq', 'a link that they find', 4096],
    ['rping', 'shared memory', 4096],
    ['rping', 'UDP', 4096],
    ['rping', 'a link that they find', 4096],
  ] as const)('%s over %s', async (service, link, size) => {
    const words = (place: string): string[] => {
      const device = `emu:?${small}${place && `&link=${encodeURIComponent(place)}`}`;
      return ['pingpong', service, '-n', '100', '--chk', '--device', device];
    };
    const [one, other] = links[link](service) as [string, string];
    const { waited, client } = await runTwo(words(one), words(other));
    expect([client.error, waited.stderr]).toEqual(['', '']);
    const { stdout } = waited;
    for (const out of [stdout, client.out]) {
      expect(out).toMatch(
        new RegExp(`^( {2}local address: .*\\n)+( {2}remote address: .*\\n)+${200 * size} bytes in`),
      );
    }
    const address = (end: string, out: string): string =>
      new RegExp(`${end} address: +(.*)`).exec(out)![1]!.replace(': GID', ', GID');
    expect(address('local', stdout)).toBe(address('remote', client.out));
    expect(address('remote', stdout)).toBe(address('local', client.out));
  });

  it('reports, on a reliable service, that the peer does not answer', async () => {
    const silent: Player = {
      completionQueue: undefined as unknown as CompletionQueue,
      received: 3,
      isDone: false,
      send: () => {},
      advance: () => false,
    };
    const wait = { size: 1, iters: 1, events: false, timeout: 0, signal: newSignal() };
    await expect(play([silent], false, { ...wait, isReliable: true })).rejects.toThrow(
      'nothing arrived for 0 s after 3 messages; the other end has stopped, and --timeout sets how long to wait',
    );
    await expect(play([silent], false, { ...wait, isReliable: false })).rejects.toThrow(
      /an unreliable service/,
    );
  });

  it.each([[[]], [['--events']]])('uc gives up when a message is lost %j', async (words) => {
    const device = `emu:?${small}&linkLoss=1`;
    const { exitCode, error } = await runHca([
      'pingpong',
      'uc',
      '--timeout',
      '1',
      '--device',
      device,
      ...words,
    ]);
    expect(error).toBe(
      'hca: nothing arrived for 1 s after 0 messages; an unreliable service does not repeat what is lost, and --timeout sets how long to wait\n',
    );
    expect(exitCode).toBe(1);
  });
});
