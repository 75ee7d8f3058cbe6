import { expect, it } from 'vitest';

import { Access, CompletionStatus, Opcode, QueuePairState, RemoteMemory } from '../../lib/index.ts';
import type { MemoryRegion, SendRequest } from '../../lib/index.ts';
import { everyRight } from '../helpers/connected.ts';
import { describeConnections, makeConnection, patterned, type Connection } from '../helpers/connection.ts';

const {
  success,
  localLengthError,
  localProtectionError,
  workRequestFlushedError,
  remoteAccessError,
  remoteInvalidRequestError,
  receiverNotReadyRetryExceededError,
} = CompletionStatus;

interface Refused {
  /** The work request that fails at the peer. */
  readonly request: (connection: Connection, here: MemoryRegion, there: MemoryRegion) => SendRequest;
  readonly status: CompletionStatus;
}

const write = { opcode: Opcode.rdmaWrite };
const read = { opcode: Opcode.rdmaRead };
const add = { opcode: Opcode.atomicFetchAndAdd, compareAdd: 1n };

/** Requests that a peer refuses (InfiniBand volume 1, 9.7.5.2.3), by their fault. */
const refusedByPeer: Readonly<Record<string, Refused>> = {
  'an R_Key that there is not': {
    request: (_, here, there) => ({
      ...write,
      remote: new RemoteMemory({ address: there.address, key: there.remoteKey + 0x100, length: 64 }),
      gather: [here.slice(0, 64)],
    }),
    status: remoteAccessError,
  },
  'a WRITE beyond the end of the region': {
    request: (_, here, there) => ({
      ...write,
      remote: new RemoteMemory({ address: there.address + 4000n, key: there.remoteKey, length: 97 }),
      gather: [here.slice(0, 97)],
    }),
    status: remoteAccessError,
  },
  'a READ before its begin': {
    request: (_, here, there) => ({
      ...read,
      remote: new RemoteMemory({ address: there.address - 1n, key: there.remoteKey, length: 64 }),
      gather: [here.slice(0, 64)],
    }),
    status: remoteAccessError,
  },
  'a region of another protection domain': {
    request: ({ client }, here) => ({
      ...write,
      remote: patterned(client, 64, 0).remote(),
      gather: [here.slice(0, 64)],
    }),
    status: remoteAccessError,
  },
  'a WRITE without the right': {
    request: ({ server }, here) => ({
      ...write,
      remote: server.protectionDomain.allocate(64, Access.localWrite | Access.remoteRead).remote(),
      gather: [here.slice(0, 64)],
    }),
    status: remoteAccessError,
  },
  'a READ without the right': {
    request: ({ server }, here) => ({
      ...read,
      remote: server.protectionDomain.allocate(64, Access.localWrite | Access.remoteWrite).remote(),
      gather: [here.slice(0, 64)],
    }),
    status: remoteAccessError,
  },
  'an atomic without the right': {
    request: ({ server }, here) => ({
      ...add,
      remote: server.protectionDomain.allocate(64, everyRight & ~Access.remoteAtomic).remote(),
      gather: [here.slice(0, 8)],
    }),
    status: remoteAccessError,
  },
  'an atomic that is not aligned': {
    request: (_, here, there) => ({ ...add, remote: there.remote().slice(4), gather: [here.slice(0, 8)] }),
    status: remoteInvalidRequestError,
  },
};

describeConnections('a work request that fails', (place) => {
  it.each(Object.entries(refusedByPeer))(
    'at the peer, for %s, fails both queue pairs',
    (_, { request, status }) => {
      const connection = makeConnection(place);
      const { client, server, complete, rest } = connection;
      const here = patterned(client, 4096, 1);
      const there = patterned(server, 4096, 2);
      const before = Uint8Array.from(there.bytes);
      client.queuePair.postSend({ ...request(connection, here, there), wrId: 1, signaled: true });
      client.queuePair.postSend({ opcode: Opcode.send, wrId: 2 });
      expect(complete(client, 2)).toMatchObject([
        { wrId: 1, status },
        { wrId: 2, status: workRequestFlushedError },
      ]);
      rest();
      expect(there.bytes).toEqual(before);
      expect(client.queuePair.query().state).toBe(QueuePairState.error);
      expect(server.queuePair.query().state).toBe(QueuePairState.error);
    },
  );

  it('here, for a gather list beyond its region, touches no other queue pair', () => {
    const { client, server, complete } = makeConnection(place);
    const here = patterned(client, 64, 1);
    const beyond = { ...here.slice(), length: 65 };
    client.queuePair.postSend({ opcode: Opcode.send, gather: [beyond], wrId: 1 });
    expect(complete(client, 1)).toMatchObject([{ wrId: 1, status: localProtectionError }]);
    expect(client.queuePair.query().state).toBe(QueuePairState.error);
    expect(server.queuePair.query().state).toBe(QueuePairState.readyToSend);
  });

  it('for a message longer than the receive, fails both', () => {
    const { client, server, complete } = makeConnection(place);
    const here = patterned(client, 4096, 1);
    const there = server.protectionDomain.allocate(4096);
    server.queuePair.postReceive([{ wrId: 7, scatter: [there.slice(0, 100)] }, { wrId: 8 }]);
    client.queuePair.postSend({ opcode: Opcode.send, gather: [here.slice(0, 101)], wrId: 1 });
    expect(complete(client, 1)).toMatchObject([{ wrId: 1, status: remoteInvalidRequestError }]);
    expect(complete(server, 2)).toMatchObject([
      { wrId: 7, status: localLengthError },
      { wrId: 8, status: workRequestFlushedError },
    ]);
  });

  it('without a receive is retried until there is one', () => {
    const { board, client, server, complete } = makeConnection(place);
    client.queuePair.postSend({
      opcode: Opcode.send,
      inlineData: Uint8Array.of(1, 2),
      wrId: 1,
      signaled: true,
    });
    if (place.backend.options.progress === 'stepped') board.runUntilIdle();
    expect(client.completionQueue.driver.hasCompletion).toBe(false);
    const there = server.protectionDomain.allocate(64);
    server.queuePair.postReceive({ scatter: [there.slice()] });
    if (place.backend.options.progress === 'stepped') board.advanceTime(1_000_000_000);
    expect(complete(client, 1)).toMatchObject([{ wrId: 1, status: success }]);
    expect(complete(server, 1)).toMatchObject([{ status: success, byteLength: 2 }]);
    expect(there.bytes.subarray(0, 2)).toEqual(Uint8Array.of(1, 2));
  });

  it('without a receive fails after its retries', () => {
    const { board, client, complete } = makeConnection(place, { receiverNotReadyRetry: 2 });
    client.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
    if (place.backend.options.progress === 'stepped') {
      for (let retry = 0; retry < 4; retry++) {
        board.runUntilIdle();
        board.advanceTime(1_000_000_000);
      }
    }
    expect(complete(client, 1)).toMatchObject([{ wrId: 1, status: receiverNotReadyRetryExceededError }]);
  });

  it('in a queue pair that enters ERR is flushed, and so are receives', () => {
    const { client, complete } = makeConnection(place);
    client.queuePair.postReceive([{ wrId: 1 }, { wrId: 2 }]);
    client.queuePair.modify({ state: QueuePairState.error });
    client.queuePair.postSend({ opcode: Opcode.send, wrId: 3 });
    client.queuePair.postReceive({ wrId: 4 });
    const flushed = complete(client, 4);
    expect(flushed.map(({ wrId }) => wrId).sort((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    expect(flushed.every(({ status }) => status === workRequestFlushedError)).toBe(true);
  });
});
