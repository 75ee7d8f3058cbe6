import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import { Completion, Opcode } from '../../lib/index.ts';
import { backends } from '../helpers/backends.ts';
import { freeNetwork } from '../helpers/free_port.ts';
import { makeStation, queueKey, routeBytes, type Station } from '../helpers/datagram.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

const shared = backends.find(({ options }) => options.progress === 'shared')!;
const everyone = 0xff_ffff;
const slots = 8;
const slotBytes = 64;
const timeout = 20_000;

const network = await freeNetwork();
let last = 0;
const newAddress = (): string => `${network}${(last += 1)}`;

/** A group that no other test on this machine uses. */
function newGroup(version: 4 | 6 = 4): Uint8Array {
  const end = newAddress().split('.').slice(1).map(Number);
  return version === 4
    ? Uint8Array.of(...Array.from({ length: 10 }, () => 0), 0xff, 0xff, 239, ...end)
    : Uint8Array.of(0xff, 0x12, ...Array.from({ length: 11 }, () => 0), ...end);
}

/** A station with receives posted. */
function makeListener(options: BoardOptions): Station {
  const station = makeStation(makeVerbs(shared, options));
  for (let wrId = 0; wrId < slots; wrId += 1) {
    station.queuePair.postReceive({ wrId, scatter: [station.region.slice(wrId * slotBytes, slotBytes)] });
  }
  return station;
}

function send({ queuePair, verbs }: Station, group: Uint8Array, byte: number, gidIndex = 0): void {
  queuePair.postSend({
    opcode: Opcode.send,
    inlineData: Uint8Array.of(byte),
    addressHandle: verbs.protectionDomain.createAddressHandle({
      port: 1,
      isGlobal: true,
      hopLimit: 1,
      gidIndex,
      destinationGid: group,
    }),
    destinationQueuePair: everyone,
    queueKey,
  });
}

/** Waits for one datagram, checks that no other has arrived, and returns its first byte. */
async function hear({ verbs: { completionQueue }, region }: Station): Promise<number> {
  const completions = Array.from({ length: 2 }, () => new Completion());
  await completionQueue.wait({ timeout });
  expect(completionQueue.poll(completions)).toBe(1);
  const { wrId } = completions[0]!;
  return region.bytes[wrId * slotBytes + routeBytes]!;
}

describe('multicast over UDP', () => {
  it('reaches the members of a group on all boards of the machine, including the sender, exactly once', async () => {
    const stations = Array.from({ length: 3 }, () => makeListener({ link: `udp:${newAddress()}` }));
    const [group, other] = [newGroup(), newGroup()];
    for (const { queuePair } of stations) {
      queuePair.attachMulticast(group);
      queuePair.attachMulticast(other);
    }
    send(stations[0]!, group, 1);
    expect(await Promise.all(stations.map(hear))).toEqual([1, 1, 1]);
    stations[1]!.queuePair.detachMulticast(group);
    send(stations[2]!, group, 2);
    expect(await Promise.all([stations[0]!, stations[2]!].map(hear))).toEqual([2, 2]);
    // A member of the group would have received the datagram of the group before this one.
    send(stations[2]!, other, 3);
    expect(await Promise.all(stations.map(hear))).toEqual([3, 3, 3]);
  });

  it('leaves a group with the last member of a board, and joins it again', async () => {
    const [from, to] = [1, 2].map(() => makeListener({ link: `udp:${newAddress()}` })) as [Station, Station];
    const group = newGroup();
    const second = makeStation(to.verbs);
    to.queuePair.attachMulticast(group);
    second.queuePair.attachMulticast(group);
    second.queuePair.close();
    send(from, group, 1);
    expect(await hear(to)).toBe(1);
    const descriptors = (): number => readdirSync('/proc/self/fd').length;
    const before = descriptors(); // one is of the group
    to.queuePair.detachMulticast(group);
    expect(descriptors()).toBe(before - 1);
    to.queuePair.attachMulticast(group);
    send(from, group, 2);
    expect(await hear(to)).toBe(2);
  });

  it('reports that a group of the other IP version is unreachable', () => {
    const { queuePair } = makeListener({ link: `udp:${newAddress()}` });
    expect(() => queuePair.attachMulticast(newGroup(6))).toThrow(
      expect.objectContaining({
        code: 'ENETUNREACH',
        verb: 'attachMulticast',
        expected:
          "a group of the IP version of the port's address, and on IPv6 a route to it (ip -6 route get GROUP)",
      }),
    );
    expect(() => queuePair.detachMulticast(newGroup(6))).toThrow(expect.objectContaining({ code: 'EINVAL' }));
  });
});

function ethernetLinks(): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-multicast-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return ['a,b', 'b,a'].map((ends) => `ethernet:${ends.replaceAll(/[ab]/g, `${folder}/$&`)}`);
}

describe.each([
  ['shared memory', (): string[] => Array.from({ length: 2 }, () => `shm:multicast ${process.pid} ${last}`)],
  ['Ethernet frames', ethernetLinks],
])('multicast over %s', (_, linksOf) => {
  it.each([
    [6, 0],
    [4, 1],
  ] as const)('reaches both ends over IPv%d', async (version, gidIndex) => {
    const group = newGroup(version);
    const [near, far] = linksOf().map((link, boardNumber) => makeListener({ link, boardNumber }));
    for (const { queuePair } of [near!, far!]) queuePair.attachMulticast(group);
    send(near!, group, 4, gidIndex);
    expect(await Promise.all([near!, far!].map(hear))).toEqual([4, 4]);
    send(far!, group, 5, gidIndex);
    expect(await Promise.all([near!, far!].map(hear))).toEqual([5, 5]);
  });
});
