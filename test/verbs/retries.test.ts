import { describe, expect, it } from 'vitest';

import {
  CompletionStatus,
  Opcode,
  PathMtu,
  QueuePairState,
  type Completion,
  type SendRequest,
} from '../../lib/index.ts';
import { Syndrome } from '../../lib/spec/index.ts';
import { connect, makeEnd, makeMemory, settle, type ConnectOptions, type End } from '../helpers/connected.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';
import { setTimeWait } from '../helpers/time_wait.ts';
import { packetsSent, readPacket, type WirePacket } from './wire.ts';

const { success, receiverNotReadyRetryExceededError, retryExceededError, workRequestFlushedError } =
  CompletionStatus;

/** Clock ticks, which are nanoseconds: RNR timer code 12 (InfiniBand volume 1, table 45). */
const receiverNotReadyWait = 640_000;
/** Local ACK timeout 14: 4.096 µs × 2^14. */
const timeout = 4096 * 2 ** 14;
const options: ConnectOptions = { pathMtu: PathMtu.mtu256, minReceiverNotReadyTimer: 12, timeout: 14 };

/**
 * Two ends of one board, the second not connected yet, and the packets that have left since the last call.
 */
class Stage {
  readonly verbs = makeVerbs();
  readonly from: End;
  readonly to: End;
  private readonly changes: ConnectOptions;

  constructor(changes: ConnectOptions = {}) {
    this.changes = { ...options, ...changes };
    this.from = makeEnd(this.verbs);
    this.to = makeEnd(this.verbs);
    connect(this.from, this.to, this.changes);
    this.verbs.board.startPacketTrace(10_000);
  }

  static connected(changes: ConnectOptions = {}): Stage {
    const stage = new Stage(changes);
    stage.connectPeer();
    return stage;
  }

  connectPeer(): void {
    connect(this.to, this.from, this.changes);
  }

  send(...requests: readonly Partial<SendRequest>[]): void {
    this.from.queuePair.postSend(
      requests.map((request, wrId) => ({ opcode: Opcode.send, signaled: true, wrId, ...request })),
    );
    this.verbs.board.runUntilIdle();
  }

  pass(ticks: number): void {
    this.verbs.board.advanceTime(ticks);
    this.verbs.board.runUntilIdle();
  }

  packets(): WirePacket[] {
    return packetsSent(this.verbs.board.takePackets());
  }

  /** Opcodes and PSNs of the requests that have left. */
  requests(): [string, number][] {
    return this.packets()
      .filter(({ destinationQueuePair }) => destinationQueuePair === this.to.queuePair.number)
      .map(({ opcode, psn }) => [opcode, psn]);
  }

  /** PSNs and times of the requests that have left. */
  requestTimes(): [number, number][] {
    const traced = this.verbs.board.takePackets().filter(({ direction }) => direction === 'out');
    return traced.map(({ data, time }) => [readPacket(data).psn, Number(time)]);
  }

  /** Work queue, identifier and status of the completions. */
  completed(): [number, number, CompletionStatus][] {
    return settle(this.from).map(({ workQueue, wrId, status }: Completion) => [workQueue, wrId, status]);
  }
}

