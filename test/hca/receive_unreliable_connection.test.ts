import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CompletionStatus, EventType, QueuePairState, ServiceType } from '../../lib/spec/index.ts';
import { HostResponder, pattern, rights, type Region, type Requester } from './host_responder.ts';
import type { PacketFields } from '../helpers/packet_port.ts';

const mtu = 256;
const entryBytes = 2048;

/** A responder of an unreliable connection, a region, and receives posted into its pieces. */
function start(
  receives = 8,
  settings: Parameters<HostResponder['queuePair']>[0] = {},
): { host: HostResponder; peer: Requester; region: Region } {
  const host = new HostResponder();
  const region = host.region(64 * 1024);
  const peer = host.queuePair({ service: ServiceType.unreliableConnection, ...settings });
  for (let index = 0; index < receives; ++index)
    peer.postReceive([{ region, offset: index * entryBytes, length: entryBytes }]);
  return { host, peer, region };
}

/** Number, length and status of the completed receives. */
function completed(host: HostResponder): [unknown, unknown, unknown][] {
  expect(host.take()).toEqual([]); // no packet is ever answered
  return host
    .completions()
    .map(({ sequence_number: number, byte_length: length, status }) => [number, length, status]);
}

const { success, localLengthError, remoteAccessError, workRequestFlushedError } = CompletionStatus;

