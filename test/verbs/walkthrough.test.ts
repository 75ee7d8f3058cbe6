import { describe, expect, it } from 'vitest';

import { CompletionStatus, Opcode, PathMtu, type Completion, type SendRequest } from '../../lib/index.ts';
import { Syndrome } from '../../lib/spec/index.ts';
import { connect, makeEnd, makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';
import { packetsSent, type WirePacket } from './wire.ts';

const mtu = 256;
const firstPsn = 201;

/** A work request of the walkthrough, and its packets on the wire. */
interface Row {
  readonly name: string;
  readonly opcode: Opcode;
  readonly bytes: number;
  readonly requestPackets: number;
  /** PSNs that it uses: an RDMA READ uses one for each response. */
  readonly psns: readonly [first: number, last: number];
  readonly nextPsn: number;
  readonly takesReceive: boolean;
}

const rows: readonly Row[] = [
  {
    name: 'SEND of 5 packets',
    opcode: Opcode.send,
    bytes: 5 * mtu - 3,
    requestPackets: 5,
    psns: [201, 205],
    nextPsn: 206,
    takesReceive: true,
  },
  {
    name: 'SEND of 52 packets',
    opcode: Opcode.send,
    bytes: 52 * mtu - 1,
    requestPackets: 52,
    psns: [206, 257],
    nextPsn: 258,
    takesReceive: true,
  },
  {
    name: 'RDMA WRITE of 9 packets',
    opcode: Opcode.rdmaWrite,
    bytes: 9 * mtu,
    requestPackets: 9,
    psns: [258, 266],
    nextPsn: 267,
    takesReceive: false,
  },
  {
    name: 'RDMA READ with 6 responses',
    opcode: Opcode.rdmaRead,
    bytes: 6 * mtu - 100,
    requestPackets: 1,
    psns: [267, 272],
    nextPsn: 273,
    takesReceive: false,
  },
  {
    name: 'SEND of one packet',
    opcode: Opcode.send,
    bytes: 64,
    requestPackets: 1,
    psns: [273, 273],
    nextPsn: 274,
    takesReceive: true,
  },
  {
    name: 'compare and swap',
    opcode: Opcode.atomicCompareAndSwap,
    bytes: 8,
    requestPackets: 1,
    psns: [274, 274],
    nextPsn: 275,
    takesReceive: false,
  },
];

/** Opcode of packet `index` of `count`. */
function inMessage(name: string, index: number, count: number): string {
  if (count === 1) return `${name}_only`;
  return `${name}_${index === 0 ? 'first' : index === count - 1 ? 'last' : 'middle'}`;
}

const payloadOf = (bytes: number, index: number): number => Math.min(mtu, bytes - index * mtu);

type Expected = Partial<WirePacket> & Pick<WirePacket, 'opcode' | 'psn' | 'extended' | 'payloadBytes'>;

/** The request packets of a row. */
function requestsOf({ opcode, bytes, requestPackets, psns: [first] }: Row, place: Place): Expected[] {
  const remote = { virtualAddress: place.address, remoteKey: place.key };
  const single = { psn: first, acknowledgeRequest: true, payloadBytes: 0, ...remote };
  switch (opcode) {
    case Opcode.rdmaRead:
      return [
        {
          ...single,
          opcode: 'rdma_read_request',
          extended: ['rdma_extended_transport_header'],
          dmaLength: bytes,
        },
      ];
    case Opcode.atomicCompareAndSwap:
      return [{ ...single, opcode: 'compare_and_swap', extended: ['atomic_extended_transport_header'] }];
    default: {
      const isWrite = opcode === Opcode.rdmaWrite;
      return Array.from({ length: requestPackets }, (_, index) => {
        const named = isWrite && index === 0;
        const payloadBytes = payloadOf(bytes, index);
        return {
          opcode: inMessage(isWrite ? 'rdma_write' : 'send', index, requestPackets),
          psn: first + index,
          acknowledgeRequest: index === requestPackets - 1,
          extended: named ? ['rdma_extended_transport_header'] : [],
          payloadBytes,
          padBytes: (4 - (payloadBytes % 4)) % 4,
          ...(named ? { ...remote, dmaLength: bytes } : {}),
        };
      });
    }
  }
}

/**
 * Answers to a row, the `message`th of its connection: without coalescing, each request packet has its ACK.
 */
function answersOf({ opcode, bytes, psns: [first, last] }: Row, message: number): Expected[] {
  const count = last - first + 1;
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    const acknowledged = { syndrome: Syndrome.acknowledgeWithoutCredits, messageSequenceNumber: message };
    const header = 'acknowledge_extended_transport_header';
    const psn = first + index;
    if (opcode === Opcode.rdmaRead) {
      const told = index === 0 || isLast;
      return {
        opcode: inMessage('rdma_read_response', index, count),
        psn,
        extended: told ? [header] : [],
        payloadBytes: payloadOf(bytes, index),
        ...(told ? acknowledged : { syndrome: undefined }),
      };
    }
    if (opcode === Opcode.atomicCompareAndSwap) {
      return {
        opcode: 'atomic_acknowledge',
        psn,
        extended: [header, 'atomic_acknowledge_extended_transport_header'],
        payloadBytes: 0,
        ...acknowledged,
      };
    }
    return {
      opcode: 'acknowledge',
      psn,
      extended: [header],
      payloadBytes: 0,
      ...acknowledged,
      // The number of complete messages.
      messageSequenceNumber: isLast ? message : message - 1,
    };
  });
}

