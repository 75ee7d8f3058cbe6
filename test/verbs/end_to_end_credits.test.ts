import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import type { LinkImpairment } from '../../lib/board/faults.ts';
import { whyStalled } from '../../lib/driver/why.ts';
import { Completion, CompletionStatus, Opcode, QueuePairState } from '../../lib/index.ts';
import { connect, makeEnd, makePair, settle, type ConnectOptions, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';
import { Random } from '../helpers/random.mjs';
import { RandomConnection } from '../helpers/random_connection.ts';
import { packetsSent, type WirePacket } from './wire.ts';

/** Credits of the codes 0 to 30; 31: no count (InfiniBand volume 1, 9.7.7.2, table of the encoding). */
const creditsOfCode = [
  0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
  6144, 8192, 12_288, 16_384, 24_576, 32_768,
];
const withoutCount = 0x1f;
const isNotReady = ({ syndrome = 0 }: WirePacket): boolean => syndrome >> 5 === 1;
/** Local ACK timeout 14, detected within one to four times the value, in clock ticks. */
const timeout = 2 * 4096 * 2 ** 14;
const receiverNotReadyWait = 640_000;

const credits: ConnectOptions = { endToEndCredits: true };

function send({ queuePair }: End, count: number): void {
  for (let wrId = 0; wrId < count; wrId++) queuePair.postSend({ opcode: Opcode.send, signaled: true, wrId });
}

/** Packets that have left, once the board is idle. */
function packetsOf({ board }: Verbs): WirePacket[] {
  board.runUntilIdle();
  return packetsSent(board.takePackets());
}

describe('a responder with end-to-end credits', () => {
  it('reports the number of posted receives by each code of the table, rounded down', () => {
    const verbs = makeVerbs(undefined, { pageTableEntries: 65_536 });
    const most = 32_768; // receives of a queue
    const from = makeEnd(verbs);
    const to = makeEnd(verbs, { capabilities: { maxReceiveWorkRequests: most } });
    connect(from, to, credits);
    connect(to, from, credits);
    let posted = 0;
    const codeAt = (left: number): number => {
      const more = left + 1 - posted;
      const requests = Array.from({ length: more }, () => ({}));
      if (more > 0) to.queuePair.postReceive(requests);
      verbs.board.runUntilIdle();
      verbs.board.startPacketTrace(16);
      send(from, 1);
      const packets = packetsOf(verbs);
      verbs.board.stopPacketTrace();
      settle(to);
      posted = left;
      const acknowledges = packets.filter(({ opcode }) => opcode === 'acknowledge');
      expect(acknowledges).toHaveLength(1);
      return acknowledges[0]!.syndrome!;
    };
    for (const [code, value] of creditsOfCode.entries()) {
      if (value >= most) continue;
      const next = creditsOfCode[code + 1]!;
      expect([value, codeAt(value)]).toEqual([value, code]);
      if (next - 1 > value) expect([next - 1, codeAt(next - 1)]).toEqual([next - 1, code]);
    }
  });

  it('of a shared receive queue gives no count', () => {
    const verbs = makeVerbs();
    const sharedReceiveQueue = verbs.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 16 });
    const [from, to] = [makeEnd(verbs), makeEnd(verbs, { sharedReceiveQueue })];
    connect(from, to, credits);
    connect(to, from, credits);
    sharedReceiveQueue.postReceive(Array.from({ length: 4 }, (_, wrId) => ({ wrId })));
    verbs.board.startPacketTrace(100);
    send(from, 4);
    const packets = packetsOf(verbs).filter(({ opcode }) => opcode === 'acknowledge');
    expect(packets.map(({ syndrome }) => syndrome)).toEqual([
      withoutCount,
      withoutCount,
      withoutCount,
      withoutCount,
    ]);
  });
});

describe('a fast sender and a slow receiver', () => {
  const messages = 40;

  /**
   * The receiver posts one receive whenever the boards are idle. Returns the RNR NAKs, and the clock ticks.
   */
  function run(options: ConnectOptions): { notReady: number; ticks: bigint; received: number } {
    const verbs = makeVerbs();
    const [from, to] = makePair(verbs, options);
    const { board } = verbs;
    board.startPacketTrace(100_000);
    to.queuePair.postReceive({ wrId: 0 });
    send(from, messages);
    const begin = board.now();
    let [received, sent] = [0, 0];
    for (let round = 0; sent < messages || received < messages; round++) {
      if (round > 4 * messages) throw new Error(`stuck: ${sent} sent, ${received} received`);
      const completions = settle(from);
      expect(completions.every(({ status }) => status === CompletionStatus.success)).toBe(true);
      received += completions.filter(({ workQueue }) => workQueue === 1).length;
      sent += completions.filter(({ workQueue }) => workQueue === 0).length;
      if (completions.some(({ workQueue }) => workQueue === 1)) to.queuePair.postReceive({ wrId: 0 });
      else if (sent < messages) board.advanceTime(receiverNotReadyWait);
    }
    return { notReady: packetsOf(verbs).filter(isNotReady).length, ticks: board.now() - begin, received };
  }

  it('slow receiver: no RNR NAK with credits, many without', () => {
    const [without, limited] = [run({}), run(credits)];
    expect(without.received).toBe(messages);
    expect(limited.received).toBe(messages);
    expect(limited.notReady).toBe(0);
    expect(without.notReady).toBeGreaterThan(messages / 2);
    expect(limited.ticks).toBeLessThan(Number(without.ticks) / 4);
  });
});

