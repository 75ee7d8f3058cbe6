import { describe, expect, it } from 'vitest';

import {
  LinkLayer,
  PacketDrop,
  PacketOpcode,
  PortDiscard,
  RECEIVE_PACKET_BUFFERS,
  RECEIVE_PACKET_BUFFERS_RESERVED,
  ServiceType,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import type { Framing } from '../helpers/icrc_port.ts';
import { buildPacket, type PacketFields, type PacketPath } from '../helpers/packet_port.ts';
import { noFields } from '../helpers/packets.ts';
import {
  Lane,
  LinkState,
  PacketUse,
  makeWirePort,
  runPort,
  runReceiver,
  type WirePort,
} from './wire_port.ts';

const sendOnly = PacketOpcode.reliableConnectionSendOnly;
const sendWithInvalidate = PacketOpcode.reliableConnectionSendOnlyWithInvalidate;
const acknowledge = PacketOpcode.reliableConnectionAcknowledge;
const everything = 1000;

/** A queue pair of function 3, connected to one of another board, and the packets from the peer. */
class Connected {
  readonly port: WirePort;
  readonly queuePairNumber: number;
  readonly path: PacketPath;

  constructor(framing: Framing, control: Parameters<typeof encode>[1] = {}) {
    const linkLayer = framing.startsWith('ethernet') ? LinkLayer.ethernet : LinkLayer.infiniband;
    this.port = makeWirePort({ linkLayer, boardNumber: 1 });
    const peer = makeWirePort({ linkLayer, boardNumber: 2 });
    const gidIndex = framing === 'ethernet_ipv4' ? 1 : 0;
    const isGlobal = framing === 'infiniband_local' ? 0 : 1;
    this.queuePairNumber = this.port.createQueuePair(
      3,
      encode('queue_pair_control', {
        service_type: ServiceType.reliableConnection,
        port: 1,
        address_vector: encode('address_vector', {
          port: 1,
          is_global: isGlobal,
          gid_index: gidIndex,
          destination_local_identifier: peer.localIdentifier(1, 0),
          destination_gid: peer.gid(1, 0, gidIndex),
        }),
        ...control,
      }),
    );
    this.path = {
      framing,
      sourceGid: peer.gid(1, 0, gidIndex),
      destinationGid: this.port.gid(1, 3, gidIndex),
      sourceMac: peer.mac(1, 0),
      destinationMac: this.port.mac(1, 3),
      sourceLid: peer.localIdentifier(1, 0),
      sourcePathBits: 0,
      destinationLid: this.port.localIdentifier(1, 3),
      serviceLevel: 0,
      trafficClass: 0,
      flowLabel: 0,
      hopLimit: 64,
      vlan: 0,
      udpSourcePort: 0xc123,
      partitionKey: 0xffff,
      sourceQueuePair: 77,
      destinationQueuePair: this.queuePairNumber,
    };
  }

  packet(
    opcode: number = sendOnly,
    path: Partial<PacketPath> = {},
    fields: Partial<PacketFields> = {},
  ): Uint8Array {
    const payload = opcode === sendOnly ? Uint8Array.of(1, 2, 3, 4, 5) : new Uint8Array(0);
    return buildPacket({ ...this.path, ...path }, { ...noFields, opcode, ...fields }, payload);
  }

  /** Lets packets arrive and both blocks work. */
  arrive(lane: Lane, ...packets: Uint8Array[]): void {
    for (const packet of packets) this.port.arrive(lane, packet);
    this.run();
  }

  run(): void {
    for (let round = 0; round < 300; round += 1) {
      runPort(this.port);
      runReceiver(this.port);
    }
  }

  /** Reasons of dropped packets, with their counts. */
  drops(): number[] {
    return this.port.dropped().flatMap((times, reason) => Array<number>(times).fill(reason));
  }
}

const framings: Framing[] = ['ethernet_ipv4', 'ethernet_ipv6', 'infiniband_local', 'infiniband_global'];

describe('packet_receiver', () => {
  it.each(framings)('passes requests to receive and responses to completion: %s', (framing) => {
    const connected = new Connected(framing);
    const { port, queuePairNumber } = connected;
    connected.arrive(Lane.requests, connected.packet(sendOnly, {}, { packetSequenceNumber: 0xabcdef }));
    connected.arrive(Lane.responses, connected.packet(acknowledge));
    expect(connected.drops()).toEqual([]);
    expect(port.pins(queuePairNumber)).toBe(2);
    const [request, ...moreRequests] = port.takePassed(Lane.requests, everything);
    expect(moreRequests).toEqual([]);
    expect(decode('packet_unit', request!.unit)).toMatchObject({
      queue_pair_number: queuePairNumber,
      underlying_function: 3,
      first: 1,
      last: 1,
    });
    expect(request!.payload).toEqual(Uint8Array.of(1, 2, 3, 4, 5));
    expect(request!.packetSequenceNumber).toBe(0xabcdef);
    expect(port.takePassed(Lane.responses, everything)).toHaveLength(1);
    expect(port.pins(queuePairNumber)).toBe(0);
    expect(port.freeBuffers(PacketUse.receive)).toBe(RECEIVE_PACKET_BUFFERS);
    expect(port.verify()).toBe(true);
  });

  it('drops packets that it cannot parse, by reason', () => {
    const connected = new Connected('ethernet_ipv4');
    const damaged = connected.packet();
    damaged[damaged.length - 6]! ^= 1;
    connected.arrive(Lane.requests, damaged, damaged.slice(0, 20));
    expect(connected.drops()).toEqual([PacketDrop.tooShort, PacketDrop.icrcMismatch]);
    expect(connected.port.freeBuffers(PacketUse.receive)).toBe(RECEIVE_PACKET_BUFFERS);
  });

  const otherGid = Uint8Array.from({ length: 16 }, (_, index) => (index < 10 ? 0 : index < 12 ? 0xff : 9));
  it.each<[string, Framing, Partial<PacketPath>, number]>([
    ['an unknown queue pair', 'ethernet_ipv4', { destinationQueuePair: 9999 }, PacketDrop.unknownQueuePair],
    ['another GID', 'ethernet_ipv4', { destinationGid: otherGid }, PacketDrop.wrongDestination],
    ['another LID', 'infiniband_local', { destinationLid: 5 }, PacketDrop.wrongDestination],
    ['another LID with GRH', 'infiniband_global', { destinationLid: 5 }, PacketDrop.wrongDestination],
    ['a stranger', 'ethernet_ipv4', { sourceGid: otherGid }, PacketDrop.wrongSource],
    ["a stranger's LID", 'infiniband_local', { sourceLid: 5 }, PacketDrop.wrongSource],
    ['a stranger behind a GRH', 'infiniband_global', { sourceGid: otherGid }, PacketDrop.wrongSource],
    [
      'no GRH where one belongs',
      'infiniband_global',
      { framing: 'infiniband_local' },
      PacketDrop.wrongSource,
    ],
    [
      'a GRH where none belongs',
      'infiniband_local',
      { framing: 'infiniband_global' },
      PacketDrop.wrongSource,
    ],
    ['another partition', 'ethernet_ipv4', { partitionKey: 0x8001 }, PacketDrop.wrongPartitionKey],
  ])('drops a packet to or from %s', (_, framing, path, reason) => {
    const connected = new Connected(framing);
    connected.arrive(Lane.requests, connected.packet(sendOnly, path));
    expect(connected.drops()).toEqual([reason]);
    expect(connected.port.takePassed(Lane.requests, everything)).toEqual([]);
    expect(connected.port.pins(connected.queuePairNumber)).toBe(0);
    expect(connected.port.freeBuffers(PacketUse.receive)).toBe(RECEIVE_PACKET_BUFFERS);
  });

  // The headers of the third packet are compared with those of the second.
  it.each<[number, Lane, Framing, Partial<PacketPath>]>([
    [sendOnly, Lane.requests, 'ethernet_ipv4', {}],
    [sendOnly, Lane.requests, 'ethernet_ipv6', {}],
    [sendOnly, Lane.requests, 'ethernet_ipv6', { vlan: 9 }],
    [sendWithInvalidate, Lane.requests, 'ethernet_ipv4', { vlan: 9 }],
    [acknowledge, Lane.responses, 'ethernet_ipv6', { trafficClass: 2 }],
    [sendOnly, Lane.requests, 'infiniband_global', {}],
  ])('treats a packet after others of opcode %i like a first one, on lane %i, %s %o', (...given) => {
    const [opcode, lane, framing, path] = given;
    const good = (connected: Connected, number: number): Uint8Array =>
      connected.packet(opcode, path, {
        packetSequenceNumber: number,
        acknowledgeRequest: number % 2 === 1,
        remoteKey: number,
        syndrome: number,
      });
    const known = new Connected(framing);
    for (let number = 0; number < 3; number += 1) known.arrive(lane, good(known, number));
    expect(known.port.takePassed(lane, everything)).toHaveLength(3);
    const size = good(known, 3).length;
    // After a change of the port's tables, the cached facts are invalid.
    const first = new Connected(framing);
    first.port.setPartitionKey(1, 0, first.path.partitionKey);
    for (let byte = -1; byte < size; byte += 1)
      for (const flipped of [0x01, 0x80]) {
        const outcomes = [known, first].map((connected) => {
          const packet = good(connected, 0xabcde0 + flipped);
          if (byte >= 0) packet[byte]! ^= flipped;
          const before = connected.drops();
          connected.arrive(lane, packet);
          const dropped = connected.drops();
          for (const reason of before) dropped.splice(dropped.indexOf(reason), 1);
          const passed = connected.port.takePassed(lane, everything).map(({ unit, ...fields }) => ({
            ...fields,
            unit: { ...decode('packet_unit', unit), packet: 0 },
          }));
          return { dropped, passed };
        });
        expect(outcomes[0], `byte ${byte}, bits ${flipped}`).toEqual(outcomes[1]);
        if (byte < 0) expect(outcomes[0]!.passed).toHaveLength(1);
      }
    expect(known.port.verify()).toBe(true);
  });

  it.each<[string, Partial<PacketPath>, number]>([
    ['another GID', { destinationGid: otherGid }, PacketDrop.wrongDestination],
    ['a stranger', { sourceGid: otherGid }, PacketDrop.wrongSource],
    ['another partition', { partitionKey: 0x8001 }, PacketDrop.wrongPartitionKey],
    ['an unknown queue pair', { destinationQueuePair: 9999 }, PacketDrop.unknownQueuePair],
  ])('drops a packet to or from %s after valid ones', (_, path, reason) => {
    const connected = new Connected('ethernet_ipv4');
    for (let number = 0; number < 3; number += 1) connected.arrive(Lane.requests, connected.packet());
    connected.arrive(Lane.requests, connected.packet(sendOnly, path));
    expect(connected.drops()).toEqual([reason]);
  });

  it('checks packets again when the tables of the port change', () => {
    const connected = new Connected('ethernet_ipv4');
    for (let number = 0; number < 3; number += 1) connected.arrive(Lane.requests, connected.packet());
    connected.port.setPartitionKey(1, 0, 0x9234);
    connected.arrive(Lane.requests, connected.packet());
    expect(connected.drops()).toEqual([PacketDrop.wrongPartitionKey]);
  });

  it('accepts a limited member of the partition if the queue pair is a full one', () => {
    const connected = new Connected('ethernet_ipv4');
    connected.arrive(Lane.requests, connected.packet(sendOnly, { partitionKey: 0x7fff }));
    expect(connected.drops()).toEqual([]);
  });

  it('drops packets of another service or port', () => {
    const unreliable = new Connected('ethernet_ipv4', { service_type: ServiceType.unreliableConnection });
    unreliable.arrive(Lane.requests, unreliable.packet());
    expect(unreliable.drops()).toEqual([PacketDrop.wrongService]);
    const elsewhere = new Connected('ethernet_ipv4', { port: 2 });
    elsewhere.arrive(Lane.requests, elsewhere.packet());
    expect(elsewhere.drops()).toEqual([PacketDrop.wrongDestination]);
  });

  it('drops packets for a queue pair that waits for destruction', () => {
    const connected = new Connected('ethernet_ipv4');
    connected.port.quiesce(connected.queuePairNumber);
    connected.arrive(Lane.requests, connected.packet());
    expect(connected.drops()).toEqual([PacketDrop.unknownQueuePair]);
  });

  it('counts congestion notifications', () => {
    const connected = new Connected('ethernet_ipv4');
    const notification = buildPacket(
      connected.path,
      { ...noFields, opcode: PacketOpcode.congestionNotification },
      new Uint8Array(16),
    );
    connected.arrive(Lane.requests, notification);
    expect(connected.drops()).toEqual([]);
    expect(connected.port.counters(1).congestionNotifications).toBe(1);
    expect(connected.port.freeBuffers(PacketUse.receive)).toBe(RECEIVE_PACKET_BUFFERS);
  });

  it('lets responses pass requests that wait for receive, and loses no request', () => {
    const connected = new Connected('ethernet_ipv4');
    const { port } = connected;
    const most = RECEIVE_PACKET_BUFFERS - RECEIVE_PACKET_BUFFERS_RESERVED;
    const requests = most + 10; // the last ones stay on the link
    for (let number = 0; number < requests; number += 1)
      port.arrive(Lane.requests, connected.packet(sendOnly, {}, { packetSequenceNumber: number }));
    connected.run();
    expect(port.freeBuffers(PacketUse.receive)).toBe(RECEIVE_PACKET_BUFFERS_RESERVED);
    connected.arrive(Lane.responses, connected.packet(acknowledge));
    expect(port.takePassed(Lane.responses, everything)).toHaveLength(1);
    const numbers: number[] = [];
    for (let round = 0; round < requests; round += 1) {
      numbers.push(
        ...port.takePassed(Lane.requests, 3).map(({ packetSequenceNumber }) => packetSequenceNumber),
      );
      connected.run();
    }
    expect(numbers).toEqual(Array.from({ length: requests }, (_, number) => number));
    expect(port.verify()).toBe(true);
  });

  it('discards a request to an own address without a buffer within the limit; a response gets one', () => {
    const connected = new Connected('ethernet_ipv4');
    const { port } = connected;
    const most = RECEIVE_PACKET_BUFFERS - RECEIVE_PACKET_BUFFERS_RESERVED;
    port.setLink(LinkState.sent);
    port.setDiscardLimit(100n);
    for (let number = 0; number < most; number += 1) port.arrive(Lane.requests, connected.packet());
    connected.run();
    port.build(1, Lane.requests, connected.packet());
    port.build(1, Lane.responses, connected.packet(acknowledge));
    connected.run();
    expect(port.takePassed(Lane.responses, everything)).toHaveLength(1);
    expect(port.nextDeadline()).toBe(100n);
    port.setTime(100n);
    connected.run();
    expect(port.counters(1).discards[PortDiscard.noBuffer]).toBe(1);
    // A waiting packet is woken when a buffer is freed.
    port.build(1, Lane.requests, connected.packet());
    connected.run();
    expect(port.isAwake()).toBe(false);
    port.takePassed(Lane.requests, 1);
    expect(port.isAwake()).toBe(true);
    connected.run();
    expect(port.nextDeadline()).toBe(0xffff_ffff_ffff_ffffn);
    expect(port.counters(1).packetsLooped).toBe(2);
  });
});
