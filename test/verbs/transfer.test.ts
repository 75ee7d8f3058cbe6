import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CompletionOpcode, CompletionStatus, Opcode, PathMtu } from '../../lib/index.ts';
import { connect, makeEnd, makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { makeConnection } from '../helpers/connection.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const { success } = CompletionStatus;
const mebibyte = 1 << 20;
const mtus = [PathMtu.mtu256, PathMtu.mtu512, PathMtu.mtu1024, PathMtu.mtu2048, PathMtu.mtu4096];
const bytesOf = (mtu: PathMtu): number => 128 << mtu;

describe('a reliable connection over the port of one board', () => {
  it('sends into the receive queue of the peer', () => {
    const [from, to] = makePair(makeVerbs());
    const source = makeMemory(from, 3000, 1);
    const target = makeMemory(to, 4096, 2);
    to.queuePair.postReceive({ wrId: 7, scatter: [target.region.slice()] });
    from.queuePair.postSend({
      opcode: Opcode.send,
      wrId: 8,
      signaled: true,
      gather: [source.region.slice()],
    });
    const completions = settle(from);
    expect(completions).toMatchObject([
      {
        queuePairNumber: to.queuePair.number,
        workQueue: 1,
        opcode: CompletionOpcode.receive,
        status: success,
        byteLength: 3000,
      },
      {
        queuePairNumber: from.queuePair.number,
        workQueue: 0,
        opcode: CompletionOpcode.send,
        status: success,
      },
    ]);
    expect(completions.map(({ wrId }) => wrId)).toEqual([7, 8]);
    expect(target.data.subarray(0, 3000)).toEqual(source.data);
  });
});

describe.each([1, 2] as const)('a message of 0 B to 1 MiB, over %i board(s)', (boards) => {
  it.each(mtus)('arrives byte for byte and nowhere else, path MTU %i', (pathMtu) => {
    const { client, server, complete } = makeConnection({ backend: stepped, boards }, { pathMtu });
    const room = mebibyte + 64;
    const source = client.protectionDomain.allocate(room);
    const target = server.protectionDomain.allocate(room, 0xf);
    const back = client.protectionDomain.allocate(room);
    for (let at = 0; at < room; at++) source.bytes[at] = (at * 7 + (at >> 8) * 13 + (at >> 16) * 5) & 0xff;
    const mtu = bytesOf(pathMtu);
    // Around whole packets, up to 1 MiB.
    const length = fc
      .tuple(fc.oneof(fc.nat(8), fc.nat(64), fc.nat(mebibyte / mtu)), fc.integer({ min: -2, max: 2 }))
      .map(([packets, beside]) => Math.min(mebibyte, Math.max(0, packets * mtu + beside)));
    const arrived = (region: typeof target, at: number, bytes: number, from: number): void => {
      const here = source.bytes.subarray(from, from + bytes);
      expect(Buffer.compare(region.bytes.subarray(at, at + bytes), here)).toBe(0);
      expect([...region.bytes.subarray(at + bytes, at + bytes + 16)]).toEqual(Array<number>(16).fill(0));
      expect([...region.bytes.subarray(0, at)]).toEqual(Array<number>(at).fill(0));
    };
    fc.assert(
      fc.property(length, fc.nat(15), fc.nat(15), (bytes, from, to) => {
        const gather = [source.slice(from, bytes)];
        const remote = target.remote().slice(to, bytes);
        const signaled = true;
        const clear = (region: typeof target): unknown => region.bytes.fill(0, 0, bytes + 64);
        for (const opcode of [Opcode.send, Opcode.rdmaWrite]) {
          clear(target);
          if (opcode === Opcode.send) server.queuePair.postReceive({ scatter: [target.slice(to)] });
          client.queuePair.postSend({ opcode, gather, remote, signaled });
          expect(complete(client, 1)).toMatchObject([{ status: success, byteLength: bytes }]);
          if (opcode === Opcode.send)
            expect(complete(server, 1)).toMatchObject([{ status: success, byteLength: bytes }]);
          arrived(target, to, bytes, from);
        }
        clear(back);
        client.queuePair.postSend({
          opcode: Opcode.rdmaRead,
          gather: [back.slice(from, bytes)],
          remote,
          signaled,
        });
        expect(complete(client, 1)).toMatchObject([{ status: success, byteLength: bytes }]);
        arrived(back, from, bytes, from);
      }),
      { numRuns: 12, examples: [[mebibyte, 1, 3]] },
    );
  });
});

describe('lists of 1 to 16 entries', () => {
  it('are the source of an RDMA WRITE, and the destination of an RDMA READ', () => {
    const { client, server, complete } = makeConnection({ backend: stepped, boards: 1 });
    const room = 16 * 1000;
    const source = client.protectionDomain.allocate(room);
    const back = client.protectionDomain.allocate(room);
    const target = server.protectionDomain.allocate(room, 0xf);
    for (let at = 0; at < room; at++) source.bytes[at] = (at * 11 + (at >> 8)) & 0xff;
    const entry = fc.record({ length: fc.oneof(fc.constant(0), fc.nat(900)), skipped: fc.nat(90) });
    const list = fc.array(entry, { minLength: 1, maxLength: 16 });
    const placed = (entries: readonly { length: number; skipped: number }[]): [number, number][] => {
      let at = 0;
      return entries.map(({ length, skipped }) => {
        const begin = at + skipped;
        at = begin + length;
        return [begin, length];
      });
    };
    fc.assert(
      fc.property(list, fc.nat(7), (entries, shift) => {
        const spans = placed(entries);
        const total = entries.reduce((sum, { length }) => sum + length, 0);
        const remote = target.remote().slice(shift, total);
        back.bytes.fill(0);
        client.queuePair.postSend([
          { opcode: Opcode.rdmaWrite, gather: spans.map((span) => source.slice(...span)), remote },
          {
            opcode: Opcode.rdmaRead,
            gather: spans.map((span) => back.slice(...span)),
            remote,
            signaled: true,
          },
        ]);
        expect(complete(client, 1)).toMatchObject([{ status: success, byteLength: total }]);
        const sent = Buffer.concat(spans.map(([at, length]) => source.bytes.subarray(at, at + length)));
        expect(Buffer.compare(target.bytes.subarray(shift, shift + total), sent)).toBe(0);
        const expected = new Uint8Array(room);
        for (const [at, length] of spans) expected.set(source.bytes.subarray(at, at + length), at);
        expect(Buffer.compare(back.bytes, expected)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a send queue reports', () => {
  const send = { opcode: Opcode.rdmaWrite, gather: [] };
  const wrIdsOf = (from: End): number[] => settle(from).map(({ wrId }) => wrId);

  it('signaled work requests, and no others', () => {
    const [from, to] = makePair(makeVerbs());
    const remote = makeMemory(to, 8).region.remote();
    const signaled = fc.array(fc.boolean(), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(signaled, (marks) => {
        // The last one frees the slots of all.
        const all = [...marks, true];
        from.queuePair.postSend(all.map((mark, wrId) => ({ ...send, remote, wrId, signaled: mark })));
        expect(wrIdsOf(from)).toEqual(all.flatMap((mark, wrId) => (mark ? [wrId] : [])));
      }),
      { numRuns: 30 },
    );
  });

  it('all work requests, if the queue pair was created so', () => {
    const verbs = makeVerbs();
    const { completionQueue, protectionDomain } = verbs;
    const queuePair = protectionDomain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
      signalAll: true,
    });
    const [from, to] = [{ verbs, queuePair }, makeEnd(verbs)];
    connect(from, to);
    connect(to, from);
    const remote = makeMemory(to, 8).region.remote();
    queuePair.postSend([0, 1, 2].map((wrId) => ({ ...send, remote, wrId, signaled: wrId === 1 })));
    expect(wrIdsOf(from)).toEqual([0, 1, 2]);
  });
});
