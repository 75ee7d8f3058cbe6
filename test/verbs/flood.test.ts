import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';

import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { CompletionStatus, Opcode } from '../../lib/index.ts';
import { Random } from '../helpers/random.mjs';
import { connect, makeEnd, makeMemory, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const messageBytes = 3000; // three packets
const messages = 24;
/** Invalid packets for each message. */
const flood = 60;

/** Two ends on separate boards, on an InfiniBand fabric, where any inverted bit makes a packet invalid. */
function makeEnds(): [End, End] {
  const fabric = `flood ${randomUUID()}`;
  const ends = [0, 1].map(() => makeEnd(makeVerbs(stepped, { fabric, linkLayer: 'infiniband' }))) as [
    End,
    End,
  ];
  for (const [from, to] of [ends, ends.toReversed() as [End, End]]) {
    const destinationLocalIdentifier = to.verbs.context.queryPort(1).localIdentifier;
    connect(from, to, { addressVector: { port: 1, destinationLocalIdentifier }, timeout: 10 });
  }
  return ends;
}

const dropped = ({ verbs: { context } }: End): number =>
  readNamed(
    context.driver.device.controlPage!,
    registerNamed(blockNamed('control'), 'packets_dropped'),
  ).values.reduce((sum: number, value) => sum + Number(value), 0);

/**
 * A packet that every receiver drops: a sent packet with an inverted bit, the beginning of one, or random
 * bytes.
 */
function invalid(random: Random, packet: Uint8Array): Uint8Array {
  switch (random.below(4)) {
    case 0:
      return Uint8Array.from({ length: 1 + random.below(4200) }, () => random.below(256));
    case 1:
      return packet.slice(0, 1 + random.below(packet.length - 1));
    default: {
      const damaged = packet.slice();
      damaged[random.below(packet.length)]! ^= 1 << random.below(8);
      return damaged;
    }
  }
}

it('a flood of invalid packets at both ends neither stops a connection nor changes its data', () => {
  const random = new Random(7);
  const ends = makeEnds();
  const [from, to] = ends;
  const [source, target] = [makeMemory(from, messageBytes), makeMemory(to, messageBytes)];
  for (const { verbs } of ends) verbs.board.startPacketTrace();
  let sent = 0;
  for (let message = 0; message < messages; message++) {
    source.data.fill(message + 1);
    to.queuePair.postReceive({ scatter: [target.region.slice()] });
    from.queuePair.postSend({ opcode: Opcode.send, signaled: true, gather: [source.region.slice()] });
    // They arrive before, between and after the valid packets.
    for (let burst = 0; burst < flood / 4; burst++) {
      for (const end of ends) {
        const { board } = end.verbs;
        const seen = ends
          .flatMap(({ verbs }) => verbs.board.takePackets())
          .filter(({ direction }) => direction === 'out');
        const { data } = seen.length === 0 ? { data: new Uint8Array(64) } : random.pick(seen);
        for (let count = 0; count < 4; count++) board.arrive(invalid(random, data));
        sent += 4;
        board.step(random.below(30));
      }
    }
    expect(settle(from)).toMatchObject([{ status: CompletionStatus.success }]);
    expect(settle(to)).toMatchObject([{ status: CompletionStatus.success, byteLength: messageBytes }]);
    expect(target.data.every((byte) => byte === message + 1)).toBe(true);
  }
  expect(dropped(from) + dropped(to)).toBe(sent);
});
