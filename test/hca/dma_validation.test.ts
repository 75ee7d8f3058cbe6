import { describe, expect, it } from 'vitest';

import {
  CompletionOpcode,
  CompletionStatus,
  EventType,
  PathMtu,
  QueuePairState,
  RESPONSE_READS,
  Syndrome,
} from '../../lib/spec/index.ts';
import { HostResponder, pattern, rights, type Region, type RegionSettings } from './host_responder.ts';

const mtu = 256;
const success = Syndrome.acknowledgeWithoutCredits;

/** The events since the last call that are not COMM_EST. */
const failures = (host: HostResponder) =>
  host.events().filter(({ type }) => type !== EventType.communicationEstablished);

describe('dma_validation: SEND', () => {
  it('scatters a message over the pieces of its receive, of any size and place', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(10_000);
    const lengths = [1, 0, 3, 255, 0, 300, 7, 4096, 0];
    let at = 5;
    const pieces = lengths.map((length) => {
      at += length + 11;
      return { region, offset: at - length, length };
    });
    for (const bytes of [0, 1, 4, 259, 512, 1000, 4662]) {
      region.bytes.fill(0xee);
      const number = peer.postReceive(pieces);
      peer.message('send', pattern(bytes));
      host.run();
      const placed = pieces.flatMap(({ offset, length }) => [
        ...region.bytes.subarray(offset, offset + length),
      ]);
      expect(placed.slice(0, bytes)).toEqual([...pattern(bytes)]);
      expect(
        region.bytes.filter(
          (byte, index) =>
            byte !== 0xee && !pieces.some(({ offset, length }) => index >= offset && index < offset + length),
        ),
      ).toHaveLength(0);
      expect(placed.slice(bytes).every((byte) => byte === 0xee)).toBe(true);
      expect(host.completions()).toMatchObject([
        {
          opcode: CompletionOpcode.receive,
          status: CompletionStatus.success,
          byte_length: bytes,
          sequence_number: number,
          work_queue: 1,
          queue_pair_number: peer.number,
          port: 1,
          with_immediate: 0,
          solicited: 0,
        },
      ]);
    }
    expect(host.port.verify()).toBeNull();
  });

  it('passes immediate data byte by byte, and requests the solicited event', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(1000);
    peer.postReceive([{ region, offset: 0, length: 1000 }]);
    peer.postReceive([]);
    peer.message('send', pattern(300), { immediateData: 0x01020304, solicitedEvent: true });
    peer.write(region, 100, pattern(300, 2), { immediateData: 0xa1a2a3a4 });
    host.run();
    const [send, write] = host.completions();
    // On the wire, and therefore in memory: 01 02 03 04.
    expect(send).toMatchObject({
      with_immediate: 1,
      immediate_data: 0x04030201,
      solicited: 1,
      byte_length: 300,
    });
    expect(write).toMatchObject({
      opcode: CompletionOpcode.receiveRdmaWithImmediate,
      with_immediate: 1,
      immediate_data: 0xa4a3a2a1,
      solicited: 0,
      byte_length: 300,
      sequence_number: 1,
    });
    expect(region.bytes.subarray(100, 400)).toEqual(pattern(300, 2));
  });

  it('refuses a message that is longer than its receive', () => {
    for (const bytes of [mtu + 1, 3 * mtu]) {
      const host = new HostResponder();
      const peer = host.queuePair();
      const region = host.region(1000);
      const number = peer.postReceive([{ region, offset: 0, length: mtu }]);
      peer.message('send', pattern(bytes));
      const answers = host.take();
      expect(answers.map(({ psn, syndrome, msn }) => [psn, syndrome, msn])).toEqual([
        [201, success, 0],
        [202, Syndrome.invalidRequest, 0],
      ]);
      expect(host.completions()).toMatchObject([
        { status: CompletionStatus.localLengthError, sequence_number: number, work_queue: 1 },
      ]);
      expect(peer.state).toBe(QueuePairState.error);
      expect(failures(host)).toMatchObject([{ type: EventType.queuePairRequestError, object: peer.number }]);
      expect(host.port.verify()).toBeNull();
    }
  });

  const unfit: [string, RegionSettings, number?][] = [
    ['without the right to be written', { access: rights.remoteWrite | rights.remoteRead }],
    ['of another protection domain', { protectionDomain: 8 }],
    ['of another function', { underlyingFunction: 2 }],
    ['that is too short', {}, 901],
    ['that is not mapped', { unmapped: [0] }],
  ];
  it.each(unfit)('fails a receive into a region %s', (_, settings, offset = 0) => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(1000, settings);
    const number = peer.postReceive([{ region, offset, length: 100 }]);
    peer.message('send', pattern(100));
    expect(host.take()).toMatchObject([{ psn: 201, msn: 0, syndrome: Syndrome.remoteOperationalError }]);
    expect(host.completions()).toMatchObject([
      { status: CompletionStatus.localProtectionError, sequence_number: number },
    ]);
    expect(peer.state).toBe(QueuePairState.error);
    expect(failures(host)).toContainEqual(
      expect.objectContaining({ type: EventType.queuePairFatal, object: peer.number }),
    );
    expect(region.bytes.every((byte) => byte === 0)).toBe(true);
  });

  it('fails a receive whose entry is invalid', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(1000);
    const number = peer.postReceive([{ region, offset: 0, length: 100 }]);
    peer.spoilEntry(number);
    peer.message('send', pattern(10));
    expect(host.take()).toMatchObject([{ syndrome: Syndrome.remoteOperationalError }]);
    expect(host.completions()).toMatchObject([
      { status: CompletionStatus.localQueuePairOperationError, sequence_number: number },
    ]);
  });

  it('writes no completion without a completion queue', () => {
    const host = new HostResponder();
    const peer = host.queuePair({ silent: true });
    peer.postReceive([]);
    peer.message('send', pattern(0));
    expect(host.take()).toMatchObject([{ syndrome: success, msn: 1 }]);
    expect(host.completions()).toEqual([]);
  });

  it('does not acknowledge a message whose completion found no room', () => {
    const host = new HostResponder({}, 1);
    const peer = host.queuePair();
    for (let index = 0; index < 3; ++index) peer.postReceive([]);
    for (let index = 0; index < 3; ++index) peer.message('send', pattern(0));
    expect(host.take().map(({ syndrome, msn }) => [syndrome, msn])).toEqual([
      [success, 1],
      [success, 2],
      [Syndrome.remoteOperationalError, 2],
    ]);
    expect(peer.state).toBe(QueuePairState.error);
  });
});

