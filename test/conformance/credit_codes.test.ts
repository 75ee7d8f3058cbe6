// A requester that the test, as its peer, limits by each credit code.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { Opcode } from '../../lib/index.ts';
import { connect, makeEnd, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';
import { buildPacket, nameOf, noPacket, opcodeOf, readPacket, type Route } from './wire.ts';

/** Credits of the codes 0 to 30; 31: no count (InfiniBand volume 1, 9.7.7.2, table of the encoding). */
const creditsOfCode = [
  0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
  6144, 8192, 12_288, 16_384, 24_576, 32_768,
];
const withoutCount = 0x1f;
/** Room of a send queue. */
const mostSends = 32_768;

/** The test is the peer of a queue pair that has posted SENDs. */
class Peer {
  private readonly verbs: Verbs;
  private readonly from: End;
  private readonly route: Route;

  constructor(sends: number) {
    const fabric = randomUUID();
    const [verbs, silent] = [
      makeVerbs(stepped, { fabric, pageTableEntries: 65_536 }),
      makeVerbs(stepped, { fabric }),
    ];
    this.verbs = verbs;
    this.from = makeEnd(verbs, { capabilities: { maxSendWorkRequests: sends } });
    connect(this.from, makeEnd(silent), { endToEndCredits: true });
    const [here, there] = [verbs.context, silent.context];
    this.route = {
      sourceMac: there.queryPort(1).mac,
      sourceGid: there.queryGid(1, 0),
      destinationMac: here.queryPort(1).mac,
      destinationGid: here.queryGid(1, 0),
    };
    verbs.board.startPacketTrace(100_000);
    for (let wrId = 0; wrId < sends; wrId++) this.from.queuePair.postSend({ opcode: Opcode.send, wrId });
  }

  /** SENDs that have left since the last call. */
  sent(): number {
    const { board } = this.verbs;
    board.runUntilIdle();
    return board
      .takePackets()
      .filter(({ direction, data }) => direction === 'out' && nameOf(readPacket(data).opcode) === 'send_only')
      .length;
  }

  acknowledge(messages: number, code: number): void {
    const packet = {
      ...noPacket,
      opcode: opcodeOf('acknowledge', 'RC'),
      destinationQueuePair: this.from.queuePair.number,
      psn: 201 + messages - 1,
      syndrome: code,
      messageSequenceNumber: messages,
    };
    this.verbs.board.arrive(buildPacket(this.route, packet));
  }
}

describe('a requester with end-to-end credits', () => {
  it('sends as many SENDs as each code of the table allows', () => {
    for (const [code, value] of creditsOfCode.entries()) {
      const sends = Math.min(value + 2, mostSends);
      const peer = new Peer(sends);
      expect(peer.sent()).toBe(1);
      peer.acknowledge(1, code);
      let messageSequenceNumber = 1;
      for (let more = peer.sent(); more > 0; more = peer.sent()) {
        messageSequenceNumber += more;
        // a credit code of 0 takes no granted credit back
        peer.acknowledge(messageSequenceNumber, 0);
      }
      expect([code, messageSequenceNumber - 1]).toEqual([code, Math.min(value, sends - 1)]);
    }
  });

  it('is limited for the first message only if the peer gives no count', () => {
    const peer = new Peer(20);
    expect(peer.sent()).toBe(1);
    peer.acknowledge(1, withoutCount);
    expect(peer.sent()).toBe(19);
  });
});
