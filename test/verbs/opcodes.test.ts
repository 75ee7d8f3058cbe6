import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  Access,
  CompletionOpcode,
  CompletionStatus,
  Opcode,
  PathMtu,
  type MemoryRegion,
  type MemorySlice,
} from '../../lib/index.ts';
import { describeInProcess } from '../helpers/backends.ts';
import { describeConnections, makeConnection, patterned, type Side } from '../helpers/connection.ts';
import { stepped } from '../helpers/make_verbs.ts';

const { success } = CompletionStatus;

/** Bytes where both sides of a packet boundary lie, for a path MTU. */
const sizesAround = (mtu: number): number[] => [0, 1, 3, 64, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 5];

/** A region as a list of unaligned pieces, one of them empty where there is more than one. */
function pieces(region: MemoryRegion, count: number, length: number): MemorySlice[] {
  const list: MemorySlice[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    const left = length - at;
    const share =
      index === count - 1 ? left : index === 1 ? 0 : Math.min(left, Math.floor(length / count) + index);
    list.push(region.slice(at, share));
    at += share;
  }
  return list;
}

describeConnections('a reliable connection', (place) => {
  it('carries SENDs of every size, with immediate data and without', () => {
    const connection = makeConnection(place);
    const { client, server, complete } = connection;
    const source = patterned(client, 8192, 1);
    const target = server.protectionDomain.allocate(8192);
    for (const [index, length] of sizesAround(1024).entries()) {
      target.bytes.fill(0);
      const withImmediate = index % 2 === 1;
      server.queuePair.postReceive({ wrId: 100 + index, scatter: pieces(target, 3, 8192) });
      client.queuePair.postSend({
        opcode: withImmediate ? Opcode.sendWithImmediate : Opcode.send,
        immediateData: 0x89ab_cdef,
        wrId: index,
        signaled: true,
        gather: pieces(source, (index % 4) + 1, length),
      });
      expect(complete(server, 1)).toMatchObject([
        {
          wrId: 100 + index,
          status: success,
          opcode: CompletionOpcode.receive,
          byteLength: length,
          withImmediate,
          immediateData: withImmediate ? 0x89ab_cdef : 0,
          queuePairNumber: server.queuePair.number,
        },
      ]);
      expect(complete(client, 1)).toMatchObject([
        {
          wrId: index,
          status: success,
          opcode: CompletionOpcode.send,
          queuePairNumber: client.queuePair.number,
        },
      ]);
      expect(target.bytes.subarray(0, length)).toEqual(source.bytes.subarray(0, length));
      expect(target.bytes.subarray(length).every((byte) => byte === 0)).toBe(true);
    }
  });

  it('carries inline data, which the caller may reuse at once', () => {
    const { client, server, complete } = makeConnection(place);
    const target = server.protectionDomain.allocate(256);
    for (const length of [0, 1, 8, 63, 64, 255, 256]) {
      const inlineData = Uint8Array.from({ length }, (_, at) => at ^ length);
      const sent = Uint8Array.from(inlineData);
      server.queuePair.postReceive({ scatter: [target.slice()] });
      client.queuePair.postSend({ opcode: Opcode.send, inlineData, signaled: true });
      inlineData.fill(0);
      expect(complete(server, 1)).toMatchObject([{ status: success, byteLength: length }]);
      complete(client, 1);
      expect(target.bytes.subarray(0, length)).toEqual(sent);
    }
  });

  it('writes and reads memory of the peer without a call there', () => {
    const { client, server, complete, rest } = makeConnection(place);
    const here = patterned(client, 8192, 3);
    const there = patterned(server, 8192, 5);
    for (const length of sizesAround(1024)) {
      const remote = there.remote().slice(77, length);
      const written = Uint8Array.from(here.bytes.subarray(5, 5 + length));
      client.queuePair.postSend([
        { opcode: Opcode.rdmaWrite, remote, gather: [here.slice(5, length)] },
        { opcode: Opcode.rdmaRead, remote, gather: pieces(here, 2, length), signaled: true, wrId: length },
      ]);
      expect(complete(client, 1)).toMatchObject([
        { wrId: length, status: success, opcode: CompletionOpcode.rdmaRead, byteLength: length },
      ]);
      expect(there.bytes.subarray(77, 77 + length)).toEqual(written);
      expect(here.bytes.subarray(0, length)).toEqual(written);
    }
    rest();
    expect(server.completionQueue.driver.hasCompletion).toBe(false);
  });

  it('takes a receive for an RDMA WRITE with immediate, but does not use its scatter list', () => {
    const { client, server, complete } = makeConnection(place);
    const here = patterned(client, 4096, 3);
    const there = server.protectionDomain.allocate(4096, 0xf);
    for (const length of [0, 1, 1024, 2049]) {
      server.queuePair.postReceive({ wrId: length });
      client.queuePair.postSend({
        opcode: Opcode.rdmaWriteWithImmediate,
        remote: there.remote(),
        gather: [here.slice(0, length)],
        immediateData: 0xffff_fffe,
        signaled: true,
      });
      expect(complete(server, 1)).toMatchObject([
        {
          wrId: length,
          status: success,
          opcode: CompletionOpcode.receiveRdmaWithImmediate,
          byteLength: length,
          withImmediate: true,
          immediateData: 0xffff_fffe,
        },
      ]);
      expect(complete(client, 1)).toMatchObject([{ status: success, opcode: CompletionOpcode.rdmaWrite }]);
      expect(there.bytes.subarray(0, length)).toEqual(here.bytes.subarray(0, length));
    }
  });

  it('compares and swaps, fetches and adds', () => {
    const { client, server, complete } = makeConnection(place);
    const result = client.protectionDomain.allocate(8);
    const former = new BigUint64Array(result.bytes.buffer, 0, 1);
    const there = server.protectionDomain.allocate(64, 0xf);
    const words = new BigUint64Array(there.bytes.buffer, 0, 8);
    words[3] = 2n ** 64n - 1n;
    const common = { remote: there.remote().slice(24, 8), gather: [result.slice()], signaled: true };
    const steps = [
      { opcode: Opcode.atomicFetchAndAdd, compareAdd: 3n, former: 2n ** 64n - 1n, after: 2n },
      { opcode: Opcode.atomicCompareAndSwap, compareAdd: 1n, swap: 9n, former: 2n, after: 2n },
      {
        opcode: Opcode.atomicCompareAndSwap,
        compareAdd: 2n,
        swap: 0x0123_4567_89ab_cdefn,
        former: 2n,
        after: 0x0123_4567_89ab_cdefn,
      },
      {
        opcode: Opcode.atomicFetchAndAdd,
        compareAdd: -1n,
        former: 0x0123_4567_89ab_cdefn,
        after: 0x0123_4567_89ab_cdeen,
      },
    ];
    for (const { former: was, after, ...step } of steps) {
      client.queuePair.postSend({ ...common, ...step });
      expect(complete(client, 1)).toMatchObject([
        {
          status: success,
          opcode:
            step.opcode === Opcode.atomicFetchAndAdd
              ? CompletionOpcode.fetchAndAdd
              : CompletionOpcode.compareAndSwap,
          byteLength: 8,
        },
      ]);
      expect(former[0]).toBe(was);
      expect(words[3]).toBe(after);
    }
    expect([...words].filter((_, index) => index !== 3)).toEqual(Array<bigint>(7).fill(0n));
  });

  it('keeps the order of work requests: a READ sees an earlier WRITE, a fenced WRITE waits for an earlier READ', () => {
    const { client, server, complete } = makeConnection(place);
    const here = client.protectionDomain.allocate(4096);
    const there = server.protectionDomain.allocate(4096, 0xf);
    const remote = there.remote();
    for (let round = 1; round < 30; round++) {
      here.bytes.fill(round, 0, 1024);
      client.queuePair.postSend([
        { opcode: Opcode.rdmaWrite, remote, gather: [here.slice(0, 1024)] },
        { opcode: Opcode.rdmaRead, remote, gather: [here.slice(2048, 1024)] },
        {
          opcode: Opcode.rdmaWrite,
          remote: remote.slice(1024),
          gather: [here.slice(2048, 1024)],
          fence: true,
          signaled: true,
        },
      ]);
      complete(client, 1);
      expect(there.bytes.subarray(0, 2048)).toEqual(new Uint8Array(2048).fill(round));
    }
  });
});

