import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import { Opcode, type SendRequest } from '../../lib/index.ts';
import { dissect } from '../helpers/tshark.ts';
import { requireTool } from '../helpers/tools.ts';
import { makeMemory, makePair, settle } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

let directory = '';

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-'));
});

afterAll(() => rmSync(directory, { recursive: true }));

/**
 * Sends a work request of each opcode from a board to itself, with 2,500 B in packets of 1,024 B, and
 * captures the packets.
 */
function captureAll(name: string, options: BoardOptions = {}): { file: string; queuePairs: number[] } {
  const file = path.join(directory, name);
  const verbs = makeVerbs(stepped, { capture: file, ...options });
  const ends = makePair(verbs, {
    addressVector: {
      port: 1,
      isGlobal: true,
      hopLimit: 64,
      destinationGid: verbs.context.queryGid(1, 0),
      destinationLocalIdentifier: verbs.context.queryPort(1).localIdentifier,
    },
  });
  const [{ queuePair }, { queuePair: peer }] = ends;
  const { region } = makeMemory(ends[0], 8192);
  const gather = [region.slice(0, 2500)];
  const remote = region.remote().slice(4096, 2500);
  const word = { gather: [region.slice(0, 8)], remote: region.remote().slice(4096, 8), compareAdd: 1n };
  const requests: SendRequest[] = [
    { opcode: Opcode.send, gather },
    { opcode: Opcode.sendWithImmediate, gather, immediateData: 7 },
    { opcode: Opcode.rdmaWrite, gather, remote },
    { opcode: Opcode.rdmaWriteWithImmediate, gather, remote, immediateData: 8 },
    { opcode: Opcode.rdmaRead, gather, remote },
    { opcode: Opcode.atomicFetchAndAdd, ...word },
    { opcode: Opcode.atomicCompareAndSwap, ...word, swap: 2n },
  ];
  for (let count = 0; count < 3; count++) peer.postReceive({ scatter: [region.slice(4096, 4096)] });
  for (const request of requests) {
    queuePair.postSend(request);
    settle(ends[0]);
  }
  verbs.board.stopCapture();
  return { file, queuePairs: [queuePair.number, peer.number] };
}

const fields = ['frame.interface_name', 'frame.comment', 'infiniband.bth.opcode', 'infiniband.bth.destqp'];
const fieldsOfMalformed = ['_ws.malformed', '_ws.expert.message'];

describe('a capture', () => {
  it('is read by tshark: each packet, its type and its cause', (context) => {
    const tshark = requireTool('tshark', context);
    const { file, queuePairs } = captureAll('all.pcapng');
    const [from, to] = queuePairs.map((number) => `queue pair ${number}`);
    const packets = dissect(tshark, readFileSync(file), [...fields, ...fieldsOfMalformed]);
    expect(packets.filter(({ '_ws.malformed': malformed }) => malformed !== undefined)).toEqual([]);
    expect(new Set(packets.map((packet) => packet['frame.interface_name']))).toEqual(
      new Set(['board 0 port 1']),
    );
    // A packet in loopback is captured leaving and arriving.
    const out = packets.filter((_, index) => index % 2 === 0);
    expect(packets.filter((_, index) => index % 2 === 1)).toEqual(out);
    const command = (number: number, opcode: string, packet: number): string =>
      `${from}, command ${number}: ${opcode}, packet ${packet}`;
    const answer = `${to} answers`;
    const message = (number: number, opcode: string): string[] => [
      ...[0, 1, 2].map((packet) => command(number, opcode, packet)),
      answer,
    ];
    expect(out.map((packet) => packet['frame.comment'])).toEqual([
      ...message(0, 'send'),
      ...message(1, 'send_with_immediate'),
      ...message(2, 'rdma_write'),
      ...message(3, 'rdma_write_with_immediate'),
      command(4, 'rdma_read', 0),
      answer,
      answer,
      answer,
      command(5, 'atomic_fetch_and_add', 0),
      answer,
      command(6, 'atomic_compare_and_swap', 0),
      answer,
    ]);
    const opcodes = out.map((packet) => packet['infiniband.bth.opcode']).join(' ');
    expect(opcodes).toBe('0 1 2 17 0 1 3 17 6 7 8 17 6 7 9 17 12 13 14 15 20 18 19 18');
  });

  it('of an InfiniBand port has its link layer', (context) => {
    const tshark = requireTool('tshark', context);
    const { file } = captureAll('infiniband.pcapng', { linkLayer: 'infiniband' });
    const packets = dissect(tshark, readFileSync(file), ['frame.protocols', 'infiniband.lrh.dlid']);
    expect(packets).toHaveLength(48);
    for (const packet of packets) expect(packet['infiniband.lrh.dlid']).toBeDefined();
  });

  it('has virtual time, and is reproducible', () => {
    const [one, other] = ['one', 'other'].map((name) => readFileSync(captureAll(name).file));
    expect(one!.equals(other!)).toBe(true);
  });

  it('is refused with the reason', () => {
    const capture = path.join(directory, 'missing', 'file');
    expect(() => makeVerbs(stepped, { capture })).toThrow(
      `the capture file ${capture} cannot be written: No such file or directory`,
    );
    const { board } = makeVerbs();
    expect(() => board.startCapture('/dev/full')).not.toThrow();
    expect(() => board.stopCapture()).toThrow('the capture file /dev/full cannot be written: No space left');
  });
});