describe('a requester with end-to-end credits', () => {
  it('holds no execution credit while it waits: another queue pair of its level continues', () => {
    const verbs = makeVerbs();
    const [from, to] = makePair(verbs, credits);
    const [other, target] = makePair(verbs);
    to.queuePair.postReceive({});
    send(from, 60);
    settle(from);
    expect(from.queuePair.query().inFlight).toBe(0);
    target.queuePair.postReceive(Array.from({ length: 30 }, () => ({})));
    send(other, 30);
    const done = settle(other).filter(
      ({ queuePairNumber, workQueue }) => queuePairNumber === other.queuePair.number && workQueue === 0,
    );
    expect(done).toHaveLength(30);
  });

  it('reports in its attributes that it has credits, until it is reset', () => {
    const verbs = makeVerbs();
    const [{ queuePair }, { queuePair: plain }] = [makePair(verbs, credits)[0], makePair(verbs)[0]];
    expect([queuePair.query().endToEndCredits, plain.query().endToEndCredits]).toEqual([true, false]);
    queuePair.modify({ state: QueuePairState.reset });
    expect(queuePair.query().endToEndCredits).toBe(false);
  });

  it('sends a request one local ACK timeout after an unsolicited ACK was lost', () => {
    const [near, from, to] = waiting();
    loseResponses(near, () => postTwo(to));
    expect(completed(from, to)).toBe(0);
    near.board.advanceTime(timeout);
    expect(completed(from, to)).toBe(4);
  });

  it('continues at the unsolicited ACK, without a delay', () => {
    const [, from, to] = waiting();
    postTwo(to);
    expect(completed(from, to)).toBe(4);
  });

  it('continues when the receiver posts late, long after the request, and its ACKs are lost', () => {
    const [near, from, to] = waiting();
    near.board.startPacketTrace(10_000);
    near.board.advanceTime(2 * timeout);
    expect(packetsOf(near).filter(({ opcode }) => opcode === 'send_only').length).toBeGreaterThan(1);
    loseResponses(near, () => {
      postTwo(to);
      near.board.advanceTime(receiverNotReadyWait);
    });
    near.board.advanceTime(4 * timeout);
    expect(completed(from, to)).toBe(4);
  });

  it.each([
    ['comes', false],
    ['is lost', true],
  ])('in SQD sends nothing; back in RTS continues where the unsolicited ACK %s meanwhile', (_, isLost) => {
    const [near, from, to] = waiting();
    from.queuePair.modify({ state: QueuePairState.sendQueueDrained });
    if (isLost) loseResponses(near, () => postTwo(to));
    else postTwo(to);
    near.board.advanceTime(4 * timeout);
    expect(completed(from, to)).toBe(0);
    from.queuePair.modify({ state: QueuePairState.readyToSend });
    expect(completed(from, to)).toBe(4);
  });

  it('reports why it waits', () => {
    const [near, from] = waiting();
    const { reasons } = whyStalled(near.context.driver.device, from.queuePair.number)!;
    expect(reasons.join()).toContain('the peer has not granted credit for the message');
  });
});

/** Two SENDs wait for credits: the posted receive is taken, and none is left. */
function waiting(): [Verbs, End, End] {
  const [near, far] = fabric();
  const [from, to] = makePair(near, credits, far);
  to.queuePair.postReceive({ wrId: 0 });
  send(from, 3);
  expect(completed(from, to)).toBe(2);
  return [near, from, to];
}

/** Completions of both ends since the last call. */
const completed = (from: End, to: End): number => settle(to).length + settle(from).length;

function postTwo({ queuePair, verbs }: End): void {
  queuePair.postReceive([{ wrId: 1 }, { wrId: 2 }]);
  verbs.board.runUntilIdle();
}

function loseResponses({ board }: Verbs, during: () => void): void {
  const lost = board.impair({ lane: 'responses', loss: 1 });
  during();
  board.runUntilIdle();
  expect(board.impaired(lost).lost).toBeGreaterThan(0);
  board.clearImpairments(lost);
}

const impairments: Readonly<Record<string, LinkImpairment>> = {
  'that loses nothing': {},
  'that loses 10 %': { loss: 0.1 },
  'that loses a quarter of the answers': { lane: 'responses', loss: 0.25 },
  'that doubles and reorders': { duplication: 0.3, reordering: 0.3, reorderDelay: 500 },
};

describe('connections with end-to-end credits over a link', () => {
  it.each(Object.entries(impairments))('%s bring every message once, in order, whole', (_, impairment) => {
    for (let seed = 1; seed <= 5; seed++) bringAll(seed, impairment);
  });
});

/** Random work; receives are not always posted in time. */
function bringAll(seed: number, impairment: LinkImpairment): void {
  const random = new Random(seed);
  const sides = fabric(seed);
  for (const { board } of sides) board.impair(impairment);
  const connection = new RandomConnection(random, 60, ...sides, { ...credits, timeout: 4 });
  const completions = Array.from({ length: 16 }, () => new Completion());
  for (let round = 0; !connection.isDone; round++) {
    if (round === 50_000) throw new Error(`seed ${seed} is stuck: ${connection.progress}`);
    if (random.once(3)) connection.act();
    if (sides[0].board.step(random.below(200)) === 0) sides[0].board.advanceTime(20_000);
    for (const side of sides) {
      const taken = side.completionQueue.poll(completions);
      for (const completion of completions.slice(0, taken)) connection.take(completion);
    }
  }
}

function fabric(seed = 1): [Verbs, Verbs] {
  const options = { seed, fabric: randomUUID() };
  return [makeVerbs(stepped, options), makeVerbs(stepped, options)];
}
