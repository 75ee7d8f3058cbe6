import { randomUUID } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { Completion, Opcode, type AddressHandle } from '../../lib/index.ts';
import { makeStation, queueKey, routeBytes, type Station } from '../helpers/datagram.ts';
import { makeQueuePair, makeVerbs, stepped } from '../helpers/make_verbs.ts';

const everyone = 0xff_ffff;
const bytesOf = (digits: string): Uint8Array => Uint8Array.from(Buffer.from(digits, 'hex'));
const groups = {
  ipv6: bytesOf('ff12601bffff00000000000012345678'),
  ipv4: bytesOf('00000000000000000000ffffe0010203'),
} as const;
type Kind = keyof typeof groups;
const kinds = Object.keys(groups) as Kind[];

/** An address handle of a group, from the first GID of its kind. */
function addressOf({ verbs }: Station, kind: Kind, multicastLid = 0): AddressHandle {
  return verbs.protectionDomain.createAddressHandle({
    port: 1,
    isGlobal: true,
    hopLimit: 1,
    gidIndex: kind === 'ipv6' ? 0 : 1,
    destinationGid: groups[kind],
    destinationLocalIdentifier: multicastLid,
  });
}

/** Sends to a group. */
function send(from: Station, addressHandle: AddressHandle, byte = 1): void {
  from.queuePair.postSend({
    opcode: Opcode.send,
    inlineData: Uint8Array.of(byte),
    addressHandle,
    destinationQueuePair: everyone,
    queueKey,
  });
}

/** Posts a receive to each. */
function listen(...stations: readonly Station[]): void {
  for (const { queuePair, region } of stations) {
    region.bytes.fill(0);
    queuePair.postReceive({ scatter: [region.slice(0, 100)] });
  }
}

/** The first byte of the datagram that each has received, or nothing. */
function received(...stations: readonly Station[]): (number | undefined)[] {
  return stations.map(({ verbs: { board, completionQueue }, region }) => {
    board.runUntilIdle();
    const completions = Array.from({ length: 4 }, () => new Completion());
    const count = completionQueue.poll(completions);
    expect(count).toBeLessThan(2);
    return count === 0 ? undefined : region.bytes[routeBytes];
  });
}

describe.each(kinds)('a multicast group of %s', (kind) => {
  it('reaches each member, on the sender’s board and on others, including the sender', () => {
    const fabric = `multicast-${randomUUID()}`;
    const [near, far] = [1, 2].map(() => makeVerbs(stepped, { fabric, queuePairs: 32 }));
    const from = makeStation(near!);
    const members = [from, makeStation(near!), makeStation(far!), makeStation(far!)];
    const others = [makeStation(near!), makeStation(far!)];
    for (const { queuePair } of members) {
      queuePair.attachMulticast(groups[kind]);
      queuePair.attachMulticast(groups[kind]); // once is enough
    }
    for (const { queuePair } of others) queuePair.attachMulticast(bytesOf(`ff${'0'.repeat(29)}1`));
    listen(...members, ...others);
    send(from, addressOf(from, kind), 7);
    expect(received(...members, ...others)).toEqual([7, 7, 7, 7, undefined, undefined]);
    members[2]!.queuePair.detachMulticast(groups[kind]);
    members[3]!.queuePair.close();
    listen(...members.slice(0, 2));
    send(from, addressOf(from, kind), 8);
    expect(received(...members.slice(0, 3))).toEqual([8, 8, undefined]);
    for (const { context } of [near!, far!]) expect(context.queryPort(1)).toMatchObject({ badQueueKeys: 0 });
  });

  it('is lost only by a member without a receive, or with another Q_Key', () => {
    const verbs = makeVerbs(stepped, { queuePairs: 32 });
    const from = makeStation(verbs);
    const members = [makeStation(verbs), makeStation(verbs, queueKey + 1), makeStation(verbs)];
    for (const { queuePair } of members) queuePair.attachMulticast(groups[kind]);
    listen(members[1]!, members[2]!);
    send(from, addressOf(from, kind), 9);
    expect(received(...members)).toEqual([undefined, undefined, 9]);
    expect(verbs.context.queryPort(1).badQueueKeys).toBe(1);
    expect(from.verbs.context.queryPort(1).badPartitionKeys).toBe(0);
  });
});

it('a group on InfiniBand has a multicast LID', () => {
  const fabric = `multicast-${randomUUID()}`;
  const [near, far] = [1, 2].map(() =>
    makeStation(makeVerbs(stepped, { fabric, queuePairs: 32, linkLayer: 'infiniband' })),
  );
  far!.queuePair.attachMulticast(groups.ipv6);
  listen(far!);
  send(near!, addressOf(near!, 'ipv6', 0xc001), 3);
  expect(received(far!)).toEqual([3]);
});

describe('attaching', () => {
  it('is for groups, and for queue pairs of unreliable datagram', () => {
    const verbs = makeVerbs();
    const { queuePair } = makeStation(verbs);
    expect(() => queuePair.attachMulticast(verbs.context.queryGid(1, 0))).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'gid' }),
    );
    expect(() => queuePair.detachMulticast(groups.ipv6)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    expect(() => makeQueuePair(verbs).attachMulticast(groups.ipv6)).toThrow(
      expect.objectContaining({ code: 'EINVAL', verb: 'attachMulticast' }),
    );
  });

  it('has 256 places, which are freed when a queue pair is closed', () => {
    const verbs = makeVerbs();
    const [first, second] = [makeStation(verbs), makeStation(verbs)];
    const group = (index: number): Uint8Array =>
      bytesOf(`ff${'0'.repeat(26)}${(0x1000 + index).toString(16)}`);
    for (let index = 0; index < 256; index++) first.queuePair.attachMulticast(group(index));
    expect(() => second.queuePair.attachMulticast(group(0))).toThrow(
      expect.objectContaining({ code: 'ENOMEM', attribute: 'multicastMembers' }),
    );
    first.queuePair.close();
    second.queuePair.attachMulticast(group(0));
    listen(second);
    send(second, addressOf(second, 'ipv6'));
    expect(received(second)).toEqual([undefined]);
  });
});