describe('dma_validation: RDMA', () => {
  it('writes at any place, in any length, without a completion', () => {
    const host = new HostResponder();
    const peer = host.queuePair({ pathMtu: PathMtu.mtu1024 });
    const region = host.region(9000);
    for (const [offset, bytes] of [
      [0, 9000],
      [3097, 1],
      [3095, 1025],
      [1, 4096],
      [8999, 1],
    ] as const) {
      region.bytes.fill(0);
      peer.write(region, offset, pattern(bytes));
      expect(host.take().every(({ syndrome }) => syndrome === success)).toBe(true);
      expect(region.bytes.subarray(offset, offset + bytes)).toEqual(pattern(bytes));
      expect(region.bytes.subarray(0, offset).every((byte) => byte === 0)).toBe(true);
      expect(region.bytes.subarray(offset + bytes).every((byte) => byte === 0)).toBe(true);
    }
    expect(host.completions()).toEqual([]);
  });

  type Access = (
    peer: ReturnType<HostResponder['queuePair']>,
    region: Region,
    offset: number,
    bytes: number,
  ) => void;
  const accesses: [string, Access, number][] = [
    [
      'an RDMA WRITE',
      (peer, region, offset, bytes) => peer.write(region, offset, pattern(bytes)),
      rights.remoteWrite,
    ],
    ['an RDMA READ', (peer, region, offset, bytes) => peer.read(region, offset, bytes), rights.remoteRead],
    ['a fetch and add', (peer, region, offset) => peer.fetchAndAdd(region, offset, 1n), rights.remoteAtomic],
    [
      'a compare and swap',
      (peer, region, offset) => peer.compareAndSwap(region, offset, 0n, 1n),
      rights.remoteAtomic,
    ],
  ];
  const refusals: [string, (right: number) => RegionSettings, number][] = [
    ['without the right', (right) => ({ access: rights.all & ~right }), 0],
    ['of another protection domain', () => ({ protectionDomain: 8 }), 0],
    ['of another function', () => ({ underlyingFunction: 2 }), 0],
    ['before its begin', () => ({}), -8],
    ['beyond its end', () => ({}), 992],
    ['far away', () => ({}), 2 ** 40],
  ];
  const cases = accesses.flatMap(([access, act, right]) =>
    refusals.map(([refusal, settings, offset]) => ({ access, act, right, refusal, settings, offset })),
  );
  it.each(cases)('refuses $access to a region $refusal', ({ act, right, settings, offset }) => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(996, settings(right));
    region.bytes.fill(0x5a);
    act(peer, region, offset, 16);
    expect(host.take()).toMatchObject([
      { opcode: 'acknowledge', psn: 201, msn: 0, syndrome: Syndrome.remoteAccessError },
    ]);
    expect(region.bytes.every((byte) => byte === 0x5a)).toBe(true);
    expect(peer.state).toBe(QueuePairState.error);
    expect(failures(host)).toMatchObject([{ type: EventType.queuePairAccessError, object: peer.number }]);
    expect(host.port.verify()).toBeNull();
  });

  it.each(accesses)('refuses %s with an invalid key', (_, act) => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(1000);
    act(peer, { ...region, key: region.key + 1 }, 0, 16);
    expect(host.take()).toMatchObject([{ syndrome: Syndrome.remoteAccessError }]);
  });

  it('checks a whole RDMA WRITE at its first packet', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(2 * mtu);
    peer.write(region, 0, pattern(2 * mtu + 1));
    expect(host.take()).toMatchObject([{ psn: 201, syndrome: Syndrome.remoteAccessError }]);
    expect(region.bytes.every((byte) => byte === 0)).toBe(true);
  });

  it('checks no key of an entry of length 0', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const nothing = { key: 0x12345678, address: 0n, bytes: new Uint8Array() };
    peer.write(nothing, 0, pattern(0));
    peer.read(nothing, 0, 0);
    expect(host.take()).toMatchObject([
      { syndrome: success, psn: 201, msn: 1 },
      { opcode: 'rdma_read_response_only', psn: 202, msn: 2, payload: new Uint8Array() },
    ]);
  });

  it('stops an RDMA WRITE whose key is invalidated meanwhile', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(1000);
    const first = { virtualAddress: region.address, remoteKey: region.key, dmaLength: 2 * mtu };
    peer.packet('rdma_write_first', first, pattern(mtu));
    host.run();
    host.port.quiesceKey(region.key);
    expect(host.port.takeQuietKey()).toBe(region.key);
    peer.packet('rdma_write_last', {}, pattern(mtu));
    expect(host.take()).toMatchObject([
      { syndrome: success },
      { psn: 202, msn: 0, syndrome: Syndrome.remoteAccessError },
    ]);
  });

  it('reports unmapped memory as its own error', () => {
    for (const [, act] of accesses) {
      const host = new HostResponder();
      const peer = host.queuePair();
      act(peer, host.region(1000, { unmapped: [0] }), 0, 16);
      expect(host.take()).toMatchObject([{ syndrome: Syndrome.remoteOperationalError, msn: 0 }]);
      expect(peer.state).toBe(QueuePairState.error);
      expect(failures(host)).toContainEqual(expect.objectContaining({ type: EventType.queuePairFatal }));
    }
  });
});

