import { describe, expect, it } from 'vitest';

import { EventType, PathMtu, QueuePairState, Syndrome } from '../../lib/spec/index.ts';
import { HostResponder, pattern, type Answer } from './host_responder.ts';

const mtu = 256;
const success = Syndrome.acknowledgeWithoutCredits;
const bytesOf = (answers: readonly Answer[]): number[] => answers.flatMap(({ payload }) => [...payload]);

/** Lets the blocks work, and collects the answers in between until `answers` has at least as many. */
function runUntil(host: HostResponder, answers: number): void {
  while (host.answers.length < answers && host.port.step()) host.collect();
}

describe('response: RDMA READ', () => {
  it('answers with memory of any length and place, and with the right opcodes', () => {
    for (const pathMtu of Object.values(PathMtu)) {
      const host = new HostResponder();
      const peer = host.queuePair({ pathMtu, psn: 0xfffffd });
      const region = host.region(20_000);
      region.bytes.set(pattern(20_000));
      for (const length of [0, 1, peer.mtu - 1, peer.mtu, peer.mtu + 1, 2 * peer.mtu, 3 * peer.mtu + 5]) {
        const psn = peer.read(region, 3, length);
        const answers = host.take();
        const count = Math.max(1, Math.ceil(length / peer.mtu));
        expect(answers.map(({ opcode }) => opcode)).toEqual(
          Array.from({ length: count }, (_, index) => {
            if (count === 1) return 'rdma_read_response_only';
            if (index === 0) return 'rdma_read_response_first';
            return index === count - 1 ? 'rdma_read_response_last' : 'rdma_read_response_middle';
          }),
        );
        answers.forEach((answer, index) => {
          expect(answer).toMatchObject({ psn: (psn + index) & 0xffffff, queuePair: 0x4711 });
          // A middle packet has no AETH.
          if (!answer.opcode.endsWith('middle')) expect(answer.syndrome).toBe(success);
        });
        expect(answers.slice(0, -1).every(({ payload }) => payload.length === peer.mtu)).toBe(true);
        expect(bytesOf(answers)).toEqual([...region.bytes.subarray(3, 3 + length)]);
      }
      expect(host.port.verify()).toBeNull();
    }
  });

  it('executes a duplicate again, also for a part of the original range, but not for more', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(4 * mtu);
    region.bytes.set(pattern(4 * mtu));
    peer.read(region, 0, 4 * mtu);
    peer.write(region, 0, pattern(1, 9));
    host.take();
    peer.read(region, 2 * mtu, 2 * mtu, { packetSequenceNumber: 203 });
    const answers = host.take();
    expect(answers).toMatchObject([
      { opcode: 'rdma_read_response_first', psn: 203, msn: 2 },
      { opcode: 'rdma_read_response_last', psn: 204, msn: 2 },
    ]);
    expect(bytesOf(answers)).toEqual([...pattern(4 * mtu).subarray(2 * mtu)]);
    peer.read(region, 0, 4 * mtu, { packetSequenceNumber: 203 });
    expect(host.take()).toEqual([]);
    expect(host.port.counters(1)).toMatchObject({ requestsDropped: 1 });
    // Any number, one after the other.
    for (let index = 0; index < 300; ++index) {
      peer.read(region, 0, 1, { packetSequenceNumber: 201 });
      expect(host.take()).toHaveLength(1);
    }
    expect(host.port.verify()).toBeNull();
  });

  it('answers 16 duplicates at a time, and drops further ones', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(64);
    peer.read(region, 0, 1);
    host.take();
    host.port.holdResponseBuffers();
    for (let index = 0; index < 20; ++index) {
      peer.read(region, 0, 1, { packetSequenceNumber: 201 });
      host.run();
    }
    expect(host.port.counters(1)).toMatchObject({ requestsDropped: 4, requestsDuplicate: 16 });
    expect(peer.state).toBe(QueuePairState.readyToReceive);
  });

  it('sends a NAK instead of a response whose memory it cannot read, and nothing after it', () => {
    const host = new HostResponder();
    const peer = host.queuePair({ pathMtu: PathMtu.mtu1024 });
    const region = host.region(16_000, { unmapped: [2] });
    const psn = peer.read(region, 0, 16_000);
    peer.fetchAndAdd(region, 0, 1n);
    const answers = host.take();
    const readable = Math.floor((2 * 4096 - 1000) / 1024);
    expect(answers).toHaveLength(readable + 1);
    expect(answers.at(-1)).toMatchObject({
      opcode: 'acknowledge',
      psn: psn + readable,
      msn: 0,
      syndrome: Syndrome.remoteOperationalError,
    });
    expect(peer.state).toBe(QueuePairState.error);
    expect(host.events()).toContainEqual(
      expect.objectContaining({ type: EventType.queuePairFatal, object: peer.number }),
    );
    expect(host.port.verify()).toBeNull();
  });

  it('keeps an invalidated key until its last response', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(40 * mtu);
    peer.read(region, 0, 40 * mtu);
    runUntil(host, 3);
    host.port.quiesceKey(region.key);
    expect(host.port.takeQuietKey()).toBeNull();
    expect(host.take()).toHaveLength(40);
    expect(host.port.takeQuietKey()).toBe(region.key);
    peer.read(region, 0, 1);
    expect(host.take()).toMatchObject([{ syndrome: Syndrome.remoteAccessError }]);
  });

  it('ends when its queue pair is to be destroyed', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(200 * mtu);
    peer.read(region, 0, 200 * mtu);
    runUntil(host, 3);
    host.port.quiesce(1, peer.number);
    expect(host.take().length).toBeLessThan(50);
    expect(host.port.takeQuiet()).toBe(peer.number);
    expect(host.port.verify()).toBeNull();
  });

  it('lets queue pairs answer in turn: a long READ does not delay a short one', () => {
    const host = new HostResponder();
    const [long, short] = [host.queuePair(), host.queuePair()];
    const region = host.region(200 * mtu);
    long.read(region, 0, 200 * mtu);
    runUntil(host, 5);
    short.read(region, 0, 3 * mtu);
    const psns = host.take().map(({ psn }) => psn);
    // Both begin at PSN 201; the peer repeats those of the short one.
    const positions = [201, 202, 203].map((psn) => psns.lastIndexOf(psn));
    expect(Math.max(...positions)).toBeLessThan(45);
    expect(psns).toHaveLength(203);
  });

  it('accepts more READs than it has places, of many queue pairs', () => {
    const host = new HostResponder();
    const region = host.region(4 * mtu);
    const peers = Array.from({ length: 20 }, () => host.queuePair());
    for (let round = 0; round < 16; ++round) for (const peer of peers) peer.read(region, 0, 4 * mtu);
    // No answer is collected before the links are full.
    expect(host.take()).toHaveLength(20 * 16 * 4);
    expect(host.port.verify()).toBeNull();
  });
});

