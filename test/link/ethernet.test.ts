import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import { Connection } from '../../lib/connect/index.ts';
import { Completion, CompletionStatus, Opcode, PortState } from '../../lib/index.ts';
import { backends, closing, makeBoard } from '../helpers/backends.ts';
import { Random } from '../helpers/random.mjs';
import { requireTool, toolEnvironment } from '../helpers/tools.ts';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';
import { playBothWays } from '../helpers/random_connections.ts';

const shared = backends.find(({ options }) => options.progress === 'shared')!;

function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-ethernet-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** @param words options that follow the paths of the link */
function makeSides(options: BoardOptions = {}, words = ''): [Verbs, Verbs] {
  const folder = makeFolder();
  const side = (boardNumber: number, own: string, peer: string): Verbs =>
    makeVerbs(shared, {
      ...options,
      boardNumber,
      link: `ethernet:${folder}/${own},${folder}/${peer}${words}`,
    });
  return [side(3, 'a', 'b'), side(700, 'b', 'a')];
}

/** A peer that sends the frames it is given, and returns the first `count` frames that it receives. */
async function neighbor(
  context: TestContext,
  [own, peer]: readonly [string, string],
  count: number,
): Promise<(...frames: string[]) => Promise<string[]>> {
  const script = fileURLToPath(new URL('neighbor.py', import.meta.url));
  const words = [script, own, peer, String(count)];
  const child = spawn(requireTool('python3', context), words, {
    env: toolEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('ready');
  return async (...frames) => {
    child.stdin.end(frames.map((frame) => `${frame}\n`).join(''));
    const came: string[] = [];
    for await (const line of lines) came.push(line);
    return came;
  };
}

const compact = (text: string): string => text.replaceAll(/[\s|]/g, '');
const padding = '00'.repeat(18);

describe('a link of Ethernet frames', () => {
  it('keeps its port down until the other end opens', () => {
    const folder = makeFolder();
    const open = (own: string, peer: string): Verbs =>
      makeVerbs(shared, { link: `ethernet:${folder}/${own},${folder}/${peer}` });
    const one = open('a', 'b');
    expect(one.context.queryPort(1).state).toBe(PortState.down);
    const other = open('b', 'a');
    for (const { context } of [one, other]) expect(context.queryPort(1).state).toBe(PortState.active);
    other.context[Symbol.dispose]();
    other.board.close();
    expect(one.context.queryPort(1).state).toBe(PortState.down);
  });

  it.each<[string, BoardOptions, string]>([
    ['unimpaired', {}, ''],
    ['in a VLAN', {}, ',vlan=4094'],
    ['with 2 % of packets lost and 2 % duplicated', { linkLoss: 0.02, linkDuplication: 0.02 }, ''],
  ])('carries connections, %s', async (_, options, words) => {
    const sides = makeSides(options, words);
    await playBothWays(new Random(9), 60, sides);
  });

  it.each([
    ['its link-local address', 0],
    ['its IPv4 address', 1],
  ])(
    'resolves a neighbor by %s, whatever MAC address the driver gives, and loses no packet',
    async (_, gidIndex) => {
      const sides = makeSides();
      const [one, other] = sides.map(({ context }) =>
        closing(new Connection(context, { gidIndex, timeout: 0 })),
      ) as [Connection, Connection];
      one.connect({ ...other.address, mac: '020000000099' });
      other.connect({ ...one.address, mac: '020000000098' });
      const completion = new Completion();
      // One packet, with no retry to repair a loss; then more packets than the sockets can hold.
      const word = other.allocate(8);
      other.queuePair.postReceive({ scatter: [word.slice()] });
      one.queuePair.postSend({ opcode: Opcode.send, inlineData: Uint8Array.of(1, 2, 3), signaled: true });
      await other.completionQueue.wait({ timeout: 60_000 });
      expect(other.completionQueue.poll([completion])).toBe(1);
      expect([...word.bytes.subarray(0, 3)]).toEqual([1, 2, 3]);
      const memory = other.allocate(256 * 1024);
      memory.bytes.fill(0);
      other.queuePair.postReceive({ scatter: [memory.slice()] });
      const source = one.allocate(memory.bytes.length);
      source.bytes.forEach((_byte, at) => (source.bytes[at] = at * 7 + (at >> 8)));
      one.queuePair.postSend({ opcode: Opcode.send, gather: [source.slice()], signaled: true });
      await other.completionQueue.wait({ timeout: 60_000 });
      expect(other.completionQueue.poll([completion])).toBe(1);
      expect(completion.status).toBe(CompletionStatus.success);
      expect(Buffer.compare(memory.bytes, source.bytes)).toBe(0);
    },
  );

  it('answers ARP and neighbor solicitations for the addresses of its functions only', async (context) => {
    const folder = makeFolder();
    const [own, peer] = [`${folder}/own`, `${folder}/peer`] as const;
    const ask = await neighbor(context, [peer, own], 3);
    makeVerbs(shared, { boardNumber: 0, underlyingFunctions: 2, link: `ethernet:${own},${peer}` });
    const arp = (target: string): string =>
      compact(
        `ffffffffffff 525400123456 0806|0001 0800 06 04 0001 525400123456 0a000063 000000000000 ${target}`,
      );
    // From fe80::63 to the group of fe80::f0:aff:fe00:1 and of fe80::f0:aff:fe00:3; checksums by hand.
    const solicitation = (last: string, checksum: string): string =>
      compact(`3333ff00000${last} 525400123456 86dd|60000000 0020 3a ff
        fe800000000000000000000000000063 ff0200000000000000000001ff00000${last}
        87 00 ${checksum} 00000000 fe8000000000000000f00afffe00000${last} 01 01 525400123456`);
    const came = await ask(
      '',
      'ff'.repeat(13),
      'ff'.repeat(14),
      arp('0a000003'), // function 2 does not exist
      arp('0a000001').replace('08000604', '08000605'),
      arp('0a000001').slice(0, -2),
      solicitation('3', checksumOf(solicitation('3', '0000'))),
      solicitation('1', '1234'), // damaged
      solicitation('1', checksumOf(solicitation('1', '0000'))).replace('203aff', '203afe'), // hop limit below 255: not from this link
      arp('0a000001'),
      arp('0a000002'),
      solicitation('1', checksumOf(solicitation('1', '0000'))),
    );
    const reply = (number: string): string =>
      compact(`525400123456 02f00a00000${number} 0806|0001 0800 06 04 0002 02f00a00000${number} 0a00000${number}
        525400123456 0a000063`) + padding;
    const advertisement = (checksum: string): string =>
      compact(`525400123456 02f00a000001 86dd|60000000 0020 3a ff fe8000000000000000f00afffe000001
        fe800000000000000000000000000063|88 00 ${checksum} 60000000 fe8000000000000000f00afffe000001
        02 01 02f00a000001`);
    expect(came).toEqual([reply('1'), reply('2'), advertisement(checksumOf(advertisement('0000')))]);
  });

  it('in a VLAN receives frames with its tag and any priority, and answers with its tag', async (context) => {
    const folder = makeFolder();
    const [own, peer] = [`${folder}/own`, `${folder}/peer`] as const;
    const ask = await neighbor(context, [peer, own], 2);
    makeVerbs(shared, { boardNumber: 0, underlyingFunctions: 2, link: `ethernet:${own},${peer},vlan=5` });
    const arp = (tag: string, target: string): string =>
      compact(
        `ffffffffffff 525400123456 ${tag} 0806|0001 0800 06 04 0001 525400123456 0a000063 000000000000 ${target}`,
      );
    const came = await ask(
      arp('', '0a000001'),
      arp('81000006', '0a000001'),
      arp('81000000', '0a000001'),
      'ff'.repeat(12) + '81000005', // truncated after its tag
      'ff'.repeat(12) + '8100',
      arp('81000005', '0a000002'),
      arp('8100f005', '0a000001'),
    );
    const reply = (number: string): string =>
      compact(`525400123456 02f00a00000${number} 81000005 0806|0001 0800 06 04 0002 02f00a00000${number} 0a00000${number}
        525400123456 0a000063`) + padding;
    expect(came).toEqual([reply('2'), reply('1')]);
  });

  it('without a VLAN receives priority-tagged frames, but no frames of a VLAN', async (context) => {
    const folder = makeFolder();
    const [own, peer] = [`${folder}/own`, `${folder}/peer`] as const;
    const ask = await neighbor(context, [peer, own], 1);
    makeVerbs(shared, { boardNumber: 0, underlyingFunctions: 2, link: `ethernet:${own},${peer}` });
    const arp = (tag: string, target: string): string =>
      compact(
        `ffffffffffff 525400123456 ${tag} 0806|0001 0800 06 04 0001 525400123456 0a000063 000000000000 ${target}`,
      );
    const [came] = await ask(arp('81000005', '0a000002'), arp('8100e000', '0a000001'));
    expect(came).toMatch(/^52540012345602f00a00000108060001/);
  });

  it('sends packets for other subnets to the gateway', async (context) => {
    const folder = makeFolder();
    const [own, peer] = [`${folder}/own`, `${folder}/peer`] as const;
    const ask = await neighbor(context, [peer, own], 3);
    const link = `ethernet:${own},${peer},gateway=10.0.2.254/22`;
    const { context: board } = makeVerbs(shared, { boardNumber: 0, link });
    const send = (gid: string): void => {
      const connection = closing(new Connection(board, { gidIndex: 1, timeout: 0 }));
      connection.connect({
        ...connection.address,
        gid: `00000000000000000000ffff${gid}`,
        mac: '020000000099',
      });
      connection.queuePair.postSend({ opcode: Opcode.send, inlineData: Uint8Array.of(1) });
    };
    send('0a000401');
    send('0a0003ff');
    // The gateway answers, the neighbor does not.
    const gateway = '0806|0001 0800 06 04 0002 525400123456 0a0002fe 02f00a000001 0a000001';
    const frames = await ask(compact(`02f00a000001 525400123456 ${gateway}`));
    const ofType = (type: string): string[] => frames.filter((frame) => frame.slice(24, 28) === type);
    expect(ofType('0806').map((frame) => frame.slice(76, 84))).toEqual(['0a0002fe', '0a0003ff']);
    expect(ofType('0800').map((frame) => [frame.slice(0, 12), frame.slice(60, 68)])).toEqual([
      ['525400123456', '0a000401'],
    ]);
  });

  it('reports wrong socket paths', () => {
    const folder = makeFolder();
    const link = `ethernet:${folder}/a,${folder}/b`;
    makeBoard(shared, { link });
    expect(() => makeBoard(shared, { link })).toThrow(
      `link ${link}: ${folder}/a already exists, and is not left over from a killed board; use another path`,
    );
    for (const paths of ['', 'a', ',b', 'a,', `a,${'b'.repeat(108)}`])
      expect(() => makeBoard(shared, { link: `ethernet:${paths}` })).toThrow(
        "it names the path of its own socket, a comma and that of the peer's, each 1 to 107 characters long",
      );
    for (const [words, message] of [
      ['vlan=0', 'vlan is the number of a virtual LAN, 1 to 4094'],
      ['vlan=4095', 'vlan is the number'],
      ['vlan=', 'vlan is the number'],
      ['gateway=10.0.0.1', 'as in 10.0.0.254/24'],
      ['gateway=10.0.0.1/33', 'as in 10.0.0.254/24'],
      ['gateway=fe80::1/64', 'as in 10.0.0.254/24'],
      ['mtu=9000', 'its paths may be followed by vlan=NUMBER and gateway=ADDRESS/BITS'],
    ] as const)
      expect(() => makeBoard(shared, { link: `ethernet:${folder}/c,b,${words}` })).toThrow(message);
    writeFileSync(`${folder}/file`, '');
    expect(() => makeBoard(shared, { link: `ethernet:${folder}/file,b` })).toThrow('file already exists');
    expect(() => makeBoard(shared, { link: `ethernet:${folder}/none/a,b` })).toThrow('No such file');
    expect(() => makeBoard(shared, { link, linkLayer: 'infiniband' })).toThrow('links are shm:NAME');
  });

  it('replaces the socket of a killed process, and removes its own', (context) => {
    const folder = makeFolder();
    const left = `import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind("${folder}/a")`;
    execFileSync(requireTool('python3', context), ['-c', left], { env: toolEnvironment() });
    expect(existsSync(`${folder}/a`)).toBe(true);
    makeBoard(shared, { link: `ethernet:${folder}/a,${folder}/b` }).close();
    expect(existsSync(`${folder}/a`)).toBe(false);
  });
});

/** Checksum of ICMPv6, of a frame whose checksum is zero (RFC 8200, 8.1). */
function checksumOf(frame: string): string {
  const bytes = Buffer.from(frame, 'hex');
  let sum = bytes.length - 54 + 58;
  for (let at = 22; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return (~sum & 0xffff).toString(16).padStart(4, '0');
}