describe('a SEND that finds no receive', () => {
  it('is retransmitted after the time in the RNR NAK, and delivered once', () => {
    const stage = Stage.connected();
    const { region: target, data } = makeMemory(stage.to, 64);
    stage.send({ inlineData: Uint8Array.of(1, 2, 3) });
    expect(stage.packets()).toMatchObject([
      { opcode: 'send_only', psn: 201 },
      { opcode: 'acknowledge', psn: 201, syndrome: Syndrome.receiverNotReady | 12, messageSequenceNumber: 0 },
    ]);
    stage.pass(receiverNotReadyWait - 10_000);
    expect(stage.packets()).toEqual([]);
    stage.pass(10_000);
    expect(stage.requests()).toEqual([['send_only', 201]]);
    stage.to.queuePair.postReceive([{ wrId: 7, scatter: [target.slice()] }, { wrId: 8 }]);
    expect(stage.completed()).toEqual([]);
    stage.pass(receiverNotReadyWait);
    expect(stage.completed()).toEqual([
      [1, 7, success],
      [0, 0, success],
    ]);
    expect(data.subarray(0, 3)).toEqual(Uint8Array.of(1, 2, 3));
    stage.pass(4 * timeout);
    expect(stage.requests()).toEqual([['send_only', 201]]);
    expect(stage.completed()).toEqual([]);
  });

  it.each([0, 1, 3, 6])('is retried %i times, and fails this side only', (retries) => {
    const stage = Stage.connected({ receiverNotReadyRetry: retries });
    stage.send({}, {});
    for (let retry = 0; retry < retries; retry++) {
      expect(stage.completed()).toEqual([]);
      stage.pass(receiverNotReadyWait);
    }
    expect(stage.completed()).toEqual([
      [0, 0, receiverNotReadyRetryExceededError],
      [0, 1, workRequestFlushedError],
    ]);
    expect(stage.requests().filter(([, psn]) => psn === 201)).toHaveLength(retries + 1);
    expect(stage.from.queuePair.query().state).toBe(QueuePairState.error);
    expect(stage.to.queuePair.query().state).toBe(QueuePairState.readyToSend);
  });

  it('is retried forever if the retry count is 7', () => {
    const stage = Stage.connected({ receiverNotReadyRetry: 7 });
    stage.send({});
    for (let retry = 0; retry < 50; retry++) stage.pass(receiverNotReadyWait);
    expect(stage.requests()).toHaveLength(51);
    stage.to.queuePair.postReceive({});
    stage.pass(receiverNotReadyWait);
    expect(stage.completed()).toHaveLength(2);
  });

  it('has all its retries again after each received message', () => {
    const stage = Stage.connected({ receiverNotReadyRetry: 1 });
    stage.send(...Array.from({ length: 5 }, () => ({})));
    for (let message = 0; message < 5; message++) {
      expect(stage.completed()).toEqual([]);
      stage.to.queuePair.postReceive({ wrId: message });
      stage.pass(receiverNotReadyWait);
      expect(stage.completed()).toEqual([
        [1, message, success],
        [0, message, success],
      ]);
    }
  });

  it('has all its retries after losses again once the peer has answered with RNR NAK', () => {
    const stage = Stage.connected({ receiverNotReadyRetry: 7, retryCount: 1 });
    setTimeWait(stage.verbs, 1); // the peer continues the existing connection
    for (let round = 0; round < 3; round++) {
      stage.to.queuePair.modify({ state: QueuePairState.reset });
      if (round === 0) stage.send({});
      else stage.pass(receiverNotReadyWait);
      stage.connectPeer();
      stage.pass(4 * timeout);
      expect(stage.completed()).toEqual([]);
    }
    stage.to.queuePair.postReceive({ wrId: 7 });
    stage.pass(receiverNotReadyWait);
    expect(stage.completed()).toEqual([
      [1, 7, success],
      [0, 0, success],
    ]);
  });

  it('delays later work requests, and the peer drops those already sent', () => {
    const stage = Stage.connected();
    const { region, data } = makeMemory(stage.to, 8, 5);
    const words = new DataView(data.buffer);
    words.setBigUint64(0, 40n, true);
    const here = makeMemory(stage.from, 8).region;
    stage.send(
      {},
      {
        opcode: Opcode.rdmaWrite,
        inlineData: Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0),
        remote: region.remote(),
      },
      { opcode: Opcode.atomicFetchAndAdd, compareAdd: 1n, gather: [here.slice()], remote: region.remote() },
    );
    expect(stage.completed()).toEqual([]);
    expect(words.getBigUint64(0, true)).toBe(40n);
    stage.to.queuePair.postReceive({ wrId: 9 });
    stage.pass(receiverNotReadyWait);
    expect(stage.completed()).toEqual([
      [1, 9, success],
      [0, 0, success],
      [0, 1, success],
      [0, 2, success],
    ]);
    expect(words.getBigUint64(0, true)).toBe(2n);
  });
});

it('an RDMA WRITE with immediate that finds no receive sends only its last packet again', () => {
  const stage = Stage.connected();
  const source = makeMemory(stage.from, 1000, 1);
  const target = makeMemory(stage.to, 1000, 2);
  stage.send({
    opcode: Opcode.rdmaWriteWithImmediate,
    immediateData: 6,
    gather: [source.region.slice()],
    remote: target.region.remote(),
  });
  const last = 'rdma_write_last_with_immediate';
  expect(stage.requests()).toEqual([
    ['rdma_write_first', 201],
    ['rdma_write_middle', 202],
    ['rdma_write_middle', 203],
    [last, 204],
  ]);
  stage.to.queuePair.postReceive({ wrId: 5 });
  stage.pass(receiverNotReadyWait);
  expect(stage.requests()).toEqual([[last, 204]]);
  expect(stage.completed()).toEqual([
    [1, 5, success],
    [0, 0, success],
  ]);
  expect(target.data).toEqual(source.data);
});

