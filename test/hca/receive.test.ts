import { describe, expect, it } from 'vitest';

import { EventType, PathMtu, QueuePairState, ReceiveMessage, Syndrome } from '../../lib/spec/index.ts';
import { HostResponder, pattern, rights, type Requester, type Region } from './host_responder.ts';
import type { PacketFields } from '../helpers/packet_port.ts';

const mtu = 256;

/** A responder with one queue pair, a region, and receives posted into it. */
function start(
  settings: Parameters<HostResponder['queuePair']>[0] = {},
  receives = 8,
): { host: HostResponder; peer: Requester; region: Region } {
  const host = new HostResponder();
  const region = host.region(64 * 1024);
  const peer = host.queuePair(settings);
  for (let index = 0; index < receives; ++index)
    peer.postReceive([{ region, offset: index * 4096, length: 4096 }]);
  return { host, peer, region };
}

const acknowledge = (psn: number, msn: number) => ({
  opcode: 'acknowledge',
  psn,
  msn,
  syndrome: Syndrome.acknowledgeWithoutCredits,
});
const nak = (psn: number, msn: number, syndrome: number) => ({ opcode: 'acknowledge', psn, msn, syndrome });

describe('receive', () => {
  it('delays no queue pair by the receive work request of another', () => {
    const { host, peer, region } = start();
    const [other, third] = [host.queuePair({ psn: 1000 }), host.queuePair({ psn: 2000 })];
    for (let index = 0; index < 4; ++index) other.postReceive([{ region, offset: 0, length: 4096 }]);
    other.message('send', pattern(10)); // the references of the next three are cached now
    expect(host.take().map(({ psn }) => psn)).toEqual([1000]);
    host.port.holdDescriptors(true);
    // These must wait: the third for its RNR NAK,
    peer.message('send', pattern(10));
    peer.write(region, 0, pattern(10));
    third.message('send', pattern(10));
    // but these need not.
    other.message('send', pattern(10));
    other.write(region, 0, pattern(10));
    other.message('send', pattern(10));
    expect(host.take().map(({ psn }) => psn)).toEqual([1001, 1002, 1003]);
    host.port.holdDescriptors(false);
    const answers = host.take();
    expect(answers.filter(({ psn }) => psn < 2000)).toMatchObject([acknowledge(201, 1), acknowledge(202, 2)]);
    expect(answers.filter(({ psn }) => psn >= 2000)).toMatchObject([
      { psn: 2000, syndrome: expect.toSatisfy((syndrome: number) => syndrome >> 5 === 1) as number },
    ]);
    expect(host.port.verify()).toBeNull();
  });

  it('drops a packet that waits for a receive work request if its queue pair fails, and flushes the work request', () => {
    const { host, peer } = start();
    host.port.holdDescriptors(true);
    peer.message('send', pattern(10));
    host.run();
    peer.state = QueuePairState.error;
    host.port.flush(1, peer.number);
    host.port.holdDescriptors(false);
    expect(host.take()).toEqual([]);
    expect(host.completions().map(({ sequence_number: number }) => number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(host.port.pins(peer.number)).toBe(0);
    expect(host.port.verify()).toBeNull();
  });

  it('answers the walkthrough: 5, 52 and 9 packets, a READ of 6 responses, SEND only, compare and swap', () => {
    const { host, peer, region } = start({}, 0);
    const at = host.region(52 * mtu);
    for (let index = 0; index < 3; ++index) peer.postReceive([{ region: at, offset: 0, length: 52 * mtu }]);
    peer.message('send', pattern(5 * mtu));
    expect(host.take()).toMatchObject(
      Array.from({ length: 5 }, (_, index) => acknowledge(201 + index, index === 4 ? 1 : 0)),
    );
    expect(peer.responder()).toMatchObject({ expected_psn: 206, message_sequence_number: 1 });
    peer.message('send', pattern(51 * mtu + 1));
    expect(host.take().map(({ psn }) => psn)).toEqual(Array.from({ length: 52 }, (_, index) => 206 + index));
    peer.write(region, 0, pattern(9 * mtu, 2));
    expect(host.take().map(({ psn }) => psn)).toEqual(Array.from({ length: 9 }, (_, index) => 258 + index));
    peer.read(region, 0, 6 * mtu);
    expect(host.take().map(({ opcode, psn, msn }) => [opcode, psn, msn])).toEqual(
      [
        ['rdma_read_response_first', 267, 4],
        ['rdma_read_response_middle', 268, 4],
        ['rdma_read_response_middle', 269, 4],
        ['rdma_read_response_middle', 270, 4],
        ['rdma_read_response_middle', 271, 4],
        ['rdma_read_response_last', 272, 4],
      ].map(([opcode, psn, msn]) => [opcode, psn, opcode === 'rdma_read_response_middle' ? 0 : msn]),
    );
    peer.message('send', pattern(10));
    expect(host.take()).toMatchObject([acknowledge(273, 5)]);
    peer.compareAndSwap(region, 0, 0n, 1n);
    expect(host.take()).toMatchObject([{ opcode: 'atomic_acknowledge', psn: 274, msn: 6 }]);
    expect(peer.responder()).toMatchObject({ expected_psn: 275, message_sequence_number: 6 });
    // Only SENDs have taken a receive work request.
    expect(host.completions().map(({ sequence_number: number }) => number)).toEqual([0, 1, 2]);
    expect(host.port.counters(1)).toMatchObject({ requestsDropped: 0, requestsDuplicate: 0 });
    expect(host.port.verify()).toBeNull();
  });

  it('acknowledges duplicates of SEND and RDMA WRITE up to the newest, and executes none of them', () => {
    const { host, peer, region } = start();
    peer.message('send', pattern(10));
    peer.write(region, 8192, pattern(3 * mtu));
    host.take();
    host.completions();
    region.bytes.fill(0);
    peer.packet('send_only', { packetSequenceNumber: 201 }, pattern(10));
    peer.packet('rdma_write_middle', { packetSequenceNumber: 203 }, pattern(mtu));
    expect(host.take()).toMatchObject([acknowledge(204, 2), acknowledge(204, 2)]);
    expect(region.bytes.every((byte) => byte === 0)).toBe(true);
    expect(host.completions()).toEqual([]);
    expect(host.port.counters(1)).toMatchObject({ requestsDuplicate: 2 });
  });

  it('sends one NAK for a gap, and none until it is filled', () => {
    const { host, peer } = start();
    peer.packet('send_only', { packetSequenceNumber: 203 }, pattern(10));
    expect(host.take()).toMatchObject([nak(201, 0, Syndrome.sequenceError)]);
    peer.packet('send_only', { packetSequenceNumber: 202 }, pattern(10));
    peer.packet('send_only', { packetSequenceNumber: 204 }, pattern(10));
    expect(host.take()).toEqual([]);
    peer.packet('send_only', { packetSequenceNumber: 201 }, pattern(10));
    expect(host.take()).toMatchObject([acknowledge(201, 1)]);
    peer.packet('send_only', { packetSequenceNumber: 203 }, pattern(10));
    expect(host.take()).toMatchObject([nak(202, 1, Syndrome.sequenceError)]);
    expect(host.port.counters(1)).toMatchObject({ requestsDropped: 2, negativeAcknowledges: 2 });
    expect(peer.state).toBe(QueuePairState.readyToReceive);
    expect(host.completions()).toHaveLength(1);
  });

  it('divides the PSNs into those ahead and those behind, across the wrap', () => {
    for (const expected of [0, 5, 0x7fffff, 0xfffffe, 0xffffff]) {
      const { host, peer } = start({ psn: expected });
      const at = (distance: number): number => (expected + distance + 0x1000000) & 0xffffff;
      peer.packet('send_only', { packetSequenceNumber: at(-0x800000) }, pattern(1));
      peer.packet('send_only', { packetSequenceNumber: at(-1) }, pattern(1));
      expect(host.take()).toMatchObject([acknowledge(at(-1), 0), acknowledge(at(-1), 0)]);
      peer.packet('send_only', { packetSequenceNumber: at(0x7fffff) }, pattern(1));
      expect(host.take()).toMatchObject([nak(expected, 0, Syndrome.sequenceError)]);
      peer.message('send', pattern(2 * mtu));
      expect(host.take()).toMatchObject([acknowledge(at(0), 0), acknowledge(at(1), 1)]);
      expect(peer.responder()).toMatchObject({ expected_psn: at(2) });
    }
  });

  type Send = [string, Partial<PacketFields>, number];
  const full = mtu;
  const wrong: [string, Send[], Parameters<HostResponder['queuePair']>[0]?][] = [
    ['a middle without a first', [['send_middle', {}, full]]],
    ['a last without a first', [['rdma_write_last', {}, 1]]],
    [
      'a first within a message',
      [
        ['send_first', {}, full],
        ['send_first', {}, full],
      ],
    ],
    [
      'an only within a message',
      [
        ['send_first', {}, full],
        ['send_only', {}, 1],
      ],
    ],
    [
      'a READ within a message',
      [
        ['send_first', {}, full],
        ['rdma_read_request', { dmaLength: 1 }, 0],
      ],
    ],
    [
      'an atomic within a message',
      [
        ['send_first', {}, full],
        ['fetch_and_add', {}, 0],
      ],
    ],
    [
      'a WRITE within a SEND',
      [
        ['send_first', {}, full],
        ['rdma_write_middle', {}, full],
      ],
    ],
    [
      'a SEND within a WRITE',
      [
        ['rdma_write_first', { dmaLength: 600 }, full],
        ['send_last', {}, 1],
      ],
    ],
    ['a first that does not fill the MTU', [['send_first', {}, full - 1]]],
    ['a first beyond the MTU', [['send_first', {}, full + 1]]],
    [
      'a middle that does not fill the MTU',
      [
        ['send_first', {}, full],
        ['send_middle', {}, full - 4],
      ],
    ],
    [
      'a last without payload',
      [
        ['send_first', {}, full],
        ['send_last', {}, 0],
      ],
    ],
    [
      'a last beyond the MTU',
      [
        ['send_first', {}, full],
        ['send_last', {}, full + 1],
      ],
    ],
    ['an only beyond the MTU', [['send_only', {}, full + 1]]],
    ['a WRITE of another length than the RETH has', [['rdma_write_only', { dmaLength: 9 }, 10]]],
    ['a WRITE whose first has all already', [['rdma_write_first', { dmaLength: full }, full]]],
    [
      'a WRITE that ends too early',
      [
        ['rdma_write_first', { dmaLength: 600 }, full],
        ['rdma_write_last', {}, 100],
      ],
    ],
    [
      'a WRITE that goes on too long',
      [
        ['rdma_write_first', { dmaLength: 2 * full }, full],
        ['rdma_write_middle', {}, full],
      ],
    ],
    ['a WRITE of more than 2^31 B', [['rdma_write_first', { dmaLength: 2 ** 31 + 1 }, full]]],
    ['a READ of more than 2^31 B', [['rdma_read_request', { dmaLength: 2 ** 31 + 1 }, 0]]],
    [
      'a WRITE that the queue pair does not allow',
      [['rdma_write_only', {}, 0]],
      { access: 0xf & ~rights.remoteWrite },
    ],
    [
      'a READ that the queue pair does not allow',
      [['rdma_read_request', {}, 0]],
      { access: 0xf & ~rights.remoteRead },
    ],
    [
      'an atomic that the queue pair does not allow',
      [['fetch_and_add', {}, 0]],
      { access: 0xf & ~rights.remoteAtomic },
    ],
    ['a READ without responder resources', [['rdma_read_request', {}, 0]], { maxDestinationReadAtomic: 0 }],
    ['an atomic without responder resources', [['compare_and_swap', {}, 0]], { maxDestinationReadAtomic: 0 }],
    ['an atomic that is not aligned', [['compare_and_swap', { virtualAddress: 4n }, 0]]],
  ];

  it.each(wrong)('refuses %s', (_, packets, settings = {}) => {
    const { host, peer, region } = start(settings);
    packets.forEach(([opcode, fields, bytes], index) => {
      const address = { virtualAddress: region.address, remoteKey: region.key, ...fields };
      const psn = peer.packet(opcode, address, pattern(bytes));
      const [answer, ...more] = host.take();
      expect(more).toEqual([]);
      if (index < packets.length - 1) expect(answer).toMatchObject(acknowledge(psn, 0));
      else expect(answer).toMatchObject(nak(psn, 0, Syndrome.invalidRequest));
    });
    expect(peer.state).toBe(QueuePairState.error);
    expect(host.events().filter(({ type }) => type !== EventType.communicationEstablished)).toMatchObject([
      { type: EventType.queuePairRequestError, underlying_function: 1, object: peer.number },
    ]);
    // The responder sends no more answers.
    peer.packet('send_only', {}, pattern(1));
    expect(host.take()).toEqual([]);
    expect(host.port.verify()).toBeNull();
  });

  it('accepts the largest lengths', () => {
    const { host, peer, region } = start();
    peer.packet(
      'rdma_write_first',
      { dmaLength: 2 ** 31, virtualAddress: region.address, remoteKey: region.key },
      pattern(full),
    );
    // It is beyond the region, which only dma_validation checks.
    expect(host.take()).toMatchObject([nak(201, 0, Syndrome.remoteAccessError)]);
  });

  it('answers RNR NAK if no receive is posted, and executes nothing', () => {
    const { host, peer, region } = start({ receiverNotReadyTimer: 19 }, 0);
    const send = () => peer.packet('send_only', { packetSequenceNumber: 201 }, pattern(10));
    send();
    peer.packet('send_only', { packetSequenceNumber: 202 }, pattern(10));
    expect(host.take()).toMatchObject([nak(201, 0, Syndrome.receiverNotReady | 19)]);
    send();
    expect(host.take()).toMatchObject([nak(201, 0, Syndrome.receiverNotReady | 19)]);
    peer.postReceive([{ region, offset: 0, length: 100 }]);
    send();
    expect(host.take()).toMatchObject([acknowledge(201, 1)]);
    expect(host.completions()).toHaveLength(1);
    expect(host.port.counters(1)).toMatchObject({ receiverNotReadyNegativeAcknowledges: 2 });
    expect(peer.state).toBe(QueuePairState.readyToReceive);
  });

  it('needs a receive for the last packet of an RDMA WRITE with immediate only, and none without', () => {
    const { host, peer, region } = start({}, 0);
    peer.write(region, 0, pattern(2 * mtu), { immediateData: 0x01020304 });
    expect(host.take()).toMatchObject([acknowledge(201, 0), nak(202, 0, Syndrome.receiverNotReady | 12)]);
    expect(region.bytes.subarray(mtu, 2 * mtu).every((byte) => byte === 0)).toBe(true);
    peer.postReceive([]);
    peer.packet(
      'rdma_write_last_with_immediate',
      { packetSequenceNumber: 202, immediateData: 0x01020304 },
      pattern(2 * mtu).subarray(mtu),
    );
    expect(host.take()).toMatchObject([acknowledge(202, 1)]);
    expect(region.bytes.subarray(0, 2 * mtu)).toEqual(pattern(2 * mtu));
    peer.write(region, 0, pattern(10));
    expect(host.take()).toMatchObject([acknowledge(203, 2)]);
  });

  it.each([
    [QueuePairState.reset, 0],
    [QueuePairState.init, 0],
    [QueuePairState.readyToReceive, 1],
    [QueuePairState.readyToSend, 1],
    [QueuePairState.sendQueueDrained, 1],
    [QueuePairState.error, 0],
  ])('in state %i accepts %i of 1 packets', (state, taken) => {
    const { host, peer } = start({ state });
    peer.packet('send_only', {}, pattern(1));
    expect(host.take()).toHaveLength(taken);
    expect(host.port.counters(1).requestsDropped).toBe(1 - taken);
    expect(host.port.verify()).toBeNull();
  });

  it('reports once that the connection is established, if it was only ready to receive', () => {
    const { host, peer } = start();
    peer.packet('send_only', { packetSequenceNumber: 300 }, pattern(1));
    host.run();
    expect(host.events()).toEqual([]);
    peer.message('send', pattern(2 * mtu));
    host.run();
    expect(host.events()).toMatchObject([
      { type: EventType.communicationEstablished, underlying_function: 1, object: peer.number },
    ]);
    const sending = start({ state: QueuePairState.readyToSend });
    sending.peer.message('send', pattern(1));
    sending.host.run();
    expect(sending.host.events()).toEqual([]);
  });

  it('accepts as many READs and atomics at a time as the queue pair has resources for', () => {
    const { host, peer, region } = start({ maxDestinationReadAtomic: 3, pathMtu: PathMtu.mtu4096 });
    host.port.holdResponseBuffers();
    for (let index = 0; index < 3; ++index) peer.fetchAndAdd(region, 0, 1n);
    host.run();
    expect(peer.state).toBe(QueuePairState.readyToReceive);
    peer.read(region, 0, 1);
    host.run();
    expect(peer.state).toBe(QueuePairState.error);
    // One after the other, any number is permitted.
    const other = start({ maxDestinationReadAtomic: 1 });
    for (let index = 0; index < 300; ++index) {
      other.peer.fetchAndAdd(other.region, 0, 1n);
      other.peer.read(other.region, 0, 1);
      if (index % 2 === 0) other.host.run();
      else expect(other.host.run()).toBeUndefined();
    }
  });

  it('drops a packet of a queue pair that waits to become quiet, and releases its pin', () => {
    const { host, peer } = start();
    peer.packet('send_only', {}, pattern(1));
    host.port.quiesce(1, peer.number);
    host.run();
    expect(host.answers).toEqual([]);
    expect(host.port.counters(1)).toMatchObject({ requestsDropped: 1 });
    expect(host.port.takeQuiet()).toBe(peer.number);
    expect(host.port.verify()).toBeNull();
  });

  it('remembers which message has begun', () => {
    const { host, peer, region } = start();
    peer.packet('send_first', {}, pattern(full));
    host.run();
    expect(peer.responder()).toMatchObject({ current_message: ReceiveMessage.send, current_offset: full });
    peer.packet('send_last', {}, pattern(1));
    peer.packet(
      'rdma_write_first',
      { dmaLength: 600, virtualAddress: region.address, remoteKey: region.key },
      pattern(full),
    );
    host.run();
    expect(peer.responder()).toMatchObject({
      current_message: ReceiveMessage.rdmaWrite,
      current_length: 600,
      current_key: region.key,
    });
  });
});
