import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';

import type { PortPacket } from '../../lib/board/addon.ts';
import { CompletionStatus, Opcode } from '../../lib/index.ts';
import { makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const ethernetHeader = 14;
const ipv6Header = 40;
const udpHeader = 8;
/** Packets that already wait for the port. */
const waiting = 4;

/** Destination queue pair of a RoCEv2 packet. */
function destinationOf(bytes: Uint8Array): number {
  const transport = ethernetHeader + ipv6Header + udpHeader;
  return (bytes[transport + 5]! << 16) | (bytes[transport + 6]! << 8) | bytes[transport + 7]!;
}

it('a long WRITE delays the SEND of another queue pair by a few packets', () => {
  const verbs = makeVerbs();
  const [writer, written] = makePair(verbs);
  const [sender, receiver] = makePair(verbs);
  const { region: from } = makeMemory(writer, 16 << 20, 1);
  const { region: to } = makeMemory(written, 16 << 20, 2);
  writer.queuePair.postSend({
    opcode: Opcode.rdmaWrite,
    gather: [from.slice()],
    remote: to.remote(),
    wrId: 1,
    signaled: true,
  });
  verbs.board.step(20_000);
  verbs.board.startPacketTrace(1000);
  receiver.queuePair.postReceive({ wrId: 2 });
  sender.queuePair.postSend({ opcode: Opcode.send, wrId: 3, signaled: true });
  verbs.board.step(2000);
  const destinations = verbs.board
    .takePackets()
    .filter(({ direction }) => direction === 'out')
    .map(({ data }) => destinationOf(data));
  const before = destinations.indexOf(receiver.queuePair.number);
  expect(before).toBeGreaterThanOrEqual(0);
  expect(
    destinations.slice(0, before).filter((number) => number === written.queuePair.number).length,
  ).toBeLessThan(waiting + 4);
  // The WRITE is far from its end, and succeeds later.
  expect(
    destinations.slice(before).filter((number) => number === written.queuePair.number).length,
  ).toBeGreaterThan(16);
  const done = settle(writer);
  expect(done.every(({ status }) => status === CompletionStatus.success)).toBe(true);
  expect(done.map(({ wrId }) => wrId)).toEqual([2, 3, 1]);
  expect(Buffer.compare(to.bytes, from.bytes)).toBe(0);
});

/** Positions of the packets to a queue pair among all packets of one direction at a port. */
function placesOf(packets: readonly PortPacket[], direction: 'in' | 'out', { queuePair }: End): number[] {
  return packets
    .filter((packet) => packet.direction === direction)
    .flatMap(({ data }, place) => (destinationOf(data) === queuePair.number ? [place] : []));
}

it.each([
  ['one board', 1],
  ['two boards', 2],
])('long READs both ways delay a SEND by a few packets, on its way out and in, on %s', (_, boards) => {
  const fabric = randomUUID();
  const here = makeVerbs(stepped, { fabric });
  const there = boards === 1 ? here : makeVerbs(stepped, { fabric });
  const bytes = 4 << 20;
  const [reader, read] = makePair(here, {}, there);
  for (const [from, to] of [
    [reader, read],
    [read, reader],
  ] as const)
    from.queuePair.postSend({
      opcode: Opcode.rdmaRead,
      gather: [makeMemory(from, bytes, 1).region.slice()],
      remote: makeMemory(to, bytes, 2).region.remote(),
      wrId: 1,
      signaled: true,
    });
  const [sender, receiver] = makePair(there, {}, here);
  here.board.step(20_000);
  for (const [from, to, answered] of [
    [sender, receiver, reader],
    [receiver, sender, read],
  ] as const) {
    for (const { board } of [here, there]) board.startPacketTrace(4000);
    to.queuePair.postReceive({ wrId: 2 });
    from.queuePair.postSend({ opcode: Opcode.send, wrId: 3, signaled: true });
    here.board.step(4000);
    const left = from.verbs.board.takePackets();
    const arrived = from.verbs === to.verbs ? left : to.verbs.board.takePackets();
    for (const [packets, direction, atMost] of [
      [left, 'out', waiting + 4],
      [arrived, 'in', 2 * waiting + 4],
    ] as const) {
      const [place] = placesOf(packets, direction, to);
      expect(place, `its place among the packets that went ${direction}`).toBeDefined();
      expect(place).toBeLessThan(atMost);
      // The answers continue.
      expect(placesOf(packets, direction, answered).length).toBeGreaterThan(2 * atMost);
    }
  }
  const done = [...settle(sender), ...(boards === 1 ? [] : settle(receiver))];
  expect(done.every(({ status }) => status === CompletionStatus.success)).toBe(true);
  expect(done.map(({ wrId }) => wrId).toSorted((a, b) => a - b)).toEqual([1, 1, 2, 2, 3, 3]);
});