describe('a peer that does not answer', () => {
  it.each([0, 1, 3, 7])('gets %i retransmissions, between Ttr and 4 Ttr apart', (retryCount) => {
    const stage = new Stage({ retryCount });
    stage.send({}, { signaled: false });
    stage.pass(4 * timeout * (retryCount + 1));
    const times = stage.requestTimes();
    expect(times.map(([psn]) => psn)).toEqual(
      Array.from({ length: retryCount + 1 }, () => [201, 202]).flat(),
    );
    for (let retry = 1; retry <= retryCount; retry++) {
      const apart = times[2 * retry]![1] - times[2 * retry - 1]![1];
      expect(apart).toBeGreaterThanOrEqual(timeout);
      expect(apart).toBeLessThanOrEqual(4 * timeout);
    }
    expect(stage.completed()).toEqual([
      [0, 0, retryExceededError],
      [0, 1, workRequestFlushedError],
    ]);
    expect(stage.from.queuePair.query().state).toBe(QueuePairState.error);
  });

  it('because it was destroyed fails every operation', () => {
    for (const opcode of [Opcode.send, Opcode.rdmaWrite, Opcode.rdmaRead, Opcode.atomicFetchAndAdd]) {
      const stage = Stage.connected({ retryCount: 2 });
      const remote = makeMemory(stage.to, 8).region.remote();
      const gather = [makeMemory(stage.from, 8).region.slice()];
      stage.to.queuePair.close();
      stage.send({ opcode, gather, remote, compareAdd: 1n }, {});
      for (let retry = 0; retry < 3; retry++) stage.pass(4 * timeout);
      expect(stage.completed()).toEqual([
        [0, 0, retryExceededError],
        [0, 1, workRequestFlushedError],
      ]);
    }
  });

  it('because it is not ready yet gets each message once, when it is ready', () => {
    const stage = new Stage();
    const remote = makeMemory(stage.to, 8).region.remote();
    const gather = [makeMemory(stage.from, 8).region.slice()];
    stage.send(
      { opcode: Opcode.atomicFetchAndAdd, compareAdd: 1n, gather, remote },
      { opcode: Opcode.rdmaRead, gather, remote },
      {},
    );
    expect(stage.completed()).toEqual([]);
    stage.connectPeer();
    stage.to.queuePair.postReceive([{ wrId: 5 }, { wrId: 6 }]);
    stage.pass(4 * timeout);
    expect(stage.completed().toSorted(([first], [second]) => first - second)).toEqual([
      [0, 0, success],
      [0, 1, success],
      [0, 2, success],
      [1, 5, success],
    ]);
    stage.pass(4 * timeout);
    expect(stage.completed()).toEqual([]);
  });

  it('is awaited forever if the timeout is 0', () => {
    const stage = new Stage({ timeout: 0, retryCount: 0 });
    stage.send({});
    expect(stage.requests()).toHaveLength(1);
    stage.pass(1e12);
    expect(stage.requests()).toEqual([]);
    expect(stage.completed()).toEqual([]);
  });

  it('delays no other queue pair', () => {
    const stage = new Stage({ retryCount: 1 });
    const [client, server] = [makeEnd(stage.verbs), makeEnd(stage.verbs)];
    connect(client, server, options);
    connect(server, client, options);
    stage.send({}, {}, {});
    server.queuePair.postReceive({ wrId: 50 });
    client.queuePair.postSend({ opcode: Opcode.send, wrId: 51, signaled: true });
    expect(stage.completed()).toEqual([
      [1, 50, success],
      [0, 51, success],
    ]);
    stage.pass(4 * timeout);
    stage.pass(4 * timeout);
    expect(stage.completed()).toEqual([
      [0, 0, retryExceededError],
      [0, 1, workRequestFlushedError],
      [0, 2, workRequestFlushedError],
    ]);
  });
});

it('an interrupted RDMA READ requests the rest', () => {
  const stage = Stage.connected();
  const packets = 40;
  const bytes = packets * 256 - 9;
  const source = makeMemory(stage.to, bytes, 1);
  const target = makeMemory(stage.from, bytes, 2);
  const remote = source.region.remote();
  stage.from.queuePair.postSend({
    opcode: Opcode.rdmaRead,
    gather: [target.region.slice(0, 300), target.region.slice(300)],
    remote,
    wrId: 0,
    signaled: true,
  });
  const { board } = stage.verbs;
  const answers = (): number => stage.packets().filter(({ opcode }) => opcode.includes('response')).length;
  let answered = 0;
  while (answered < 5) {
    expect(board.step(1)).toBe(1);
    answered += answers();
  }
  setTimeWait(stage.verbs, 1); // the peer continues the existing connection
  stage.to.queuePair.modify({ state: QueuePairState.reset });
  board.runUntilIdle();
  answered += answers();
  expect(answered).toBeLessThan(packets);
  connect(stage.to, stage.from, { ...options, receivePsn: 201 + answered });
  stage.pass(4 * timeout);
  const seen = stage.packets();
  expect(seen[0]).toMatchObject({
    opcode: 'rdma_read_request',
    psn: 201 + answered,
    virtualAddress: source.region.address + BigInt(answered * 256),
    dmaLength: bytes - answered * 256,
  });
  expect(seen).toHaveLength(1 + packets - answered);
  expect(stage.completed()).toEqual([[0, 0, success]]);
  expect(target.data).toEqual(source.data);
});