describe('response: acknowledges', () => {
  it('keeps the order of the requests', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(10 * mtu);
    peer.write(region, 0, pattern(2 * mtu));
    peer.read(region, 0, 3 * mtu);
    peer.write(region, 0, pattern(10));
    peer.fetchAndAdd(region, 0, 1n);
    peer.packet('rdma_write_middle', {}, pattern(mtu));
    expect(host.take().map(({ opcode, psn }) => [opcode, psn])).toEqual([
      ['acknowledge', 201],
      ['acknowledge', 202],
      ['rdma_read_response_first', 203],
      ['rdma_read_response_middle', 204],
      ['rdma_read_response_last', 205],
      ['acknowledge', 206],
      ['atomic_acknowledge', 207],
      ['acknowledge', 208],
    ]);
    expect(peer.state).toBe(QueuePairState.error);
  });

  it('reads memory after earlier writes', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(10 * mtu);
    peer.write(region, 0, pattern(4 * mtu, 3));
    peer.read(region, 0, 4 * mtu);
    expect(bytesOf(host.take())).toEqual([...pattern(4 * mtu, 3)]);
  });

  it('coalesces if enabled: for the last packet of a message or on request, the newest of neighbors', () => {
    const host = new HostResponder({ acknowledgeCoalescing: true });
    const peer = host.queuePair();
    const region = host.region(100 * mtu);
    const address = { virtualAddress: region.address, remoteKey: region.key, dmaLength: 4 * mtu };
    peer.packet('rdma_write_first', address, pattern(mtu));
    expect(host.take()).toEqual([]);
    peer.packet('rdma_write_middle', { acknowledgeRequest: true }, pattern(mtu));
    expect(host.take()).toMatchObject([{ psn: 202, msn: 0 }]);
    peer.packet('rdma_write_middle', {}, pattern(mtu));
    peer.packet('rdma_write_last', {}, pattern(mtu));
    expect(host.take()).toMatchObject([{ psn: 204, msn: 1 }]);

    // While no buffer is free, acknowledgements gather; a READ or NAK between them keeps its place.
    const held = new HostResponder({ acknowledgeCoalescing: true });
    const slow = held.queuePair();
    const at = held.region(100 * mtu);
    const other = held.queuePair();
    other.read(at, 0, 80 * mtu);
    // The port takes nothing from the link, which is full, so the answers wait in their lists.
    while (held.port.step());
    for (let index = 0; index < 5; ++index) slow.write(at, 0, pattern(1));
    slow.read(at, 0, 1);
    for (let index = 0; index < 3; ++index) slow.write(at, 0, pattern(1));
    slow.packet('rdma_write_last', { packetSequenceNumber: 300 }, pattern(1));
    while (held.port.step());
    const answers = held.take().filter(({ psn, msn }) => msn !== 0 && !(msn === 1 && psn > 210));
    expect(answers.filter(({ opcode }) => !opcode.startsWith('rdma_read_response_first'))).toMatchObject([
      { opcode: 'acknowledge', psn: 205, msn: 5, syndrome: success },
      { opcode: 'rdma_read_response_only', psn: 206, msn: 6 },
      { opcode: 'acknowledge', psn: 209, msn: 9, syndrome: success },
      { opcode: 'acknowledge', psn: 210, msn: 9, syndrome: Syndrome.sequenceError },
    ]);
    expect(held.port.verify()).toBeNull();
  });
});

describe('response: its queue pairs', () => {
  /** The UDP source port of the next answer, which names both queue pairs by a hash. */
  const flow = (host: HostResponder): string => {
    while (host.port.step());
    return Buffer.from(host.port.takeAnswer()!.subarray(34, 36)).toString('hex');
  };

  it('distinguishes a queue pair from its predecessor in the same place, and a new peer from a former one', () => {
    const host = new HostResponder({ queuePairs: 3 });
    const former = host.queuePair();
    former.write(host.region(8), 0, pattern(0));
    const before = flow(host);
    host.port.quiesce(1, former.number);
    expect(host.port.takeQuiet()).toBe(former.number);
    const peer = host.queuePair();
    expect(peer.number & 0xffff).toBe(former.number & 0xffff);
    peer.write(host.region(8), 0, pattern(0));
    expect(flow(host)).not.toBe(before);
    host.port.setPeer(1, peer.number, 0x815);
    peer.write(host.region(8), 0, pattern(0));
    expect(host.take()).toMatchObject([{ queuePair: 0x815 }]);
  });
});