describe('dma_validation: atomics', () => {
  it('adds and swaps 64 bits in host byte order, and returns the former value', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(64);
    const at = new DataView(region.bytes.buffer, region.bytes.byteOffset);
    at.setBigUint64(16, 0xfedc_ba98_7654_3210n, true);
    peer.fetchAndAdd(region, 16, 0x0123_4567_89ab_cdf1n);
    expect(host.take()).toMatchObject([
      {
        opcode: 'atomic_acknowledge',
        psn: 201,
        msn: 1,
        syndrome: success,
        originalData: 0xfedc_ba98_7654_3210n,
      },
    ]);
    expect(at.getBigUint64(16, true)).toBe(1n); // modulo 2^64
    peer.compareAndSwap(region, 16, 2n, 9n);
    peer.compareAndSwap(region, 16, 1n, 0x8000_0000_0000_0001n);
    expect(host.take()).toMatchObject([
      { psn: 202, msn: 2, originalData: 1n },
      { psn: 203, msn: 3, originalData: 1n },
    ]);
    expect(at.getBigUint64(16, true)).toBe(0x8000_0000_0000_0001n);
    expect(at.getBigUint64(8, true) + at.getBigUint64(24, true)).toBe(0n);
    expect(host.completions()).toEqual([]);
  });

  it('answers a duplicate with the stored result, and executes it once', () => {
    const host = new HostResponder();
    const [peer, other] = [host.queuePair(), host.queuePair()];
    const region = host.region(64);
    const at = new DataView(region.bytes.buffer, region.bytes.byteOffset);
    for (let index = 0; index < 40; ++index) {
      peer.fetchAndAdd(region, 0, 1n);
      host.run();
    }
    other.fetchAndAdd(region, 8, 5n);
    host.take();
    // The device remembers the newest 16, each by its PSN; a requester cannot repeat older ones.
    for (const [psn, original] of [
      [240, 39n],
      [225, 24n],
      [233, 32n],
    ] as const) {
      peer.fetchAndAdd(region, 0, 1n, { packetSequenceNumber: psn });
      expect(host.take()).toMatchObject([
        { opcode: 'atomic_acknowledge', psn, msn: 40, originalData: original },
      ]);
    }
    peer.fetchAndAdd(region, 0, 1n, { packetSequenceNumber: 224 });
    expect(host.take()).toEqual([]);
    other.fetchAndAdd(region, 8, 5n, { packetSequenceNumber: 201 });
    expect(host.take()).toMatchObject([{ psn: 201, originalData: 0n }]);
    expect(at.getBigUint64(0, true)).toBe(40n);
    expect(at.getBigUint64(8, true)).toBe(5n);
    expect(host.port.verify()).toBeNull();
  });

  it('forgets the atomics of a former queue pair in the same place', () => {
    const host = new HostResponder({ queuePairs: 3 });
    const region = host.region(64);
    const former = host.queuePair();
    former.fetchAndAdd(region, 0, 1n);
    host.take();
    host.port.quiesce(1, former.number);
    expect(host.port.takeQuiet()).toBe(former.number);
    const peer = host.queuePair({ psn: 300 });
    peer.fetchAndAdd(region, 0, 1n, { packetSequenceNumber: 201 });
    expect(host.take()).toEqual([]);
  });
});

