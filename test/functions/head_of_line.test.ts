// No head-of-line blocking: what stands still delays nothing but itself, counted in steps of the stepped board.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { Completion, CompletionStatus, Opcode, type SendRequest } from '../../lib/index.ts';
import { connect, makeEnd, makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

const messages = 24;

/** An end whose peer never answers, without a timeout. */
function makeLost(verbs: Verbs): End {
  const [end, gone] = [makeEnd(verbs), makeEnd(verbs)];
  connect(end, gone, { timeout: 0 });
  return end;
}

const sends = (count: number): SendRequest[] =>
  Array.from({ length: count }, (_, wrId) => ({ opcode: Opcode.send, wrId, signaled: true }));

/** Steps until all messages of a pair have arrived, posted one by one or by one doorbell. */
function stepsOf(verbs: Verbs, [from, to]: [End, End], byDoorbell: boolean): number {
  for (let wrId = 0; wrId < messages; wrId++) to.queuePair.postReceive({ wrId });
  const requests = sends(messages);
  if (byDoorbell) from.queuePair.postSend(requests);
  else for (const request of requests) from.queuePair.postSend(request);
  let steps = 0;
  let taken = 0;
  while (taken < 2 * messages) {
    const worked = verbs.board.step(50);
    if (worked === 0) throw new Error(`only ${taken} completions came`);
    steps += worked;
    const completions = Array.from({ length: 64 }, () => new Completion());
    const count = verbs.completionQueue.poll(completions);
    for (const { status, queuePairNumber } of completions.slice(0, count)) {
      expect(status).toBe(CompletionStatus.success);
      expect([from, to].map(({ queuePair }) => queuePair.number)).toContain(queuePairNumber);
    }
    taken += count;
  }
  return steps;
}

type Stalling = readonly [string, (verbs: Verbs) => void];

const stallings: readonly Stalling[] = [
  ['a queue pair whose peer is lost', (verbs) => makeLost(verbs).queuePair.postSend(sends(8))],
  [
    'a queue pair whose peer is not ready to receive',
    (verbs) => makePair(verbs)[0].queuePair.postSend(sends(8)),
  ],
  [
    'a lane without completion credits that has commands on its list',
    (verbs) => {
      const [lost] = [makeEnd(verbs, { capabilities: { maxSendWorkRequests: 128 } })];
      connect(lost, makeEnd(verbs), { timeout: 0 });
      lost.queuePair.postSend(sends(128).map((request) => ({ ...request, signaled: false })));
    },
  ],
  [
    'more lanes without credits than fetch buffers',
    (verbs) => {
      for (let queuePairs = 0; queuePairs < 12; queuePairs++) {
        const lost = makeEnd(verbs, { capabilities: { maxSendWorkRequests: 128 } });
        connect(lost, makeEnd(verbs), { timeout: 0 });
        lost.queuePair.postSend(sends(128));
      }
    },
  ],
  [
    'a fence behind a READ without an answer',
    (verbs) => {
      const lost = makeLost(verbs);
      const { region } = makeMemory(lost, 64);
      lost.queuePair.postSend({ opcode: Opcode.rdmaRead, gather: [region.slice()], remote: region.remote() });
      for (const request of sends(8)) lost.queuePair.postSend({ ...request, fence: true });
    },
  ],
];

describe.each([
  ['one by one', false],
  ['by one doorbell', true],
])('messages posted %s', (_, byDoorbell) => {
  it.each(stallings)('are not delayed by %s on the same function', (__, stall) => {
    const alone = makeVerbs();
    const expected = stepsOf(alone, makePair(alone), byDoorbell);
    const verbs = makeVerbs();
    const pair = makePair(verbs);
    stall(verbs);
    verbs.board.runUntilIdle(200_000);
    expect(stepsOf(verbs, pair, byDoorbell)).toBeLessThanOrEqual(1.2 * expected + 50);
  });

  it('are delayed by only a few packets of a lane with long DMA transfers', () => {
    const verbs = makeVerbs();
    const pair = makePair(verbs);
    const alone = stepsOf(verbs, pair, byDoorbell);
    const [writer, written] = makePair(verbs);
    const bytes = 4 << 20;
    const [from, to] = [makeMemory(writer, bytes, 1), makeMemory(written, bytes, 2)];
    writer.queuePair.postSend({
      opcode: Opcode.rdmaWrite,
      gather: [from.region.slice()],
      remote: to.region.remote(),
      wrId: 0,
      signaled: true,
    });
    verbs.board.step(5000);
    // Packets of both alternate; the WRITE alone takes more than 4096 packets of some 20 steps each.
    expect(stepsOf(verbs, pair, byDoorbell)).toBeLessThan(6 * alone);
    expect(Buffer.compare(to.data, from.data)).not.toBe(0);
    expect(settle(writer).map(({ status }) => status)).toEqual([CompletionStatus.success]);
    expect(Buffer.compare(to.data, from.data)).toBe(0);
  });
});

it('two boards that saturate each other with READs both progress until all READs complete', () => {
  const fabric = randomUUID();
  const boards = [makeVerbs(stepped, { fabric }), makeVerbs(stepped, { fabric })] as const;
  const queuePairs = 6;
  const reads = 16;
  const bytes = 8192;
  for (let made = 0; made < queuePairs; made++) {
    const pair = makePair(boards[0], {}, boards[1]);
    const memories = pair.map((end) => makeMemory(end, bytes, made));
    pair.forEach(({ queuePair }, index) => {
      const into = makeMemory(pair[index]!, reads * bytes);
      queuePair.postSend(
        Array.from({ length: reads }, (_, wrId) => ({
          opcode: Opcode.rdmaRead,
          gather: [into.region.slice(wrId * bytes, bytes)],
          remote: memories[1 - index]!.region.remote(),
          wrId,
          signaled: true,
        })),
      );
    });
  }
  const done = [0, 0];
  const idleLooks = [0, 0];
  const all = queuePairs * reads;
  const completions = Array.from({ length: 64 }, () => new Completion());
  while (done.some((count) => count < all)) {
    boards[0].board.step(4000);
    boards.forEach(({ completionQueue }, index) => {
      const count = completionQueue.poll(completions);
      for (const { status } of completions.slice(0, count)) expect(status).toBe(CompletionStatus.success);
      done[index]! += count;
      idleLooks[index] = count > 0 || done[index] === all ? 0 : idleLooks[index]! + 1;
      // Neither board waits for the other to complete.
      expect(idleLooks[index]).toBeLessThan(4);
    });
  }
  expect(done).toEqual([all, all]);
});
