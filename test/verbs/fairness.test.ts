import { expect, it } from 'vitest';

import { CompletionStatus, Opcode } from '../../lib/index.ts';
import { makeMemory, makePair, settle } from './connected.ts';
import { makeVerbs } from './make_verbs.ts';

const ethernetHeader = 14;
const ipv6Header = 40;
const udpHeader = 8;
/** Packets that wait for the port already. */
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
  // The WRITE is far from its end, and ends well.
  expect(
    destinations.slice(before).filter((number) => number === written.queuePair.number).length,
  ).toBeGreaterThan(16);
  const done = settle(writer);
  expect(done.every(({ status }) => status === CompletionStatus.success)).toBe(true);
  expect(done.map(({ wrId }) => wrId)).toEqual([2, 3, 1]);
  expect(Buffer.compare(to.bytes, from.bytes)).toBe(0);
});
