import { describe, expect, it } from 'vitest';

import {
  CompletionOpcode,
  CompletionStatus,
  EventType,
  Opcode,
  QueuePairState,
  openDevice,
  type Completion,
  type SendRequest,
} from '../../lib/index.ts';
import { decode } from '../../lib/spec/index.ts';
import { ethernetCapture } from '../helpers/pcap.ts';
import { dissect } from '../helpers/tshark.ts';
import { requireTool } from '../helpers/tools.ts';
import { describeConnections } from '../helpers/connection.ts';
import { addressOf, destined, makeStation, makeStations, queueKey, routeBytes } from '../helpers/datagram.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const {
  success,
  localLengthError,
  localProtectionError,
  localQueuePairOperationError,
  workRequestFlushedError,
} = CompletionStatus;

const told = ({ wrId, status }: Completion): [number, CompletionStatus] => [wrId, status];

describeConnections('unreliable datagram', (place) => {
  it.each([0, 1])('carries SENDs up to the path MTU, over GID %i', (gidIndex) => {
    const { from, to, complete } = makeStations(place);
    const destination = destined(to, addressOf(from, to, gidIndex));
    for (const [index, length] of [0, 1, 3, 64, 1025, 4096].entries()) {
      const withImmediate = index % 2 === 1;
      to.region.bytes.fill(0);
      to.queuePair.postReceive({
        wrId: index,
        scatter: [to.region.slice(0, 10), to.region.slice(10, 8000)],
      });
      from.queuePair.postSend({
        opcode: withImmediate ? Opcode.sendWithImmediate : Opcode.send,
        immediateData: 0x1234_5678,
        wrId: 100 + index,
        signaled: true,
        gather: [from.region.slice(16_384 + index, length)],
        ...destination,
      });
      expect(complete(to, 1)).toMatchObject([
        {
          wrId: index,
          status: success,
          opcode: CompletionOpcode.receive,
          byteLength: routeBytes + length,
          withImmediate,
          immediateData: withImmediate ? 0x1234_5678 : 0,
          withGlobalRouteHeader: true,
          sourceQueuePair: from.queuePair.number,
          queuePairNumber: to.queuePair.number,
          partitionKeyIndex: 0,
          port: 1,
          sourceMac: from.verbs.context.queryPort(1).mac,
        },
      ]);
      expect(complete(from, 1)).toMatchObject([{ wrId: 100 + index, status: success, byteLength: length }]);
      expect(to.region.bytes.slice(routeBytes, routeBytes + length)).toEqual(
        from.region.bytes.slice(16_384 + index, 16_384 + index + length),
      );
      expect(to.region.bytes.subarray(routeBytes + length, 8000).every((byte) => byte === 0)).toBe(true);
    }
  });

  it('stores the network layer header before the data', () => {
    const { from, to, complete } = makeStations(place);
    const gid = (index: number): [Uint8Array, Uint8Array] => [
      from.verbs.context.queryGid(1, index),
      to.verbs.context.queryGid(1, index),
    ];
    for (const gidIndex of [0, 1]) {
      to.queuePair.postReceive({ scatter: [to.region.slice(0, 4096)] });
      from.queuePair.postSend({
        opcode: Opcode.send,
        inlineData: Uint8Array.of(1, 2, 3),
        ...destined(to, addressOf(from, to, gidIndex)),
      });
      complete(to, 1);
      const [source, destination] = gid(gidIndex);
      const route = to.region.bytes.slice(0, routeBytes);
      if (gidIndex === 0) {
        expect(decode('ipv6_header', route)).toMatchObject({
          version: 6,
          traffic_class: 0x28,
          flow_label: 0xabcde,
          hop_limit: 64,
          source_address: source,
          destination_address: destination,
        });
      } else {
        expect(route.subarray(0, 20)).toEqual(new Uint8Array(20));
        const view = (bytes: Uint8Array): number => new DataView(bytes.buffer).getUint32(12);
        expect(decode('ipv4_header', route.slice(20))).toMatchObject({
          version: 4,
          header_length: 5,
          differentiated_services: 0x28 >> 2,
          protocol: 17,
          source_address: view(source),
          destination_address: view(destination),
        });
      }
    }
  });

  it('can be answered from its completion', () => {
    const { from, to, complete } = makeStations(place);
    for (const gidIndex of [0, 1]) {
      to.queuePair.postReceive({ scatter: [to.region.slice(0, 4096)] });
      from.queuePair.postReceive({ wrId: gidIndex, scatter: [from.region.slice(0, 4096)] });
      from.queuePair.postSend({ opcode: Opcode.send, ...destined(to, addressOf(from, to, gidIndex)) });
      const [completion] = complete(to, 1);
      using address = to.verbs.protectionDomain.createAddressHandleFromCompletion(
        1,
        completion!,
        to.region.bytes,
      );
      to.queuePair.postSend({
        opcode: Opcode.send,
        inlineData: Uint8Array.of(9),
        addressHandle: address,
        destinationQueuePair: completion!.sourceQueuePair,
        queueKey,
      });
      expect(complete(from, 1)).toMatchObject([
        { wrId: gidIndex, byteLength: routeBytes + 1, sourceQueuePair: to.queuePair.number },
      ]);
      expect(from.region.bytes[routeBytes]).toBe(9);
    }
  });
});