describe('dma_validation: a READ without a free place', () => {
  it('waits, and delays no other queue pair', () => {
    const host = new HostResponder();
    const region = host.region(4096);
    host.port.holdResponseBuffers();
    const readers = Array.from({ length: RESPONSE_READS / 16 + 1 }, (_, index) =>
      host.queuePair({ psn: 1000 * (index + 1) }),
    );
    for (const reader of readers)
      for (let count = 0; count < 16; ++count) {
        reader.read(region, 0, 1);
        host.run();
      }
    const writer = host.queuePair();
    writer.write(region, 0, pattern(64, 5));
    host.run();
    expect(region.bytes.slice(0, 64)).toEqual(pattern(64, 5));
  });
});

describe('dma_validation: flush', () => {
  it('completes taken, posted and later added receives, each once and in order', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(4096, { access: rights.localWrite });
    const foreign = host.region(4096, { protectionDomain: 8 });
    peer.postReceive([{ region, offset: 0, length: 4096 }]);
    peer.postReceive([{ region: foreign, offset: 0, length: 4096 }]);
    for (let index = 2; index < 7; ++index) peer.postReceive([{ region, offset: 0, length: 4096 }]);
    // Another queue pair keeps the block busy, so that receives are taken before the second one fails.
    const other = host.queuePair({ state: QueuePairState.error, silent: true });
    for (let index = 0; index < 40; ++index) other.postReceive([]);
    host.port.flush(1, other.number);
    while (other.responder()['completed'] === 0) host.port.step();
    for (let index = 0; index < 3; ++index) peer.message('send', pattern(10));
    peer.packet('send_first', {}, pattern(mtu));
    expect(host.take().map(({ syndrome }) => syndrome)).toEqual([success, Syndrome.remoteOperationalError]);
    const { completed, receive_head: taken } = peer.responder();
    expect(completed).toBe(2);
    expect(taken).toBeGreaterThan(2);
    peer.flush();
    const flushed = (number: number) => ({
      sequence_number: number,
      status: CompletionStatus.workRequestFlushedError,
      work_queue: 1,
      queue_pair_number: peer.number,
    });
    expect(host.completions()).toMatchObject([
      { sequence_number: 0, status: CompletionStatus.success },
      { sequence_number: 1, status: CompletionStatus.localProtectionError },
      ...[2, 3, 4, 5, 6].map(flushed),
    ]);
    peer.flush();
    expect(host.completions()).toEqual([]);
    peer.postReceive([]);
    peer.doorbell();
    host.run();
    expect(host.completions()).toMatchObject([flushed(7)]);
    expect(host.port.pins(peer.number)).toBe(0);
    expect(host.port.verify()).toBeNull();
  });

  it('follows the accepted packets, does nothing outside ERR, and lets other queue pairs work', () => {
    const host = new HostResponder();
    const [peer, other] = [host.queuePair(), host.queuePair()];
    for (let index = 0; index < 40; ++index) peer.postReceive([]);
    peer.flush();
    expect(host.completions()).toEqual([]);
    peer.state = QueuePairState.error;
    host.port.flush(1, peer.number);
    for (let steps = 0; steps < 5; ++steps) host.port.step();
    other.postReceive([]);
    other.message('send', pattern(0));
    host.run();
    const order = host.completions().map(({ queue_pair_number: number }) => number);
    expect(order.filter((number) => number === peer.number)).toHaveLength(40);
    expect(order.indexOf(other.number)).toBeLessThan(20);
  });

  it('ends if the queue pair is to be destroyed', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    for (let index = 0; index < 40; ++index) peer.postReceive([]);
    peer.state = QueuePairState.error;
    host.port.flush(1, peer.number);
    for (let steps = 0; steps < 10; ++steps) host.port.step();
    host.port.quiesce(1, peer.number);
    host.run();
    expect(host.port.takeQuiet()).toBe(peer.number);
    expect(host.completions().length).toBeLessThan(40);
  });

  it('drops units from before a reset of the function', () => {
    const host = new HostResponder();
    const peer = host.queuePair();
    const region = host.region(1000);
    for (let index = 0; index < 5; ++index) {
      peer.write(region, 0, pattern(10));
      peer.read(region, 0, 1000);
    }
    for (let steps = 0; steps < 20; ++steps) host.port.step();
    host.port.resetFunction(1);
    host.answers.splice(0);
    host.run();
    expect(host.port.verify()).toBeNull();
  });
});