describe('receive, of an unreliable connection', () => {
  it('executes messages and answers none', () => {
    const { host, peer, region } = start();
    peer.message('send', pattern(3 * mtu + 1, 1));
    peer.write(region, 32_768, pattern(2 * mtu, 2));
    peer.write(region, 36_864, pattern(5, 3), { immediateData: 0x1234_5678 });
    peer.message('send', pattern(0));
    expect(completed(host)).toEqual([
      [0, 3 * mtu + 1, success],
      [1, 5, success],
      [2, 0, success],
    ]);
    expect(region.bytes.subarray(0, 3 * mtu + 1)).toEqual(pattern(3 * mtu + 1, 1));
    expect(region.bytes.subarray(32_768, 32_768 + 2 * mtu)).toEqual(pattern(2 * mtu, 2));
    expect(region.bytes.subarray(36_864, 36_869)).toEqual(pattern(5, 3));
    expect(peer.responder()).toMatchObject({ expected_psn: 209 });
    expect(host.port.counters(1)).toMatchObject({ requestsDropped: 0, negativeAcknowledges: 0 });
    expect(host.port.verify()).toBeNull();
  });

  it('loses a message with a missing packet, whose receive the next message takes', () => {
    const { host, peer, region } = start();
    peer.packet('send_first', {}, pattern(mtu, 1));
    peer.psn += 1; // a middle is lost
    peer.packet('send_middle', {}, pattern(mtu, 1));
    peer.packet('send_last', {}, pattern(10, 1));
    peer.packet('send_first', {}, pattern(mtu, 2));
    peer.psn += 1; // the last is lost
    peer.packet('rdma_write_only', {
      virtualAddress: region.address,
      remoteKey: region.key,
    });
    peer.message('send', pattern(2 * mtu, 3));
    peer.packet('send_first', {}, pattern(mtu, 4));
    peer.psn += 2;
    peer.write(region, 32_768, pattern(5, 5), { immediateData: 7 });
    expect(completed(host)).toEqual([
      [0, 2 * mtu, success],
      [1, 5, success],
    ]);
    expect(region.bytes.subarray(0, 2 * mtu)).toEqual(pattern(2 * mtu, 3));
    expect(host.port.counters(1)).toMatchObject({ requestsDropped: 2 });
    expect(host.port.verify()).toBeNull();
  });

  it('uses the scatter list of the receive again for the next message', () => {
    const { host, peer, region } = start(1);
    peer.packet('send_first', {}, pattern(mtu, 1));
    host.run();
    peer.psn += 1;
    peer.message('send', pattern(mtu + 1, 2));
    expect(completed(host)).toEqual([[0, mtu + 1, success]]);
    expect(region.bytes.subarray(0, mtu + 1)).toEqual(pattern(mtu + 1, 2));
  });

  it('drops a message without a posted receive, and only that one', () => {
    const { host, peer, region } = start(0);
    peer.message('send', pattern(2 * mtu));
    peer.write(region, 32_768, pattern(mtu), { immediateData: 7 });
    expect(completed(host)).toEqual([]);
    peer.postReceive([{ region, offset: 0, length: entryBytes }]);
    peer.message('send', pattern(2 * mtu, 2));
    expect(completed(host)).toEqual([[0, 2 * mtu, success]]);
    expect(host.port.counters(1)).toMatchObject({
      requestsDropped: 3,
      receiverNotReadyNegativeAcknowledges: 0,
    });
    expect(peer.state).toBe(QueuePairState.readyToReceive);
  });

  const dropped: [string, (peer: Requester, region: Region) => void][] = [
    ['a last without a first', (peer) => peer.packet('send_last', {}, pattern(9))],
    [
      'a middle of another operation',
      (peer) => {
        peer.packet('send_first', {}, pattern(mtu));
        peer.packet('rdma_write_middle', {}, pattern(mtu));
        peer.packet('send_last', {}, pattern(9));
      },
    ],
    ['a first that does not fill the path MTU', (peer) => peer.packet('send_first', {}, pattern(mtu - 1))],
    ['an only beyond the path MTU', (peer) => peer.packet('send_only', {}, pattern(mtu + 1))],
    [
      'an RDMA WRITE that ends early',
      (peer, region) =>
        peer.packet(
          'rdma_write_only_with_immediate',
          { virtualAddress: region.address, remoteKey: region.key, dmaLength: 10 },
          pattern(9),
        ),
    ],
    [
      'an RDMA WRITE with another key',
      (peer, region) => peer.write({ ...region, key: region.key ^ 1 }, 0, pattern(3 * mtu)),
    ],
    [
      'an RDMA WRITE of which a part lies outside the region',
      (peer, region) => peer.write(region, region.bytes.length - 2 * mtu, pattern(3 * mtu)),
    ],
  ];
  it.each(dropped)('drops %s, and continues', (_, send) => {
    const { host, peer, region } = start();
    send(peer, region);
    expect(completed(host)).toEqual([]);
    expect(region.bytes.subarray(entryBytes).every((byte) => byte === 0)).toBe(true);
    peer.message('send', pattern(2 * mtu, 6));
    expect(completed(host)).toEqual([[0, 2 * mtu, success]]);
    expect(region.bytes.subarray(0, 2 * mtu)).toEqual(pattern(2 * mtu, 6));
    expect(peer.state).toBe(QueuePairState.readyToReceive);
    expect(host.port.verify()).toBeNull();
  });

  it('drops RDMA WRITEs to a queue pair that lacks the right', () => {
    const { host, peer, region } = start(8, { access: rights.all & ~rights.remoteWrite });
    peer.write(region, 32_768, pattern(2 * mtu));
    expect(completed(host)).toEqual([]);
    expect(region.bytes.every((byte) => byte === 0)).toBe(true);
  });

  it.each<[string, CompletionStatus, number, (peer: Requester, region: Region) => void]>([
    [
      'a message of one packet that is too long',
      localLengthError,
      1,
      (peer) => peer.message('send', pattern(200)),
    ],
    [
      'a message that is too long from its middle on',
      localLengthError,
      4,
      (peer) => peer.message('send', pattern(5 * mtu)),
    ],
    [
      'an RDMA WRITE with immediate that is refused',
      remoteAccessError,
      1,
      (peer, region) => peer.write({ ...region, key: region.key ^ 1 }, 0, pattern(9), { immediateData: 1 }),
    ],
  ])('completes the receive of %s in error, and continues', (_, status, packets, send) => {
    const { host, peer, region } = start(0);
    const room = packets === 1 ? 199 : mtu + 100;
    peer.postReceive([{ region, offset: 0, length: room }]);
    peer.postReceive([{ region, offset: entryBytes, length: entryBytes }]);
    send(peer, region);
    peer.message('send', pattern(2 * mtu, 6));
    expect(completed(host)).toEqual([
      [0, 0, status],
      [1, 2 * mtu, success],
    ]);
    expect(region.bytes.subarray(room, entryBytes).every((byte) => byte === 0)).toBe(true);
    expect(region.bytes.subarray(entryBytes, entryBytes + 2 * mtu)).toEqual(pattern(2 * mtu, 6));
    expect(peer.state).toBe(QueuePairState.readyToReceive);
    expect(host.events()).toMatchObject([{ type: EventType.communicationEstablished }]);
    expect(host.port.counters(1)).toMatchObject({ requestsDropped: packets });
    expect(host.port.verify()).toBeNull();
  });

  it('leaves the receive of a message that is too long to the next message if its end is lost', () => {
    const { host, peer, region } = start(0);
    peer.postReceive([{ region, offset: 0, length: mtu + 100 }]);
    peer.packet('send_first', {}, pattern(mtu));
    peer.packet('send_middle', {}, pattern(mtu));
    peer.message('send', pattern(mtu + 1, 6));
    expect(completed(host)).toEqual([[0, mtu + 1, success]]);
    expect(region.bytes.subarray(0, mtu + 1)).toEqual(pattern(mtu + 1, 6));
    expect(host.port.verify()).toBeNull();
  });

  it('flushes the receive of a lost message, once', () => {
    const { host, peer } = start(2);
    peer.packet('send_first', {}, pattern(mtu));
    peer.psn += 1;
    peer.packet('send_last', {}, pattern(1));
    host.run();
    peer.state = QueuePairState.error;
    peer.flush();
    expect(completed(host)).toEqual([
      [0, 0, workRequestFlushedError],
      [1, 0, workRequestFlushedError],
    ]);
  });

  it('delivers complete messages in the order of their packets over a lossy, duplicating, reordering network', () => {
    const message = fc.record({
      kind: fc.constantFrom('send', 'write', 'write_with_immediate'),
      packets: fc.integer({ min: 1, max: 4 }),
    });
    const fate = fc.record({
      copies: fc.constantFrom(0, 1, 1, 1, 1, 1, 2),
      late: fc.constantFrom(0, 0, 0, 1, 3),
    });
    const fates = fc.array(fate, { minLength: 48, maxLength: 48 }); // of all possible packets
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 12 }), fates, (messages, chance) => {
        const { host, peer, region } = start(64);
        interface Sent {
          readonly message: number;
          readonly index: number;
          readonly of: number;
          readonly takesReceive: boolean;
          readonly psn: number;
          readonly send: () => void;
        }
        let psn = 201;
        const sent = messages.flatMap(({ kind, packets }, number) =>
          Array.from({ length: packets }, (_, index): Sent => {
            const position =
              packets === 1 ? 'only' : index === 0 ? 'first' : index === packets - 1 ? 'last' : 'middle';
            const isLast = index === packets - 1;
            const immediate = kind === 'write_with_immediate' && isLast ? '_with_immediate' : '';
            const fields: Partial<PacketFields> = {
              packetSequenceNumber: psn++,
              virtualAddress: region.address + 60_000n,
              remoteKey: region.key,
              dmaLength: packets * mtu,
              immediateData: number,
            };
            const opcode = `${kind === 'send' ? 'send' : 'rdma_write'}_${position}${immediate}`;
            return {
              message: number,
              index,
              of: packets,
              takesReceive: kind !== 'write',
              psn: fields.packetSequenceNumber!,
              send: () => void peer.packet(opcode, fields, pattern(mtu, number)),
            };
          }),
        );
        // The network loses, doubles and delays packets.
        const arriving = sent
          .flatMap((packet, at) => {
            const { copies, late } = chance[at]!;
            return Array.from({ length: copies }, (_, copy) => ({ packet, at: at + late * (copy + 1) }));
          })
          .toSorted((a, b) => a.at - b.at)
          .map(({ packet }) => packet);
        // A message is complete if its packets arrive in sequence, the first one after any gap.
        const whole: number[] = [];
        let next: Sent | undefined;
        for (const packet of arriving) {
          packet.send();
          const follows =
            next !== undefined && next.message === packet.message && next.index === packet.index;
          next = undefined;
          if (packet.index !== 0 && !follows) continue;
          if (packet.index < packet.of - 1) next = { ...packet, index: packet.index + 1 };
          else if (packet.takesReceive) whole.push(packet.message);
        }
        expect(host.take()).toEqual([]);
        const completions = host.completions();
        expect(completions.map(({ byte_length: length }) => length)).toEqual(
          whole.map((number) => messages[number]!.packets * mtu),
        );
        expect(completions.map(({ sequence_number: number }) => number)).toEqual(whole.map((_, at) => at));
        for (const [at, number] of whole.entries()) {
          if (messages[number]!.kind !== 'send') continue;
          const { packets } = messages[number]!;
          const data = region.bytes.subarray(at * entryBytes, at * entryBytes + packets * mtu);
          for (let index = 0; index < packets; ++index)
            expect(data.subarray(index * mtu, (index + 1) * mtu)).toEqual(pattern(mtu, number));
        }
        expect(host.port.verify()).toBeNull();
      }),
      { numRuns: 25 },
    );
  });
});