describe.each([1, 2] as const)('an unreliable datagram, boards: %i', (boards) => {
  it('is dropped without a receive or with another Q_Key, and neither end gets an error', () => {
    const { from, to, rest } = makeStations({ backend: stepped, boards });
    const destination = destined(to, addressOf(from, to));
    const send = { opcode: Opcode.send, signaled: true, ...destination } as const;
    from.queuePair.postSend([
      { ...send, wrId: 0 },
      { ...send, wrId: 1, queueKey: queueKey + 1 },
    ]);
    expect(rest(from).map(told)).toEqual([
      [0, success],
      [1, success],
    ]);
    to.queuePair.postReceive({ wrId: 5, scatter: [to.region.slice()] });
    from.queuePair.postSend({ ...send, wrId: 2, queueKey: queueKey + 1 });
    expect(rest(to)).toEqual([]);
    expect(to.verbs.context.queryPort(1)).toMatchObject({ badQueueKeys: 2, badPartitionKeys: 0 });
    from.queuePair.postSend({ ...send, wrId: 3 });
    expect(rest(to).map(told)).toEqual([[5, success]]);
    expect(to.queuePair.query().state).toBe(QueuePairState.readyToSend);
  });

  it('names one partition: the P_Keys must match, and at least one must be a full member', () => {
    const { from, to, rest } = makeStations({ backend: stepped, boards });
    const limited = 0x7ffe;
    const full = 0xfffe;
    const tables = [
      [full, full, true],
      [full, limited, true],
      [limited, full, true],
      [limited, limited, false],
      [full, 0xfffd, false],
      [0, 0, false],
      [0x8000, 0x8000, false],
    ] as const;
    for (const [sender, receiver, arrives] of tables) {
      // On one board both have the same table; the sender's P_Key is another entry of it.
      const own = boards === 1 ? 2 : 1;
      from.verbs.context.setPartitionKey(1, own, sender);
      to.verbs.context.setPartitionKey(1, 1, receiver);
      const [peers, there] = [makeStation(from.verbs, queueKey, own), makeStation(to.verbs, queueKey, 1)];
      there.queuePair.postReceive({ scatter: [there.region.slice()] });
      peers.queuePair.postSend({ opcode: Opcode.send, ...destined(there, addressOf(peers, there)) });
      expect(rest(there).map(({ partitionKeyIndex }) => partitionKeyIndex)).toEqual(arrives ? [1] : []);
    }
    expect(to.verbs.context.queryPartitionKey(1, 1)).toBe(0x8000);
    expect(to.verbs.context.queryPort(1).badPartitionKeys).toBe(4);
  });
});