interface Place {
  readonly address: bigint;
  readonly key: number;
}

interface Stage {
  readonly from: End;
  readonly to: End;
  readonly requests: readonly SendRequest[];
  readonly place: Place;
  readonly settled: () => Completion[];
  readonly packets: () => WirePacket[];
}

/** Two queue pairs, the work requests of the table, and the tap at the port. */
function makeStage(): Stage {
  const verbs = makeVerbs(stepped, { acknowledgeCoalescing: false });
  const [from, to] = makePair(verbs, { pathMtu: PathMtu.mtu256 });
  const { region: source } = makeMemory(from, 64 * mtu, 1);
  const { region: target } = makeMemory(to, 64 * mtu, 2);
  for (let wrId = 100; wrId < 103; wrId++) to.queuePair.postReceive({ wrId, scatter: [target.slice()] });
  verbs.board.startPacketTrace(1000);
  return {
    from,
    to,
    requests: rows.map(({ opcode, bytes }, wrId) => ({
      opcode,
      wrId,
      signaled: true,
      gather: [source.slice(0, bytes)],
      remote: target.remote(),
      compareAdd: 0n,
      swap: 0n,
    })),
    place: { address: target.address, key: target.remoteKey },
    settled: () => settle(from),
    packets: () => packetsSent(verbs.board.takePackets()),
  };
}

const destinedTo = (packets: readonly WirePacket[], { queuePair }: End): WirePacket[] =>
  packets.filter(({ destinationQueuePair }) => destinationQueuePair === queuePair.number);

