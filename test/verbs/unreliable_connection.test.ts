import { describe, expect, it } from 'vitest';

import {
  CompletionOpcode,
  CompletionStatus,
  Opcode,
  PathMtu,
  QueuePairState,
  type Completion,
  type SendRequest,
} from '../../lib/index.ts';
import { makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { describeConnections, makeConnection, patterned } from '../helpers/connection.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';
import { packetsSent } from './wire.ts';

const { success, localLengthError, localProtectionError, workRequestFlushedError } = CompletionStatus;
const { readyToSend, sendQueueError, error } = QueuePairState;

describeConnections('an unreliable connection', (place) => {
  it('carries SENDs and RDMA WRITEs, with immediate data and without', () => {
    const { client, server, complete } = makeConnection(place, { type: 'UC' });
    const source = patterned(client, 8192, 1);
    const target = server.protectionDomain.allocate(8192, 0xf);
    for (const [index, length] of [0, 1, 63, 1024, 1025, 3077].entries()) {
      for (const opcode of [
        Opcode.send,
        Opcode.sendWithImmediate,
        Opcode.rdmaWrite,
        Opcode.rdmaWriteWithImmediate,
      ] as const) {
        target.bytes.fill(0);
        const isSend = opcode === Opcode.send || opcode === Opcode.sendWithImmediate;
        const withImmediate = opcode === Opcode.sendWithImmediate || opcode === Opcode.rdmaWriteWithImmediate;
        if (opcode !== Opcode.rdmaWrite)
          server.queuePair.postReceive({ wrId: index, scatter: [target.slice()] });
        client.queuePair.postSend({
          opcode,
          immediateData: 0x89ab_cdef,
          wrId: 100 + index,
          signaled: true,
          gather: [source.slice(index, length)],
          remote: target.remote(),
        });
        if (opcode === Opcode.rdmaWrite) {
          // The next message is received behind it.
          server.queuePair.postReceive({ wrId: index });
          client.queuePair.postSend({ opcode: Opcode.send });
        }
        expect(complete(server, 1)).toMatchObject([
          {
            wrId: index,
            status: success,
            opcode:
              isSend || opcode === Opcode.rdmaWrite
                ? CompletionOpcode.receive
                : CompletionOpcode.receiveRdmaWithImmediate,
            byteLength: opcode === Opcode.rdmaWrite ? 0 : length,
            withImmediate,
          },
        ]);
        expect(complete(client, 1)).toMatchObject([{ wrId: 100 + index, status: success }]);
        expect(target.bytes.subarray(0, length)).toEqual(source.bytes.subarray(index, index + length));
      }
    }
  });

  it('has no READs and atomics', () => {
    const { client, server } = makeConnection(place, { type: 'UC' });
    const [here, there] = [patterned(client, 8, 1), patterned(server, 8, 2)];
    for (const opcode of [Opcode.rdmaRead, Opcode.atomicCompareAndSwap, Opcode.atomicFetchAndAdd]) {
      const request = { opcode, gather: [here.slice()], remote: there.remote(), compareAdd: 1n, swap: 2n };
      expect(() => client.queuePair.postSend(request)).toThrow(
        'opcode must be one of Opcode.send, Opcode.sendWithImmediate, Opcode.rdmaWrite, Opcode.rdmaWriteWithImmediate, Opcode.bindMemoryWindow on a queue pair of type UC',
      );
    }
  });
});

/** Identifier and status of the completions of a send queue and of a receive queue. */
function outcome(end: End): { sent: [number, CompletionStatus][]; received: [number, CompletionStatus][] } {
  const all = settle(end);
  const told = ({ wrId, status }: Completion): [number, CompletionStatus] => [wrId, status];
  return {
    sent: all.filter(({ workQueue }) => workQueue === 0).map(told),
    received: all.filter(({ workQueue }) => workQueue === 1).map(told),
  };
}

describe('an unreliable connection', () => {
  const pair = (): [End, End] => makePair(makeVerbs(), { type: 'UC', pathMtu: PathMtu.mtu256 });

  /** A SEND whose first packet leaves, and no other one: its list ends in a nonexistent key. */
  const halfMessage = (from: End, wrId: number): SendRequest => {
    const slice = makeMemory(from, 256).region.slice();
    return { opcode: Opcode.send, wrId, gather: [slice, { ...slice, localKey: slice.localKey ^ 1 }] };
  };

  it('completes when its packets have left, received or not, without an acknowledgment', () => {
    const [from, to] = pair();
    to.queuePair.modify({ state: QueuePairState.reset });
    const { board } = from.verbs;
    board.startPacketTrace(100);
    from.queuePair.postSend({
      opcode: Opcode.send,
      wrId: 1,
      signaled: true,
      gather: [makeMemory(from, 600).region.slice()],
    });
    expect(outcome(from).sent).toEqual([[1, success]]);
    const packets = packetsSent(board.takePackets());
    expect(packets.map(({ opcode, psn, acknowledgeRequest }) => [opcode, psn, acknowledgeRequest])).toEqual([
      ['unreliable_connection_send_first', 201, false],
      ['unreliable_connection_send_middle', 202, false],
      ['unreliable_connection_send_last', 203, false],
    ]);
  });

  it('enters SQE when a work request fails, receives there, and returns to RTS', () => {
    const [from, to] = pair();
    const { region, data } = makeMemory(to, 1024);
    from.queuePair.postReceive([{ wrId: 20 }, { wrId: 21 }]);
    to.queuePair.postReceive([{ wrId: 10, scatter: [region.slice()] }, { wrId: 11 }]);
    from.queuePair.postSend([
      halfMessage(from, 0),
      { opcode: Opcode.send, wrId: 1 },
      { opcode: Opcode.send, wrId: 2, signaled: true },
    ]);
    expect(outcome(from)).toEqual({
      sent: [
        [0, localProtectionError],
        [1, workRequestFlushedError],
        [2, workRequestFlushedError],
      ],
      received: [],
    });
    expect(from.queuePair.query().state).toBe(sendQueueError);
    from.queuePair.postSend({ opcode: Opcode.send, wrId: 3 });
    to.queuePair.postSend({ opcode: Opcode.send, wrId: 4 });
    expect(outcome(from)).toEqual({ sent: [[3, workRequestFlushedError]], received: [[20, success]] });
    from.queuePair.modify({ state: readyToSend });
    expect(from.queuePair.query().state).toBe(readyToSend);
    const { region: source } = makeMemory(from, 300, 9);
    from.queuePair.postSend({ opcode: Opcode.send, wrId: 5, signaled: true, gather: [source.slice()] });
    // The next message uses the receive of the message of which a part had arrived.
    expect(outcome(from)).toEqual({ sent: [[5, success]], received: [[10, success]] });
    expect(data.subarray(0, 300)).toEqual(source.bytes);
  });

  it('sends the work requests posted before a failing one', () => {
    const [from, to] = pair();
    const { region } = makeMemory(from, 4096);
    to.queuePair.postReceive({ wrId: 10, scatter: [makeMemory(to, 4096).region.slice()] });
    from.queuePair.postSend([
      { opcode: Opcode.send, wrId: 0, signaled: true, gather: [region.slice()] },
      halfMessage(from, 1),
    ]);
    expect(outcome(from)).toEqual({
      sent: [
        [0, success],
        [1, localProtectionError],
      ],
      received: [[10, success]],
    });
  });

  it.each([false, true])(
    'survives a message that is too long for its receive (shared receive queue: %s), and so does its sender',
    (isShared) => {
      const verbs = makeVerbs();
      const queue = isShared ? verbs.protectionDomain.createSharedReceiveQueue() : undefined;
      const [from, to] = makePair(verbs, {
        type: 'UC',
        pathMtu: PathMtu.mtu256,
        ...(queue && { sharedReceiveQueue: queue }),
      });
      const { region, data } = makeMemory(to, 1300);
      (queue ?? to.queuePair).postReceive([
        { wrId: 10, scatter: [region.slice(0, 300)] },
        { wrId: 11, scatter: [region.slice(300, 1000)] },
      ]);
      const { region: source } = makeMemory(from, 1000, 9);
      const send = { opcode: Opcode.send, signaled: true, gather: [source.slice()] } as const;
      from.queuePair.postSend([
        { ...send, wrId: 1 },
        { ...send, wrId: 2 },
      ]);
      expect(outcome(from)).toEqual({
        sent: [
          [1, success],
          [2, success],
        ],
        received: [
          [10, localLengthError],
          [11, success],
        ],
      });
      expect(data.subarray(300)).toEqual(source.bytes);
      expect(to.queuePair.query().state).toBe(readyToSend);
    },
  );

  it('in ERR flushes both queues', () => {
    const [from, to] = pair();
    to.queuePair.postReceive([{ wrId: 10, scatter: [makeMemory(to, 1024).region.slice()] }, { wrId: 11 }]);
    from.queuePair.postSend(halfMessage(from, 0));
    outcome(from);
    to.queuePair.modify({ state: error });
    to.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
    expect(outcome(to)).toEqual({
      sent: [[1, workRequestFlushedError]],
      received: [
        [10, workRequestFlushedError],
        [11, workRequestFlushedError],
      ],
    });
  });
});