describe('unreliable datagram', () => {
  const place = { backend: stepped, boards: 1 } as const;

  it('without GRH, on InfiniBand, leaves the 40 B before its data unchanged', () => {
    const { from, to, rest } = makeStations(place, { linkLayer: 'infiniband' });
    const { localIdentifier } = to.verbs.context.queryPort(1);
    const addressHandle = from.verbs.protectionDomain.createAddressHandle({
      port: 1,
      serviceLevel: 5,
      destinationLocalIdentifier: localIdentifier,
    });
    to.region.bytes.fill(0xee);
    to.queuePair.postReceive({ scatter: [to.region.slice()] });
    from.queuePair.postSend({
      opcode: Opcode.send,
      inlineData: Uint8Array.of(1, 2, 3),
      ...destined(to, addressHandle),
    });
    const [completion] = rest(to);
    expect(completion).toMatchObject({
      byteLength: 43,
      withGlobalRouteHeader: false,
      sourceLocalIdentifier: localIdentifier,
      serviceLevel: 5,
    });
    expect(to.region.bytes.slice(0, 44)).toEqual(
      Uint8Array.from({ length: 44 }, (_, at) => (at >= 40 && at < 43 ? at - 39 : 0xee)),
    );
    expect(from.verbs.context.initAddressVectorFromCompletion(1, completion!, new Uint8Array())).toEqual({
      port: 1,
      serviceLevel: 5,
      sourcePathBits: 0,
      destinationLocalIdentifier: localIdentifier,
    });
    to.queuePair.postReceive({ scatter: [to.region.slice()] });
    from.queuePair.postSend({ opcode: Opcode.send, ...destined(to, addressOf(from, to)) });
    expect(rest(to)).toMatchObject([{ byteLength: 40, withGlobalRouteHeader: true }]);
    expect(decode('global_route_header', to.region.bytes.slice(0, 40))).toMatchObject({
      ip_version: 6,
      next_header: 27,
      hop_limit: 64,
      source_gid: from.verbs.context.queryGid(1, 0),
    });
  });

  it('uses the queue pair’s own Q_Key if the given one has the high bit set', () => {
    const { from, to, rest } = makeStations(place);
    const controlled = 0x8001_0000;
    const [sender, receiver] = [controlled, controlled].map((key) => makeStation(from.verbs, key));
    const send = (key: number): Completion[] => {
      receiver!.queuePair.postReceive({ scatter: [receiver!.region.slice()] });
      sender!.queuePair.postSend({
        opcode: Opcode.send,
        ...destined(receiver!, addressOf(sender!, receiver!)),
        queueKey: key,
      });
      return rest(receiver!);
    };
    expect(send(0xffff_ffff)).toHaveLength(1);
    expect(send(queueKey)).toHaveLength(0);
    // An ordinary queue pair cannot be set to use a privileged Q_Key.
    from.queuePair.postSend({
      opcode: Opcode.send,
      ...destined(receiver!, addressOf(from, receiver!)),
      queueKey: controlled,
    });
    expect(rest(receiver!)).toHaveLength(0);
    expect(to.verbs.context.queryPort(1).badQueueKeys).toBe(2);
  });

  it('enters SQE with a datagram that is too long or has no route, still receives, and recovers', () => {
    const { from, to, rest } = makeStations(place);
    const address = addressOf(from, to);
    const there = destined(to, address);
    const otherDomain = from.verbs.context.createProtectionDomain();
    const elsewhere = otherDomain.createAddressHandle({ port: 1 });
    const closed = addressOf(from, to);
    closed.close();
    const again = addressOf(from, to);
    expect(again.number).not.toBe(closed.number);
    const slice = from.region.slice(0, 4097);
    const wrong: readonly [Partial<SendRequest>, CompletionStatus][] = [
      [{ gather: [slice] }, localLengthError],
      [{ gather: [{ ...slice, length: 10, localKey: slice.localKey ^ 1 }] }, localProtectionError],
      [{ addressHandle: elsewhere }, localQueuePairOperationError],
      [{ addressHandle: closed }, localQueuePairOperationError],
      [{ addressHandle: { number: 0 } }, localQueuePairOperationError],
    ];
    for (const [change, status] of wrong) {
      to.queuePair.postReceive({ wrId: 7, scatter: [to.region.slice()] });
      from.queuePair.postReceive({ wrId: 8, scatter: [from.region.slice()] });
      from.queuePair.postSend([
        { opcode: Opcode.send, wrId: 0, ...there, signaled: true },
        { opcode: Opcode.send, wrId: 1, ...there, ...change },
        { opcode: Opcode.send, wrId: 2, ...there },
      ]);
      expect(rest(from).map(told)).toEqual([
        [0, success],
        [1, status],
        [2, workRequestFlushedError],
      ]);
      expect(rest(to).map(told)).toEqual([[7, success]]);
      expect(from.queuePair.query().state).toBe(QueuePairState.sendQueueError);
      to.queuePair.postSend({ opcode: Opcode.send, ...destined(from, addressOf(to, from)) });
      expect(rest(from).map(told)).toEqual([[8, success]]);
      from.queuePair.modify({ state: QueuePairState.readyToSend });
    }
  });

  it('completes a receive that is too small for GRH and data in error, and continues', () => {
    const { from, to, rest } = makeStations(place);
    const datagram = { opcode: Opcode.send, inlineData: new Uint8Array(10).fill(1) } as const;
    const there = destined(to, addressOf(from, to));
    to.queuePair.postReceive([
      { wrId: 7, scatter: [to.region.slice(0, routeBytes + 9)] },
      { wrId: 8, scatter: [to.region.slice(0, routeBytes + 10)] },
    ]);
    from.queuePair.postSend([
      { ...datagram, ...there },
      { ...datagram, ...there },
    ]);
    expect(rest(to).map(told)).toEqual([
      [7, localLengthError],
      [8, success],
    ]);
    expect(to.queuePair.query().state).toBe(QueuePairState.readyToSend);
  });

  it('requires all fields of a datagram', () => {
    const { from, to } = makeStations(place);
    const there = destined(to, addressOf(from, to));
    for (const attribute of ['addressHandle', 'destinationQueuePair', 'queueKey'] as const) {
      expect(() =>
        from.queuePair.postSend({ opcode: Opcode.send, ...there, [attribute]: undefined }),
      ).toThrow(expect.objectContaining({ code: 'EINVAL', attribute }));
    }
    for (const opcode of [Opcode.rdmaWrite, Opcode.rdmaRead]) {
      expect(() => from.queuePair.postSend({ opcode, ...there, remote: to.region.remote() })).toThrow(
        'opcode must be one of Opcode.send, Opcode.sendWithImmediate on a queue pair of type UD',
      );
    }
  });
});

