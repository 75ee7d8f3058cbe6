import { describe, expect, it } from 'vitest';

import { HcaProcess, type HcaEnd } from '../helpers/hca_process.ts';
import { runHca } from '../helpers/run_hca.ts';
import { dissect } from '../helpers/tshark.ts';
import { freePort } from '../helpers/free_port.ts';
import { requireTool } from '../helpers/tools.ts';
import { framesOf, hasRightIcrc } from './cable_capture.ts';
import type { CommandRun } from './guest_shell.ts';
import { guestTests } from './guest.ts';
import { SoftRoceGuest } from './soft_roce_guest.ts';

/** Seconds; a run takes half a minute on an idle machine. */
const timeLimit = 280;
/** Seconds; an exchange takes less than one. */
const exchangeTimeLimit = 30;

/**
 * A ping-pong between a libibverbs program in the guest and `hca pingpong` here, or the same program under
 * `hca run`.
 */
interface Exchange {
  readonly service: 'rc' | 'uc' | 'ud';
  /** The end that listens. */
  readonly server: 'guest' | 'host';
  /** Path MTU; not of ud. */
  readonly mtu?: number;
  readonly size: number;
  /** GID index of both ends: 0 is the link-local address, 1 the IPv4 address. */
  readonly gid: 0 | 1;
  /** The libibverbs program runs on this side too. */
  readonly byProgram?: true;
  /** The way from the board to the cable; default: direct. */
  readonly way?: 'virtualLan' | 'router';
  /** Probability of losing a packet to the board. */
  readonly loss?: number;
}

/** The options of the board's link, its number, and the IPv4 address of the guest in the guest's table. */
const ways = {
  virtualLan: { words: ',vlan=5', boardNumber: 5, guest: '0a00:0563' },
  router: { words: ',gateway=10.0.0.99/24', boardNumber: 0, guest: 'c0a8:0701' },
} as const;

const directly = { words: '', boardNumber: 0, guest: undefined } as const;

const exchanges: readonly Exchange[] = [
  { service: 'rc', server: 'guest', mtu: 256, size: 4096, gid: 1 },
  { service: 'rc', server: 'host', mtu: 512, size: 4096, gid: 0 },
  { service: 'rc', server: 'guest', mtu: 1024, size: 3001, gid: 0 },
  { service: 'rc', server: 'host', mtu: 2048, size: 20_000, gid: 1 },
  { service: 'rc', server: 'guest', mtu: 4096, size: 20_000, gid: 1 },
  { service: 'rc', server: 'guest', mtu: 1024, size: 4096, gid: 1, loss: 0.05 },
  { service: 'rc', server: 'host', mtu: 1024, size: 4096, gid: 1, loss: 0.05 },
  { service: 'uc', server: 'guest', mtu: 1024, size: 4096, gid: 1 },
  { service: 'uc', server: 'host', mtu: 4096, size: 10_000, gid: 0 },
  { service: 'ud', server: 'guest', size: 2048, gid: 1 },
  { service: 'ud', server: 'host', size: 1024, gid: 0 },
  { service: 'rc', server: 'guest', mtu: 1024, size: 4096, gid: 1, byProgram: true },
  { service: 'rc', server: 'host', mtu: 4096, size: 20_000, gid: 0, byProgram: true },
  { service: 'uc', server: 'host', mtu: 1024, size: 4096, gid: 1, byProgram: true },
  { service: 'ud', server: 'guest', size: 1024, gid: 0, byProgram: true },
  { service: 'rc', server: 'guest', mtu: 1024, size: 4096, gid: 1, way: 'virtualLan' },
  { service: 'rc', server: 'host', mtu: 1024, size: 4096, gid: 1, way: 'router' },
];
const iterations = 20;

