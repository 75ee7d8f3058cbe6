import { describe, expect, it } from 'vitest';

import {
  LinkLayer,
  ManagementOpcode,
  ManagementStatus,
  PORT_DISCARD_LIMIT,
  PathMtu,
  PortDiscard,
  PortState,
  RECEIVE_PACKET_BUFFERS,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import { makeHost } from './managed_function.ts';
import { bitOf } from './management_inputs.ts';
import { Lane, LinkState, PacketUse, makeWirePort, runPort, type WirePort } from './wire_port.ts';

const never = 0xffff_ffff_ffff_ffffn;
const linkCredits = 16;

/** A frame to a MAC address; the ports check nothing else. */
function frame(destination: Uint8Array, mark = 0, bytes = 64): Uint8Array {
  const packet = new Uint8Array(bytes).fill(mark);
  packet.set(destination);
  return packet;
}

const elsewhere = Uint8Array.of(2, 0xf0, 10, 3, 255, 1);

/** Maximum number of packets that enter `packets_arrived` when nothing stops them. */
function drain(port: WirePort): Uint8Array[] {
  const all: Uint8Array[] = [];
  for (;;) {
    runPort(port);
    const taken = port.takeArrived(linkCredits);
    if (taken.length === 0) return all;
    all.push(...taken);
  }
}

describe('port_attributes', () => {
  it('gives each function at each port of each board addresses of its own', () => {
    const seen = new Set<string>();
    for (const boardNumber of [0, 1, 1023]) {
      const port = makeWirePort({ boardNumber, ports: 2 });
      for (const number of [1, 2])
        for (let underlyingFunction = 0; underlyingFunction < 8; underlyingFunction += 1) {
          const mac = port.mac(number, underlyingFunction);
          expect(mac[0]! & 3).toBe(2); // locally administered, of one station
          seen.add(Buffer.from(mac).toString('hex'));
          const linkLocal = new Uint8Array(16);
          linkLocal.set([0xfe, 0x80]);
          linkLocal.set([mac[0]! ^ 2, mac[1]!, mac[2]!, 0xff, 0xfe, mac[3]!, mac[4]!, mac[5]!], 8);
          expect(port.gid(number, underlyingFunction, 0)).toEqual(linkLocal);
          const ipv4 = new Uint8Array(16);
          ipv4.set([0xff, 0xff, ...mac.slice(2)], 10);
          expect(port.gid(number, underlyingFunction, 1)).toEqual(ipv4);
          expect(port.gid(number, underlyingFunction, 2)).toEqual(new Uint8Array(16));
        }
    }
    expect(seen.size).toBe(3 * 2 * 8);
  });

  it('gives LIDs on InfiniBand, and no IPv4 addresses', () => {
    const lids = new Set<number>();
    for (const boardNumber of [0, 1023]) {
      const port = makeWirePort({ boardNumber, ports: 2, linkLayer: LinkLayer.infiniband });
      for (const number of [1, 2])
        for (let underlyingFunction = 0; underlyingFunction < 8; underlyingFunction += 1)
          lids.add(port.localIdentifier(number, underlyingFunction));
      expect(port.gid(1, 0, 1)).toEqual(new Uint8Array(16));
    }
    expect(lids.size).toBe(2 * 2 * 8);
    expect(Math.min(...lids)).toBeGreaterThan(0);
    expect(Math.max(...lids)).toBeLessThan(0xc000); // unicast
  });

  it('answers query_port', () => {
    const { host } = makeHost({ ports: 2 });
    expect(host.execute(ManagementOpcode.queryPort, { input_modifier: 2 }).status).toBe(
      ManagementStatus.success,
    );
    const facts = host.outputOf('query_port_output', 64);
    expect(facts).toMatchObject({
      state: PortState.active,
      link_layer: LinkLayer.ethernet,
      maximum_mtu: PathMtu.mtu4096,
      active_mtu: PathMtu.mtu4096,
      maximum_message_bytes: 2 ** 31,
      gid_table_entries: 16,
      partition_key_table_entries: 16,
      local_identifier: 0,
    });
    const wire = makeWirePort({ ports: 2 });
    const mac = new DataView(wire.mac(2, 1).buffer);
    expect(facts).toMatchObject({ mac_low: mac.getUint32(0, true), mac_high: mac.getUint16(4, true) });
    const at = host.output + 16 + 64;
    const gids = [0, 1, 2].map((index) => {
      const entry = host.device.bytes.slice(at + 16 * index, at + 16 * index + 16);
      return decode('gid_entry', entry)['gid'];
    });
    expect(gids).toEqual([0, 1, 2].map((index) => wire.gid(2, 1, index)));
    const key = at + 16 * 16;
    expect(decode('partition_key_entry', host.device.bytes.slice(key, key + 4))).toEqual({
      partition_key: 0xffff,
    });
  });

  it.each([0, 2, 256])('has no port %i on a board with one', (number) => {
    const { host } = makeHost();
    const answer = host.execute(ManagementOpcode.queryPort, { input_modifier: number });
    expect(answer.status).toBe(ManagementStatus.badParameter);
  });

  it("sets entries of the requesting function's GID table, except the first", () => {
    const { device, host } = makeHost();
    const gid = Uint8Array.from({ length: 16 }, (_, index) => 0x20 + index);
    const set = (fields: Parameters<typeof encode>[1]) =>
      host.execute(ManagementOpcode.setGlobalIdentifier, {}, [
        encode('set_global_identifier_input', { port: 1, gid_index: 3, gid, ...fields }),
      ]);
    const gidOf = (index: number): unknown => {
      host.succeed(ManagementOpcode.queryPort, { input_modifier: 1 });
      const at = host.output + 16 + 64 + 16 * index;
      return decode('gid_entry', device.bytes.slice(at, at + 16))['gid'];
    };
    expect(set({}).status).toBe(ManagementStatus.success);
    expect(gidOf(3)).toEqual(gid);
    for (const [fields, field] of [
      [{ gid_index: 0 }, 'gid_index'],
      [{ gid_index: 16 }, 'gid_index'],
      [{ port: 0 }, 'port'],
      [{ port: 2 }, 'port'],
    ] as const)
      expect(set(fields)).toMatchObject({
        status: ManagementStatus.badParameter,
        inMailbox: 1,
        output: bitOf('set_global_identifier_input', field),
      });
  });
});

describe('port, out', () => {
  it('sends packets to other boards, alternating responses and requests, each lane in order', () => {
    const port = makeWirePort();
    for (let mark = 0; mark < 4; mark += 1) port.build(1, Lane.requests, frame(elsewhere, mark));
    for (let mark = 4; mark < 8; mark += 1) port.build(1, Lane.responses, frame(elsewhere, mark));
    runPort(port);
    expect(port.takeSent().map(({ lane, data }) => [lane, data[10]])).toEqual(
      [0, 1, 2, 3].flatMap((mark) => [
        [Lane.responses, mark + 4],
        [Lane.requests, mark],
      ]),
    );
    expect(port.counters(1)).toMatchObject({ packetsOut: 8, bytesOut: 8 * 64, packetsIn: 0 });
    expect([port.freeBuffers(PacketUse.request), port.freeBuffers(PacketUse.response)]).toEqual([64, 64]);
    expect(port.verify()).toBe(true);
  });

  it('delays a request by at most one response, and vice versa', () => {
    for (const [many, one] of [
      [Lane.responses, Lane.requests],
      [Lane.requests, Lane.responses],
    ] as const) {
      const port = makeWirePort();
      const sent: Lane[] = [];
      for (let round = 0; round < 20; round += 1) {
        while (port.build(1, many, frame(elsewhere)));
        if (round === 10) port.build(1, one, frame(elsewhere));
        port.stepPort();
        sent.push(...port.takeSent().map(({ lane }) => lane));
      }
      expect(sent.filter((lane) => lane === one)).toHaveLength(1);
      expect(sent.indexOf(one)).toBeLessThanOrEqual(11);
    }
  });

  it.each([
    ['responses', Lane.responses, Lane.requests],
    ['requests', Lane.requests, Lane.responses],
  ])('continues with %s while the other lane is paused, without losing a turn', (_, open, paused) => {
    const port = makeWirePort();
    port.setPaused(paused, true);
    port.build(1, paused, frame(elsewhere, 100));
    for (let mark = 0; mark < 4; mark += 1) {
      port.build(1, open, frame(elsewhere, mark));
      runPort(port);
      expect(port.takeSent().map(({ lane, data }) => [lane, data[10]])).toEqual([[open, mark]]);
    }
    for (let mark = 4; mark < 6; mark += 1) port.build(1, open, frame(elsewhere, mark));
    port.setPaused(paused, false);
    runPort(port);
    expect(port.takeSent().map(({ data }) => data[10])).toEqual([100, 4, 5]);
  });

  it.each([
    ['nothing is attached', LinkState.none, PortDiscard.noLink],
    ['no board has the address', LinkState.unreachable, PortDiscard.unreachable],
  ])('discards and counts if %s', (_, state, reason) => {
    const port = makeWirePort();
    port.setLink(state);
    port.build(1, Lane.requests, frame(elsewhere));
    runPort(port);
    const discards = Array<number>(8).fill(0);
    discards[reason] = 1;
    expect(port.counters(1)).toMatchObject({ packetsOut: 0, discards });
    expect(port.freeBuffers(PacketUse.request)).toBe(64);
  });

  it('waits for a paused link, asleep, then continues', () => {
    const port = makeWirePort();
    port.setLink(LinkState.paused);
    for (let mark = 0; mark < 3; mark += 1) port.build(1, Lane.requests, frame(elsewhere, mark));
    runPort(port);
    expect(port.takeSent()).toEqual([]);
    expect(port.isAwake()).toBe(false);
    port.setLink(LinkState.sent);
    runPort(port);
    expect(port.takeSent().map(({ data }) => data[10])).toEqual([0, 1, 2]);
    expect(port.nextDeadline()).toBe(never);
  });

  it('discards packets that waited for the discard limit, one at a time', () => {
    const port = makeWirePort();
    port.setLink(LinkState.paused);
    port.setTime(1000n);
    for (let mark = 0; mark < 2; mark += 1) port.build(1, Lane.requests, frame(elsewhere, mark));
    runPort(port);
    expect(port.nextDeadline()).toBe(1000n + BigInt(PORT_DISCARD_LIMIT));
    port.setDiscardLimit(50n);
    expect(port.nextDeadline()).toBe(1050n);
    port.setTime(1049n);
    runPort(port);
    expect(port.counters(1).discards[PortDiscard.paused]).toBe(0);
    port.setTime(1050n);
    runPort(port);
    expect(port.counters(1).discards[PortDiscard.paused]).toBe(1);
    expect(port.nextDeadline()).toBe(1100n);
    port.setLink(LinkState.sent);
    runPort(port);
    expect(port.takeSent().map(({ data }) => data[10])).toEqual([1]);
  });

  it('discards at a port that is down, both ways', () => {
    const port = makeWirePort();
    port.setEnabled(1, false);
    port.build(1, Lane.responses, frame(elsewhere));
    port.build(1, Lane.requests, frame(port.mac(1, 0)));
    port.arrive(Lane.requests, frame(port.mac(1, 0)));
    runPort(port);
    expect(port.counters(1).discards[PortDiscard.portDown]).toBe(3);
    expect(port.takeArrived(1)).toEqual([]);
    port.setEnabled(1, true);
    port.build(1, Lane.requests, frame(elsewhere));
    runPort(port);
    expect(port.takeSent()).toHaveLength(1);
  });
});

describe('port, trains', () => {
  const marks = (port: WirePort) => port.takeSent().map(({ data }) => data[10]);

  it('lets up to 16 packets to one address leave in a step, in order', () => {
    const port = makeWirePort();
    port.allowTrains();
    runPort(port); // reads the link's capabilities for the first time
    for (let mark = 0; mark < linkCredits; mark += 1)
      expect(port.build(1, Lane.requests, frame(elsewhere, mark, 64 + mark))).toBe(true);
    expect(port.stepPort()).toBe(false);
    expect(marks(port)).toEqual(Array.from({ length: linkCredits }, (_, mark) => mark));
    const bytesOut = linkCredits * 64 + (linkCredits * (linkCredits - 1)) / 2;
    expect(port.counters(1)).toMatchObject({ packetsOut: linkCredits, bytesOut });
    expect(port.freeBuffers(PacketUse.request)).toBe(64);
    expect(port.verify()).toBe(true);
  });

  it('sends one packet in a step where trains are not allowed', () => {
    const port = makeWirePort();
    for (let mark = 0; mark < 3; mark += 1) port.build(1, Lane.requests, frame(elsewhere, mark));
    for (let mark = 0; mark < 3; mark += 1) {
      expect(port.stepPort()).toBe(mark < 2);
      expect(marks(port)).toEqual([mark]);
    }
  });

  it('ends a train before a packet to another address, to itself, or of another port', () => {
    const port = makeWirePort({ ports: 2 });
    const other = Uint8Array.from(elsewhere).fill(7, 5);
    port.allowTrains();
    const packets = [
      [1, elsewhere],
      [1, elsewhere],
      [1, other],
      [1, port.mac(1, 0)],
      [1, elsewhere],
      [2, elsewhere],
      [1, elsewhere],
    ] as const;
    for (const [index, [number, mac]] of packets.entries())
      port.build(number, Lane.requests, frame(mac, index));
    const steps: (number | undefined)[][] = [];
    for (let goesOn = true; goesOn;) {
      goesOn = port.stepPort();
      steps.push(marks(port));
    }
    expect(steps.filter((sent) => sent.length !== 0)).toEqual([[0, 1], [2], [4], [6]]);
    expect(drain(port).map((bytes) => bytes[10])).toEqual([3]);
    expect(port.counters(2).discards[PortDiscard.noLink]).toBe(1);
    expect(port.verify()).toBe(true);
  });

  it('lets up to 16 packets that have arrived pass in a step, in order', () => {
    const port = makeWirePort();
    port.allowTrains();
    runPort(port);
    for (let mark = 0; mark < 20; mark += 1) port.arrive(Lane.requests, frame(elsewhere, mark));
    expect(port.stepPort()).toBe(true);
    expect(port.counters(1).packetsIn).toBe(linkCredits);
    expect(drain(port).map((bytes) => bytes[10])).toEqual(Array.from({ length: 20 }, (_, mark) => mark));
    expect(port.verify()).toBe(true);
  });

  it('lets a packet leave after the first that arrives, if one waits', () => {
    const port = makeWirePort();
    port.allowTrains();
    runPort(port);
    for (let mark = 0; mark < 3; mark += 1) port.arrive(Lane.requests, frame(elsewhere, mark));
    port.build(1, Lane.requests, frame(elsewhere, 9));
    port.stepPort();
    expect(port.counters(1)).toMatchObject({ packetsIn: 1, packetsOut: 0 });
    port.stepPort();
    expect(port.counters(1)).toMatchObject({ packetsIn: 3, packetsOut: 1 });
  });

  it('lets one packet arrive in a step where trains are not allowed', () => {
    const port = makeWirePort();
    for (let mark = 0; mark < 3; mark += 1) port.arrive(Lane.requests, frame(elsewhere, mark));
    for (let mark = 0; mark < 3; mark += 1) {
      port.stepPort();
      expect(port.counters(1).packetsIn).toBe(mark + 1);
    }
  });

  it('keeps packets for which the link has no room, in order, with their waiting time', () => {
    const port = makeWirePort();
    port.allowTrains();
    port.setTime(1000n);
    port.setRoom(5);
    for (let mark = 0; mark < 9; mark += 1) port.build(1, Lane.requests, frame(elsewhere, mark));
    runPort(port);
    expect(marks(port)).toEqual([0, 1, 2, 3, 4]);
    expect(port.isAwake()).toBe(false);
    expect(port.freeBuffers(PacketUse.request)).toBe(64 - 4);
    expect(port.nextDeadline()).toBe(1000n + BigInt(PORT_DISCARD_LIMIT));
    port.setRoom(100);
    runPort(port);
    expect(marks(port)).toEqual([5, 6, 7, 8]);
    expect(port.counters(1)).toMatchObject({ packetsOut: 9, bytesOut: 9 * 64 });
    expect(port.nextDeadline()).toBe(never);
    expect(port.verify()).toBe(true);
  });

  it('forms no train while the other lane waits', () => {
    const port = makeWirePort();
    port.allowTrains();
    for (let mark = 0; mark < 4; mark += 1) port.build(1, Lane.requests, frame(elsewhere, mark));
    for (let mark = 10; mark < 12; mark += 1) port.build(1, Lane.responses, frame(elsewhere, mark));
    runPort(port);
    expect(marks(port)).toEqual([10, 0, 11, 1, 2, 3]);
  });
});

describe('port, to own addresses', () => {
  it('receives its own packet at the addressed port, captured leaving and arriving', () => {
    const port = makeWirePort({ ports: 2 });
    const packet = frame(port.mac(2, 5), 9);
    port.build(1, Lane.requests, packet);
    runPort(port);
    expect(port.takeSent()).toEqual([]);
    expect(port.takeTapped()).toEqual([
      { direction: 'out', port: 1, data: packet },
      { direction: 'in', port: 2, data: packet },
    ]);
    expect(port.takeArrived(1)).toEqual([packet]);
    expect(port.counters(1)).toMatchObject({ packetsOut: 1, packetsLooped: 1, packetsIn: 0 });
    expect(port.counters(2)).toMatchObject({ packetsOut: 0, packetsIn: 1, bytesIn: 64 });
    expect(port.verify()).toBe(true);
  });

  it('does so by LID on InfiniBand', () => {
    const port = makeWirePort({ linkLayer: LinkLayer.infiniband });
    const packet = new Uint8Array(64);
    packet.set(encode('local_route_header', { destination_local_identifier: port.localIdentifier(1, 3) }));
    port.build(1, Lane.requests, packet);
    runPort(port);
    expect(port.takeArrived(1)).toEqual([packet]);
  });

  it('does not treat the address of a neighbor, or of a nonexistent port or function, as its own', () => {
    const port = makeWirePort({ boardNumber: 4 });
    const neighbor = makeWirePort({ boardNumber: 5 });
    const two = makeWirePort({ boardNumber: 4, ports: 2 });
    const beyond = port.mac(1, 7);
    beyond[5]! += 1;
    for (const mac of [neighbor.mac(1, 0), two.mac(2, 0), beyond]) port.build(1, Lane.requests, frame(mac));
    runPort(port);
    expect(port.takeSent()).toHaveLength(3);
  });

  it('waits for packet_receiver without limit', () => {
    const port = makeWirePort();
    const own = port.mac(1, 0);
    for (let mark = 0; mark <= linkCredits; mark += 1) {
      port.build(1, Lane.requests, frame(own, mark));
      runPort(port);
    }
    expect(port.isAwake()).toBe(false);
    expect(port.nextDeadline()).toBe(never);
    expect(drain(port)).toHaveLength(linkCredits + 1);
    expect(port.verify()).toBe(true);
  });
});

describe('port, in', () => {
  it('accepts responses and requests alternately, and leaves packets without a credit on the link', () => {
    const port = makeWirePort();
    const own = port.mac(1, 0);
    for (let mark = 0; mark < 20; mark += 1) port.arrive(Lane.requests, frame(own, mark));
    for (let mark = 100; mark < 110; mark += 1) port.arrive(Lane.responses, frame(own, mark));
    runPort(port);
    const marks = drain(port).map((bytes) => bytes[10]);
    expect(marks).toEqual([
      ...Array.from({ length: 10 }, (_, index) => [100 + index, index]).flat(),
      ...Array.from({ length: 10 }, (_, index) => 10 + index),
    ]);
    expect(port.counters(1)).toMatchObject({ packetsIn: 30, bytesIn: 30 * 64 });
    expect(port.freeBuffers(PacketUse.receive)).toBe(RECEIVE_PACKET_BUFFERS);
  });

  it('discards packets longer than a packet buffer', () => {
    const port = makeWirePort();
    port.arrive(Lane.requests, frame(port.mac(1, 0), 0, 4353));
    port.arrive(Lane.requests, frame(port.mac(1, 0), 0, 4352));
    expect(drain(port)).toHaveLength(1);
    expect(port.counters(1).discards[PortDiscard.tooLong]).toBe(1);
  });

  it('alternates between transmit and receive', () => {
    const port = makeWirePort();
    for (let mark = 0; mark < 3; mark += 1) {
      port.build(1, Lane.requests, frame(elsewhere, mark));
      port.arrive(Lane.requests, frame(port.mac(1, 0), mark));
    }
    runPort(port);
    expect(port.takeTapped().map(({ direction }) => direction)).toEqual([
      'out',
      'in',
      'out',
      'in',
      'out',
      'in',
    ]);
  });
});
