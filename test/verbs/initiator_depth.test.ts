import { describe, expect, it } from 'vitest';

import { CompletionStatus, Opcode, PathMtu, QueuePairState, type SendRequest } from '../../lib/index.ts';
import {
  connect,
  makeMemory,
  makePair,
  settle,
  type ConnectOptions,
  type End,
} from '../helpers/connected.ts';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';
import { packetsSent, type WirePacket } from './wire.ts';

const options: ConnectOptions = { pathMtu: PathMtu.mtu256 };
const readBytes = 3 * 256;

const isAsking = ({ opcode }: WirePacket): boolean => /read_request|fetch_and_add/.test(opcode);
const isAnswered = ({ opcode }: WirePacket): boolean =>
  /read_response_(last|only)|atomic_acknowledge/.test(opcode);

/** READs and atomics, alternately, that fetch the peer's data. */
function questions(from: End, to: End, count: number): { requests: SendRequest[]; check: () => void } {
  const source = makeMemory(to, count * readBytes, 3);
  const target = makeMemory(from, count * readBytes, 4);
  const word = makeMemory(to, 8);
  word.data.fill(0);
  const requests = Array.from({ length: count }, (_, wrId): SendRequest => {
    const isAtomic = wrId % 3 === 2;
    const length = isAtomic ? 8 : readBytes;
    return {
      opcode: isAtomic ? Opcode.atomicFetchAndAdd : Opcode.rdmaRead,
      wrId,
      signaled: true,
      compareAdd: 1n,
      gather: [target.region.slice(wrId * readBytes, length)],
      remote: isAtomic ? word.region.remote() : source.region.remote().slice(wrId * readBytes, readBytes),
    };
  });
  const check = (): void => {
    let atomics = 0n;
    for (let wrId = 0; wrId < count; wrId++) {
      const at = wrId * readBytes;
      if (wrId % 3 === 2) expect(new DataView(target.data.buffer).getBigUint64(at, true)).toBe(atomics++);
      else {
        const [brought, there] = [target, source].map(({ data }) => data.subarray(at, at + readBytes));
        expect(brought).toEqual(there);
      }
    }
  };
  return { requests, check };
}

/** Takes the packets that the port has sent while the board works, one by one. */
function trace(verbs: Verbs): WirePacket[] {
  verbs.board.runUntilIdle();
  return packetsSent(verbs.board.takePackets());
}

describe.each([1, 2, 5, 16])('with at most %i READs and atomics outstanding', (maxReadAtomic) => {
  it('the requester sends no more, and all are answered in order', () => {
    const verbs = makeVerbs();
    const [from, to] = makePair(verbs, { ...options, maxReadAtomic });
    const { requests, check } = questions(from, to, 60);
    verbs.board.startPacketTrace(10_000);
    from.queuePair.postSend(requests);
    let outstanding = 0;
    let most = 0;
    for (const packet of trace(verbs)) {
      if (isAsking(packet)) outstanding += 1;
      if (isAnswered(packet)) outstanding -= 1;
      most = Math.max(most, outstanding);
    }
    expect(outstanding).toBe(0);
    expect(most).toBeLessThanOrEqual(maxReadAtomic);
    expect(settle(from).map(({ wrId, status }) => [wrId, status])).toEqual(
      requests.map(({ wrId }) => [wrId, CompletionStatus.success]),
    );
    check();
  });
});

it('a fenced work request leaves after the answers to all earlier READs and atomics', () => {
  const verbs = makeVerbs();
  const [from, to] = makePair(verbs, options);
  const bytes = 40 * 256;
  const remote = makeMemory(to, bytes).region.remote();
  const { region } = makeMemory(from, bytes);
  verbs.board.startPacketTrace(1000);
  const answeredBefore = (fence: boolean): number => {
    from.queuePair.postSend([
      { opcode: Opcode.atomicFetchAndAdd, compareAdd: 1n, gather: [region.slice(0, 8)], remote },
      { opcode: Opcode.rdmaRead, gather: [region.slice()], remote },
      { opcode: Opcode.rdmaRead, gather: [region.slice()], remote },
      { opcode: Opcode.rdmaWrite, inlineData: Uint8Array.of(1), remote, fence },
    ]);
    const seen = trace(verbs);
    const write = seen.findIndex(({ opcode }) => opcode === 'rdma_write_only');
    return seen.slice(0, write).filter(isAnswered).length;
  };
  expect(answeredBefore(true)).toBe(3);
  expect(answeredBefore(false)).toBeLessThan(3);
});

describe('the data of an RDMA READ', () => {
  const bring = (from: End, to: End, byte: number): void => {
    const source = makeMemory(to, 8);
    source.data.fill(byte);
    const target = makeMemory(from, 8);
    const remote = source.region.remote();
    from.queuePair.postSend({ opcode: Opcode.rdmaRead, gather: [target.region.slice()], remote });
    settle(from);
    expect(target.data).toEqual(source.data);
  };

  it('goes to the memory of its work request, also after a reset', () => {
    const [from, to] = makePair(makeVerbs(), options);
    bring(from, to, 1);
    for (const end of [from, to]) end.queuePair.modify({ state: QueuePairState.reset });
    connect(from, to, options);
    connect(to, from, options);
    bring(from, to, 2);
  });

  it('goes to the memory of its work request, also after the sequence numbers have wrapped', () => {
    const [from, to] = makePair(makeVerbs(), options);
    bring(from, to, 1);
    const remote = makeMemory(to, 8).region.remote();
    const write: SendRequest = { opcode: Opcode.rdmaWrite, remote };
    for (let posted = 1; posted < 2 ** 16;) {
      const count = Math.min(32, 2 ** 16 - posted);
      from.queuePair.postSend(
        Array.from({ length: count }, (_, index) => ({ ...write, signaled: index === count - 1 })),
      );
      posted += count;
      settle(from);
    }
    bring(from, to, 2);
  });
});