describe('the walkthrough of a reliable connection (transport.md)', () => {
  it('is on the wire packet by packet, if each message waits for the previous one', () => {
    const { from, to, requests, place, settled, packets } = makeStage();
    let receives = 0;
    for (const [index, row] of rows.entries()) {
      from.queuePair.postSend(requests[index]!);
      const completions = settled();
      const seen = packets();
      expect(destinedTo(seen, to), row.name).toMatchObject(requestsOf(row, place));
      expect(destinedTo(seen, from), row.name).toMatchObject(answersOf(row, index + 1));
      // RDMA WRITE, READ and atomics take no receive.
      expect(
        completions.map(({ workQueue, wrId, status }) => ({ workQueue, wrId, status })),
        row.name,
      ).toEqual([
        ...(row.takesReceive
          ? [{ workQueue: 1, wrId: 100 + receives++, status: CompletionStatus.success }]
          : []),
        { workQueue: 0, wrId: index, status: CompletionStatus.success },
      ]);
      expect(from.queuePair.query().sendPsn, `nPSN after ${row.name}`).toBe(row.nextPsn);
      expect(to.queuePair.query().receivePsn, `ePSN after ${row.name}`).toBe(row.nextPsn);
    }
  });

  it('is the same if all are posted at once: requests stream, each answer follows its request', () => {
    const { from, to, requests, place, settled, packets } = makeStage();
    from.queuePair.postSend(requests);
    const completions = settled();
    const seen = packets();
    expect(destinedTo(seen, to)).toMatchObject(rows.flatMap((row) => requestsOf(row, place)));
    expect(destinedTo(seen, from)).toMatchObject(rows.flatMap((row, index) => answersOf(row, index + 1)));
    for (const [at, answer] of seen.entries()) {
      if (answer.destinationQueuePair !== from.queuePair.number) continue;
      const asked = seen
        .slice(0, at)
        .findLast(({ destinationQueuePair }) => destinationQueuePair === to.queuePair.number);
      // Of the answers that left before it, the newest is at or behind the PSN that it answers, or belongs to
      // the READ.
      const [first] = rows.find(({ psns }) => answer.psn <= psns[1])!.psns;
      expect(asked!.psn).toBeGreaterThanOrEqual(
        answer.opcode.startsWith('rdma_read_response') ? first : answer.psn,
      );
    }
    const sends = completions.filter(({ workQueue }) => workQueue === 0);
    expect(sends.map(({ wrId }) => wrId)).toEqual(rows.map((_, index) => index));
    const receives = completions.filter(({ workQueue }) => workQueue === 1);
    expect(receives.map(({ wrId, byteLength }) => [wrId, byteLength])).toEqual([
      [100, rows[0]!.bytes],
      [101, rows[1]!.bytes],
      [102, rows[4]!.bytes],
    ]);
    expect(from.queuePair.query()).toMatchObject({ sendPsn: 275, receivePsn: firstPsn });
    expect(to.queuePair.query()).toMatchObject({ sendPsn: firstPsn, receivePsn: 275 });
  });

  it('continues with 0 after the last PSN', () => {
    const verbs = makeVerbs(stepped, { acknowledgeCoalescing: false });
    const psn = 0xff_fffe;
    const [from, to] = [makeEnd(verbs), makeEnd(verbs)];
    connect(from, to, { pathMtu: PathMtu.mtu256, sendPsn: psn });
    connect(to, from, { pathMtu: PathMtu.mtu256, receivePsn: psn });
    const { region } = makeMemory(from, 4 * mtu);
    verbs.board.startPacketTrace(100);
    from.queuePair.postSend([
      { opcode: Opcode.rdmaRead, gather: [region.slice()], remote: region.remote() },
      { opcode: Opcode.rdmaWrite, gather: [region.slice(0, 1)], remote: region.remote(), signaled: true },
    ]);
    expect(settle(from)).toMatchObject([{ status: CompletionStatus.success }]);
    const seen = packetsSent(verbs.board.takePackets());
    expect(destinedTo(seen, to).map((packet) => packet.psn)).toEqual([psn, 2]);
    expect(destinedTo(seen, from).map((packet) => packet.psn)).toEqual([psn, psn + 1, 0, 1, 2]);
    expect(from.queuePair.query().sendPsn).toBe(3);
  });

  it('has immediate data in the last packet only, and RETH in the first', () => {
    const { from, to, requests, packets, settled } = makeStage();
    const { gather, remote } = requests[0]!;
    for (const [opcode, name] of [
      [Opcode.sendWithImmediate, 'send'],
      [Opcode.rdmaWriteWithImmediate, 'rdma_write'],
    ] as const) {
      from.queuePair.postSend({ opcode, gather: gather!, remote: remote!, immediateData: 5 });
      settled();
      const reth = name === 'send' ? [] : ['rdma_extended_transport_header'];
      expect(destinedTo(packets(), to)).toMatchObject([
        { opcode: `${name}_first`, extended: reth },
        ...Array.from({ length: 3 }, () => ({ opcode: `${name}_middle`, extended: [] })),
        { opcode: `${name}_last_with_immediate`, extended: ['immediate_extended_transport_header'] },
      ]);
    }
    from.queuePair.postSend({
      opcode: Opcode.rdmaWriteWithImmediate,
      gather: [],
      remote: remote!,
      immediateData: 5,
    });
    settled();
    expect(destinedTo(packets(), to)).toMatchObject([
      {
        opcode: 'rdma_write_only_with_immediate',
        extended: ['rdma_extended_transport_header', 'immediate_extended_transport_header'],
        payloadBytes: 0,
        dmaLength: 0,
      },
    ]);
  });
});
