import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { CompletionStatus, Opcode, type SendRequest } from '../../lib/index.ts';
import { bitwise, onWire } from '../helpers/icrc_reference.ts';
import { dissect } from '../helpers/tshark.ts';
import { requireTool } from '../helpers/tools.ts';
import { connect, makeEnd, makeMemory, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const vcrcBytes = 2;
const framings = [
  ['by local identifiers alone', false, { lnh: '0x02', bthAt: 8 }],
  ['with a global route header', true, { lnh: '0x03', bthAt: 48 }],
] as const;

/** Two ends on separate boards on an InfiniBand fabric. */
function makeEnds(isGlobal: boolean, captures: readonly (string | undefined)[] = []): [End, End] {
  const fabric = `infiniband ${randomUUID()}`;
  const ends = [0, 1].map((index) => {
    const capture = captures[index];
    return makeEnd(
      makeVerbs(stepped, { fabric, linkLayer: 'infiniband', ...(capture !== undefined && { capture }) }),
    );
  }) as [End, End];
  const [one, other] = ends;
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const { context } = to.verbs;
    const addressVector = {
      port: 1,
      isGlobal,
      hopLimit: 64,
      destinationGid: context.queryGid(1, 0),
      destinationLocalIdentifier: context.queryPort(1).localIdentifier,
    };
    connect(from, to, { addressVector });
  }
  return ends;
}

/** A work request of each opcode, with 2,500 B in packets of 1,024 B. */
function sendAll([from, to]: readonly [End, End]): void {
  const [here, there] = [makeMemory(from, 4096).region, makeMemory(to, 4096).region];
  const gather = [here.slice(0, 2500)];
  const remote = there.remote();
  const word = { gather: [here.slice(0, 8)], remote, compareAdd: 1n };
  const requests: SendRequest[] = [
    { opcode: Opcode.send, gather },
    { opcode: Opcode.sendWithImmediate, gather, immediateData: 7 },
    { opcode: Opcode.rdmaWrite, gather, remote },
    { opcode: Opcode.rdmaWriteWithImmediate, gather, remote, immediateData: 8 },
    { opcode: Opcode.rdmaRead, gather, remote },
    { opcode: Opcode.atomicFetchAndAdd, ...word },
    { opcode: Opcode.atomicCompareAndSwap, ...word, swap: 2n },
  ];
  for (let count = 0; count < 3; count++) to.queuePair.postReceive({ scatter: [there.slice(0, 4096)] });
  for (const request of requests) {
    from.queuePair.postSend({ ...request, signaled: true });
    expect(settle(from)).toMatchObject([{ status: CompletionStatus.success }]);
  }
}

const fields = [
  '_ws.malformed',
  '_ws.expert.message', // of a comment too
  'frame.comment',
  'infiniband.lrh.lnh',
  'infiniband.lrh.lver',
  'infiniband.lrh.slid',
  'infiniband.lrh.dlid',
  'infiniband.lrh.pktlen',
  'infiniband.grh.sgid',
  'infiniband.bth.opcode',
];

describe.each(framings)('an InfiniBand fabric, %s', (_, isGlobal, { lnh, bthAt }) => {
  it('carries packets that tshark reads at either port without complaint, each with the right VCRC', (context) => {
    const tshark = requireTool('tshark', context);
    const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-infiniband-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const files = ['near', 'far'].map((name) => path.join(directory, name));
    const ends = makeEnds(isGlobal, files);
    for (const { verbs } of ends) verbs.board.startPacketTrace();
    sendAll(ends);
    const traced = ends.map(({ verbs }) => verbs.board.takePackets());
    const identifiers = ends.map(({ verbs }) => verbs.context.queryPort(1).localIdentifier);
    for (const [index, { verbs }] of ends.entries()) {
      verbs.board.stopCapture();
      const decoded = dissect(tshark, readFileSync(files[index]!), fields);
      const complaints = decoded.filter(
        (packet) =>
          packet['_ws.malformed'] !== undefined || packet['_ws.expert.message'] !== packet['frame.comment'],
      );
      expect(complaints).toEqual([]);
      expect(decoded).toHaveLength(24);
      expect(decoded.map((packet) => packet['infiniband.bth.opcode']).join(' ')).toBe(
        '0 1 2 17 0 1 3 17 6 7 8 17 6 7 9 17 12 13 14 15 20 18 19 18',
      );
      for (const [at, packet] of decoded.entries()) {
        const { data, direction } = traced[index]![at]!;
        const isAnswer = (direction === 'out') === (index === 1);
        const [from, to] = isAnswer ? identifiers.toReversed() : identifiers;
        expect(packet).toMatchObject({
          'infiniband.lrh.lnh': lnh,
          'infiniband.lrh.lver': '0',
          'infiniband.lrh.slid': String(from),
          'infiniband.lrh.dlid': String(to),
          'infiniband.lrh.pktlen': String((data.length - vcrcBytes) / 4),
        });
        expect(packet['infiniband.grh.sgid'] !== undefined).toBe(isGlobal);
        expect(data.slice(-vcrcBytes)).toEqual(
          onWire('vcrc', bitwise('vcrc', 0xffff, data.slice(0, -vcrcBytes))),
        );
      }
    }
  });

  it('has ports that refuse a packet with any one inverted bit, and accept the valid ones after it', () => {
    const [from, to] = makeEnds(isGlobal);
    const { board, context } = to.verbs;
    const { region } = makeMemory(to, 64);
    region.bytes.fill(0);
    const dropped = (): number =>
      readNamed(
        context.driver.device.controlPage!,
        registerNamed(blockNamed('control'), 'packets_dropped'),
      ).values.reduce((sum: number, value) => sum + Number(value), 0);
    const source = makeMemory(from, 64, 1);
    // The packet is captured and lost; then it is sent with each bit inverted.
    const impairment = board.impair({ loss: 1, count: 1 });
    from.verbs.board.startPacketTrace();
    from.queuePair.postSend({
      opcode: Opcode.rdmaWrite,
      gather: [source.region.slice()],
      remote: region.remote(),
      signaled: true,
    });
    for (let steps = 0; board.impaired(impairment).lost === 0; steps++) {
      expect(steps).toBeLessThan(10_000);
      board.step(1);
    }
    const [sent] = from.verbs.board.takePackets();
    expect(sent!.data[bthAt]).toBe(10);
    for (let bit = 0; bit < sent!.data.length * 8; bit++) {
      const damaged = sent!.data.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      board.arrive(damaged);
      board.step(100);
    }
    expect(dropped()).toBe(sent!.data.length * 8);
    expect(region.bytes.every((byte) => byte === 0)).toBe(true);
    board.arrive(sent!.data);
    expect(settle(from)).toMatchObject([{ status: CompletionStatus.success }]);
    expect(region.bytes).toEqual(source.data);
  });
});