describeConnections(
  'a reliable connection',
  (place) => {
    it('accesses memory of the caller with its registered rights', () => {
      const { client, server, complete } = makeConnection(place);
      const data = Uint8Array.from({ length: 6000 }, (_, at) => at * 3);
      const readOnly = client.protectionDomain.registerMemory(data, Access.remoteRead);
      const memory = new Uint8Array(new ArrayBuffer(9000), 1001, 6000);
      const there = server.protectionDomain.registerMemory(memory);
      server.queuePair.postReceive({ scatter: [there.slice()] });
      client.queuePair.postSend({ opcode: Opcode.send, gather: [readOnly.slice()], signaled: true });
      expect(complete(server, 1)).toMatchObject([{ status: success, byteLength: 6000 }]);
      expect(complete(client, 1)).toMatchObject([{ status: success }]);
      expect(memory).toEqual(data);
      memory.fill(0);
      server.queuePair.postSend({
        opcode: Opcode.rdmaRead,
        remote: readOnly.remote(),
        gather: [there.slice()],
        signaled: true,
      });
      expect(complete(server, 1)).toMatchObject([{ status: success }]);
      expect(memory).toEqual(data);
      expect(new Uint8Array(memory.buffer, 0, 1001).every((byte) => byte === 0)).toBe(true);
      expect(new Uint8Array(memory.buffer, 7001).every((byte) => byte === 0)).toBe(true);
    });
  },
  describeInProcess,
);