describe('the Soft-RoCE driver of a Linux kernel', guestTests(timeLimit), () => {
  it('exchanges ping-pong messages with the emulated board', async (context) => {
    const tshark = requireTool('tshark', context);
    const guest = await SoftRoceGuest.boot(context, timeLimit);
    for (const exchange of exchanges) {
      const name = JSON.stringify(exchange);
      const run = await playInTime(guest, exchange);
      expect(run.guest.status, `${name}: ${run.guest.out}`).toBe(0);
      expect(run.guest.out, name).not.toContain('invalid data');
      expect(run.host.error, name).toBe('');
      for (const { out } of [run.guest, run.host])
        expect(out, name).toContain(`${2 * iterations * exchange.size} bytes in`);
      expect(addressOf('remote', run.host), name).toBe(addressOf('local', run.guest));
      expect(addressOf('local', run.host), name).toBe(addressOf('remote', run.guest));
    }
    const capture = await guest.end('soft_roce.pcap');

    // Every packet on the cable, from both ends.
    const fields = ['eth.src', 'infiniband.bth.opcode', '_ws.malformed'];
    const packets = dissect(tshark, capture, fields);
    const frames = framesOf(capture);
    expect(packets).toHaveLength(frames.length);
    expect(packets.filter((packet) => '_ws.malformed' in packet)).toEqual([]);
    const isRoce = (_: unknown, index: number): boolean => 'infiniband.bth.opcode' in packets[index]!;
    const roce = frames.filter(isRoce);
    expect(roce.filter((frame) => !hasRightIcrc(frame))).toEqual([]);
    const sources = new Set(packets.filter(isRoce).map((packet) => packet['eth.src']));
    expect(sources).toEqual(new Set(['52:54:00:12:34:56', '02:f0:0a:00:00:01', '02:f0:0a:00:05:01']));
    expect(roce.length).toBeGreaterThan(exchanges.length * iterations * 2);
  });
});

/**
 * Up to three attempts, because libibverbs programs give up after half a second without an answer, which a
 * busy machine can exceed.
 */
async function playInTime(
  guest: SoftRoceGuest,
  exchange: Exchange,
): Promise<{ guest: CommandRun; host: HcaEnd }> {
  for (let attempt = 1; ; attempt++) {
    const run = await play(guest, exchange);
    if ((run.guest.status === 0 && run.host.error === '') || attempt === 3) return run;
  }
}

async function play(
  { shell, link, forwardedPort }: SoftRoceGuest,
  { service, server, mtu, size, gid, byProgram, way, loss = 0 }: Exchange,
): Promise<{ guest: CommandRun; host: HcaEnd }> {
  const both = ['-n', iterations, '-s', size, ...(mtu === undefined ? [] : ['-m', mtu])].map(String);
  const { words, boardNumber, guest } = way === undefined ? directly : ways[way];
  const index = guest === undefined ? gid : `$(basename $(grep -l ${guest} ${SoftRoceGuest.gids}/*))`;
  const there = `timeout ${exchangeTimeLimit} ibv_${service}_pingpong -c -d rxe0 ${both.join(' ')} -g ${index} -p`;
  const sizes = 'queuePairs=64&pageTableEntries=8192&memoryKeys=256';
  const device = `emu:?${sizes}&linkLoss=${loss}&boardNumber=${boardNumber}&link=${link}${words}`;
  const same = [...both, '-g', `${gid}`, '-p'];
  const signal = AbortSignal.timeout(exchangeTimeLimit * 1000);
  const playHere = (port: number, other: readonly string[], listen: readonly string[]): Promise<HcaEnd> =>
    byProgram === true
      ? new HcaProcess([
          'run',
          '--device',
          device,
          '--',
          `ibv_${service}_pingpong`,
          '-c',
          ...same,
          `${port}`,
          ...other,
        ]).ended
      : runHca(
          ['pingpong', service, '--device', device, '--chk', ...same, `${port}`, ...other, ...listen],
          signal,
        );
  if (server === 'guest') {
    const run = shell.run(`${there} ${SoftRoceGuest.tcpPort}`);
    for (;;) {
      const host = await playHere(forwardedPort, ['127.0.0.1'], []);
      // The emulator's network accepts a connection before it knows whether the guest does.
      if (!/no end waits|disconnected too early|ECONNRESET|Couldn't (connect|send|read)/.test(host.error))
        return { guest: await run, host };
    }
  }
  const port = await freePort();
  const host = playHere(port, [], ['--listen']);
  const call = `${there} ${port} ${SoftRoceGuest.hostAddress}`;
  const run = await shell.run(
    `until out=$(${call} 2>&1); do case $out in *"Couldn't connect"*) ;; *) echo "$out"; exit 1; esac; done; echo "$out"`,
  );
  return { guest: run, host: await host };
}

function addressOf(end: 'local' | 'remote', { out }: { readonly out: string }): string | undefined {
  return new RegExp(`${end} address: +(.*)`).exec(out)?.[1]?.replace(': GID', ', GID');
}
