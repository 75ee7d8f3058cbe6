import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';

import { play, type Player } from '../../lib/cli/pingpong.ts';
import { meetPeer } from '../../lib/cli/pingpong_peer.ts';
import type { QueuePairAddress } from '../../lib/connect/index.ts';
import type { CompletionQueue, QueuePairType } from '../../lib/index.ts';
import { freePort } from '../free_port.ts';
import { runHca } from './run_hca.ts';
import { newSignal, retrying, runTwo } from './two_processes.ts';

const small = 'queuePairs=64&pageTableEntries=8192&memoryKeys=256';

const local: QueuePairAddress = {
  localIdentifier: 0x12,
  queuePairNumber: 0x345678,
  packetSequenceNumber: 0x9abcde,
  gid: '00000000000000000000ffff7f000001',
};
const line = '0012:345678:9abcde:00000000000000000000ffff7f000001\0';

describe('the meeting of two ends', () => {
  it('is as ibv_rc_pingpong has it where this end waits', async () => {
    const port = await freePort();
    const signal = newSignal();
    const met = meetPeer({ port, signal }, local, () => {});
    const socket = await retrying(
      signal,
      async () => {
        const tried = connect(port);
        const [error] = (await Promise.race([once(tried, 'connect'), once(tried, 'error')])) as [
          Error | undefined,
        ];
        return { tried, error };
      },
      ({ error }) => error !== undefined,
    ).then(({ tried }) => tried);
    socket.write('0000:000011:000022:fe8000000000000000000000000000ff\0');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toBe(line);
    socket.end('done\0');
    const { remote, part } = await met;
    expect(remote).toEqual({
      localIdentifier: 0,
      queuePairNumber: 0x11,
      packetSequenceNumber: 0x22,
      gid: 'fe8000000000000000000000000000ff',
    });
    await part();
  });

  it.each([
    ['an answer', '0000:000011:000022:fe8000000000000000000000000000ff\0', undefined],
    ['nonsense', 'x'.repeat(52), 'but an address is LID:QPN:PSN:GID'],
    ['nothing', '', 'the other end has gone before both were connected'],
  ])('is as ibv_rc_pingpong has it where that waits, and says %s', async (_, said, message) => {
    const server = createServer((socket) => {
      socket.once('data', (asked) => {
        expect(asked.toString()).toBe(line);
        socket.end(said);
      });
    }).listen(0);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const met = meetPeer({ host: 'localhost', port, signal: newSignal() }, local, () => {});
    if (message === undefined) await (await met).part();
    else await expect(met).rejects.toThrow(message);
    server.close();
  });

  it('says who is not there', async () => {
    const port = await freePort();
    const place = { host: 'localhost', port, signal: newSignal() };
    await expect(meetPeer(place, local, () => {})).rejects.toThrow(
      `nobody waits at TCP port ${port} of localhost; start the other end first, with --listen`,
    );
  });
});

describe('hca pingpong between two processes', () => {
  const links = {
    'shared memory': (service: string): string[] => [1, 2].map(() => `shm:${service} ${process.pid}`),
    UDP: (service: string): string[] => {
      const network = 77 + ['rc', 'uc', 'ud', 'srq'].indexOf(service);
      return [1, 2].map((end) => `udp:127.${network}.${process.pid % 250}.${end}`);
    },
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
  ] as const)('%s over %s', async (service, link, size) => {
    const words = (place: string): string[] => {
      const device = `emu:?${small}&link=${encodeURIComponent(place)}`;
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

  it('says of a service that repeats what is lost that the peer does not answer', async () => {
    const silent = (type: QueuePairType): Player => ({
      type,
      completionQueue: undefined as unknown as CompletionQueue,
      received: 3,
      isDone: false,
      send: () => {},
      advance: () => false,
    });
    const wait = { size: 1, iters: 1, events: false, timeout: 0, signal: newSignal() };
    await expect(play([silent('RC')], false, wait)).rejects.toThrow(
      'nothing came for 0 s after 3 messages; expected: a peer that answers, and --timeout says how long to wait',
    );
    await expect(play([silent('UD')], false, wait)).rejects.toThrow(/an unreliable service/);
  });

  it.each([[[]], [['--events']]])('uc is given up when a message is lost %j', async (words) => {
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
      'hca: nothing came for 1 s after 0 messages; an unreliable service does not repeat what is lost, and --timeout says how long to wait\n',
    );
    expect(exitCode).toBe(1);
  });
});