describe.each([PathMtu.mtu256, PathMtu.mtu512, PathMtu.mtu2048, PathMtu.mtu4096])(
  'path MTU %i',
  (pathMtu) => {
    it('carries messages of sizes around a packet, both ways', () => {
      const { client, server, complete } = makeConnection({ backend: stepped, boards: 1 }, { pathMtu });
      const mtu = 128 << pathMtu;
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        const source = patterned(from, 4 * mtu, 9);
        const target = to.protectionDomain.allocate(4 * mtu, 0xf);
        for (const length of sizesAround(mtu)) {
          target.bytes.fill(0);
          to.queuePair.postReceive({ scatter: [target.slice()] });
          from.queuePair.postSend({ opcode: Opcode.send, gather: [source.slice(0, length)], signaled: true });
          expect(complete(to, 1)).toMatchObject([{ status: success, byteLength: length }]);
          expect(complete(from, 1)).toMatchObject([{ status: success }]);
          expect(target.bytes.subarray(0, length)).toEqual(source.bytes.subarray(0, length));
          target.bytes.fill(0);
          from.queuePair.postSend({
            opcode: Opcode.rdmaWrite,
            remote: target.remote(),
            gather: [source.slice(0, length)],
            signaled: true,
          });
          expect(complete(from, 1)).toMatchObject([{ status: success }]);
          expect(target.bytes.subarray(0, length)).toEqual(source.bytes.subarray(0, length));
        }
      }
    });
  },
);

describe('gather and scatter lists', () => {
  it('of 1 to 16 entries of any length and alignment put bytes where they belong', () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 16 });
    const { client, server, complete } = makeConnection({ backend: stepped, boards: 1 });
    const source = patterned(client, 16_384, 1);
    const target = server.protectionDomain.allocate(16_384);
    const list = (region: MemoryRegion, chosen: readonly number[]): MemorySlice[] => {
      let at = 0;
      return chosen.map((length, index) => {
        const slice = region.slice(at + index, length);
        at += length + index;
        return slice;
      });
    };
    const joined = (region: MemoryRegion, slices: readonly MemorySlice[]): number[] =>
      slices.flatMap(({ addressLow, addressHigh, length }) => {
        const at = Number((BigInt(addressHigh) << 32n) + BigInt(addressLow) - region.address);
        return [...region.bytes.subarray(at, at + length)];
      });
    fc.assert(
      fc.property(lengths, lengths, (sent, received) => {
        const total = sent.reduce((sum, length) => sum + length, 0);
        const room = received.reduce((sum, length) => sum + length, 0);
        // Data that does not fit is another test's.
        const scatter = list(target, room < total ? [...received.slice(1), total] : received);
        const gather = list(source, sent);
        target.bytes.fill(0);
        server.queuePair.postReceive({ scatter });
        client.queuePair.postSend({ opcode: Opcode.send, gather, signaled: true });
        expect(complete(server, 1)).toMatchObject([{ status: success, byteLength: total }]);
        expect(complete(client, 1)).toMatchObject([{ status: success }]);
        expect(joined(target, scatter).slice(0, total)).toEqual(joined(source, gather));
        expect(
          joined(target, scatter)
            .slice(total)
            .every((byte) => byte === 0),
        ).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('many work requests', () => {
  it('complete in order, each with its wrId, for all kinds', () => {
    const kind = fc.constantFrom('send', 'inline', 'write', 'read', 'add');
    const { client, server, complete } = makeConnection({ backend: stepped, boards: 1 });
    const source = patterned(client, 4096, 2);
    const target = server.protectionDomain.allocate(8192, 0xf);
    const request = (name: string, wrId: number): Parameters<Side['queuePair']['postSend']>[0] => {
      const common = { wrId, signaled: true };
      const remote = target.remote();
      switch (name) {
        case 'send':
          return { ...common, opcode: Opcode.send, gather: [source.slice(0, 1500)] };
        case 'inline':
          return { ...common, opcode: Opcode.send, inlineData: new Uint8Array(100) };
        case 'write':
          return { ...common, opcode: Opcode.rdmaWrite, remote, gather: [source.slice(0, 2500)] };
        case 'read':
          return { ...common, opcode: Opcode.rdmaRead, remote, gather: [source.slice(0, 2500)] };
        default:
          return {
            ...common,
            opcode: Opcode.atomicFetchAndAdd,
            remote: remote.slice(0, 8),
            gather: [source.slice(0, 8)],
            compareAdd: 1n,
          };
      }
    };
    let wrId = 0;
    fc.assert(
      fc.property(fc.array(kind, { minLength: 1, maxLength: 40 }), (kinds) => {
        const sends = kinds.filter((name) => name === 'send' || name === 'inline').length;
        for (let index = 0; index < sends; index++)
          server.queuePair.postReceive({ wrId: index, scatter: [target.slice(4096)] });
        const first = wrId;
        for (const name of kinds) client.queuePair.postSend(request(name, wrId++));
        const done = complete(client, kinds.length);
        expect(done.map((completion) => [completion.wrId, completion.status])).toEqual(
          kinds.map((_, index) => [first + index, success]),
        );
        expect(complete(server, sends).map((completion) => completion.wrId)).toEqual(
          Array.from({ length: sends }, (_, index) => index),
        );
      }),
      { numRuns: 40 },
    );
  });
});