describe('address handles', () => {
  it('are limited by the device, and belong to their protection domain', () => {
    const { context, protectionDomain } = makeVerbs();
    const handles = Array.from({ length: 1023 }, () => protectionDomain.createAddressHandle({ port: 1 }));
    expect(new Set(handles.map(({ number }) => number)).size).toBe(1023);
    expect(() => protectionDomain.createAddressHandle({ port: 1 })).toThrow(
      expect.objectContaining({ code: 'ENOMEM', attribute: 'addressHandles' }),
    );
    expect(() => protectionDomain.close()).toThrow(expect.objectContaining({ code: 'EBUSY' }));
    for (const handle of handles) handle.close();
    protectionDomain.close();
    const other = context.createProtectionDomain();
    expect(() => other.createAddressHandle({ port: 3 })).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    expect(() => other.createAddressHandle({ port: 1, gidIndex: 16 })).toThrow(
      expect.objectContaining({ code: 'EINVAL' }),
    );
  });

  it('are freed when their function is reset', () => {
    const { board, protectionDomain } = makeVerbs();
    const guest = openDevice(board.open(1));
    const domain = guest.createProtectionDomain();
    for (let count = 0; count < 1023; count++) domain.createAddressHandle({ port: 1 });
    expect(() => protectionDomain.createAddressHandle({ port: 1 })).toThrow(/addressHandles/);
    guest[Symbol.dispose]();
    expect(protectionDomain.createAddressHandle({ port: 1 }).number).toBeGreaterThan(0);
  });
});

describe('the P_Key table of a port', () => {
  it('is written by the control function only, and every function gets an event', () => {
    const { board, context } = makeVerbs();
    const guest = openDevice(board.open(1));
    expect(() => guest.setPartitionKey(1, 1, 0x8001)).toThrow(expect.objectContaining({ code: 'EPERM' }));
    context.setPartitionKey(1, 15, 0x8001);
    expect([0, 1, 15].map((index) => guest.queryPartitionKey(1, index))).toEqual([0xffff, 0, 0x8001]);
    for (const each of [context, guest]) {
      expect(each.pollEvent()).toMatchObject({ type: EventType.partitionKeyChange, object: 1 });
    }
    for (const [port, index] of [
      [1, 16],
      [2, 0],
    ] as const) {
      expect(() => context.setPartitionKey(port, index, 1)).toThrow(
        expect.objectContaining({ code: 'EINVAL' }),
      );
    }
    expect(() => context.queryPartitionKey(1, 16)).toThrow(RangeError);
  });
});

it.for([0, 1])('a datagram over GID %i leaves as tshark expects it', (gidIndex, test) => {
  const tshark = requireTool('tshark', test);
  const { from, to, rest } = makeStations({ backend: stepped, boards: 1 });
  const { board } = from.verbs;
  board.startPacketTrace(10);
  from.queuePair.postSend({
    opcode: Opcode.sendWithImmediate,
    immediateData: 0x0403_0201,
    inlineData: new Uint8Array(5).fill(0x41),
    solicited: true,
    ...destined(to, addressOf(from, to, gidIndex)),
  });
  rest(from);
  const sent = board.takePackets().filter(({ direction }) => direction === 'out');
  const expected = {
    'infiniband.bth.opcode': 101, // UD SEND only with immediate
    'infiniband.bth.se': 1,
    'infiniband.bth.padcnt': 3,
    'infiniband.bth.p_key': 0xffff,
    'infiniband.bth.destqp': to.queuePair.number,
    'infiniband.bth.a': 0,
    'infiniband.bth.psn': 0xff_fffe,
    'infiniband.deth.q_key': queueKey,
    'infiniband.deth.srcqp': from.queuePair.number,
  };
  const [decoded] = dissect(tshark, ethernetCapture(sent.map(({ data }) => data)), [
    ...Object.keys(expected),
    'infiniband.immdt',
    '_ws.malformed',
  ]);
  const { 'infiniband.immdt': immediate, ...numbers } = decoded!;
  expect(immediate).toContain('01020304');
  expect(Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, Number(text)]))).toEqual(
    expected,
  );
});
