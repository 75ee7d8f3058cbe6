// Timeouts of reliable connections: the transport timer Ttr = 4.096 µs × 2^(local ACK timeout) holds twice the packet lifetime and the peer's target ACK
// delay (InfiniBand volume 1, 9.7.6.1.3).
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import {
  addressOf,
  connectQueuePair,
  localAckTimeout,
  type QueuePairAddress,
} from '../../lib/connect/index.ts';
import { CompletionStatus, Opcode, type QueuePair } from '../../lib/index.ts';
import { makeEnd, makeMemory, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

/** Nanoseconds of an exponent. */
const time = (exponent: number): number => 4096 * 2 ** exponent;

describe('a local ACK timeout', () => {
  it("is the smallest one that covers both directions and the peer's work", () => {
    for (let packetLifetime = 0; packetLifetime <= 31; packetLifetime++)
      for (let targetAckDelay = 0; targetAckDelay <= 31; targetAckDelay++) {
        const timeout = localAckTimeout({ packetLifetime, targetAckDelay });
        const needed = 2 * time(packetLifetime) + time(targetAckDelay);
        if (timeout < 31) expect(time(timeout)).toBeGreaterThanOrEqual(needed);
        if (timeout < 31 || needed <= time(31)) expect(time(timeout - 1)).toBeLessThan(needed);
        else expect(needed).toBeGreaterThan(time(31));
      }
  });

  it.each([
    ['packetLifetime', 32],
    ['packetLifetime', -1],
    ['targetAckDelay', 1.5],
    ['targetAckDelay', Number.NaN],
  ])('is not computed from %s %d', (name, value) => {
    const times = { packetLifetime: 1, targetAckDelay: 1, [name]: value };
    expect(() => localAckTimeout(times)).toThrow(`${name} must be an exponent of 4.096 µs, 0 to 31`);
  });
});

describe('a connection with the packet lifetime of its path', () => {
  const makeEnds = (): [End, End] => {
    const fabric = `timeouts ${randomUUID()}`;
    return [makeEnd(makeVerbs(stepped, { fabric })), makeEnd(makeVerbs(stepped, { fabric }))];
  };
  const addressesOf = (ends: readonly End[]): ReturnType<typeof addressOf>[] =>
    ends.map(({ verbs, queuePair }) => addressOf(verbs.context, queuePair));

  it("has the timeout that follows from the peer's target ACK delay, and retransmits a lost packet after it", () => {
    const [one, other] = makeEnds();
    const [own, peer] = addressesOf([one, other]);
    expect(peer!.targetAckDelay).toBe(other.verbs.context.queryDevice().limits.targetAckDelay);
    connectQueuePair(one.queuePair, own!, { ...peer!, targetAckDelay: 6 }, { packetLifetime: 4 });
    connectQueuePair(other.queuePair, peer!, own!, { packetLifetime: 4 });
    const timeoutOf = (queuePair: QueuePair): number => queuePair.query().timeout;
    expect([timeoutOf(one.queuePair), timeoutOf(other.queuePair)]).toEqual([7, 16]);
    const { board } = one.verbs;
    const lost = other.verbs.board.impair({ loss: 1 });
    const { region } = makeMemory(one, 64);
    other.queuePair.postReceive({ scatter: [makeMemory(other, 64).region.slice()] });
    one.queuePair.postSend({ opcode: Opcode.send, gather: [region.slice()], signaled: true });
    board.runUntilIdle();
    other.verbs.board.clearImpairments(lost);
    board.advanceTime(time(7) - 10_000);
    expect(settle(other)).toEqual([]);
    board.advanceTime(3 * time(7));
    expect(settle(other)).toMatchObject([{ status: CompletionStatus.success }]);
  });

  it.each([
    [3, 3],
    [2, 7],
    [6, 2],
  ])(
    'of 4.096 µs × 2^%i and a target ACK delay of 4.096 µs × 2^%i retransmits no packet that takes all of its time, and a lost one after Ttr to 4 Ttr',
    (packetLifetime, targetAckDelay) => {
      const [one, other] = makeEnds();
      const [own, peer] = addressesOf([one, other]);
      connectQueuePair(one.queuePair, own!, { ...peer!, targetAckDelay }, { packetLifetime });
      connectQueuePair(other.queuePair, peer!, own!, { packetLifetime });
      const shortest = 2 * time(packetLifetime) + time(targetAckDelay);
      const ends = [one, other].map(({ verbs }) => verbs.board);
      const [board] = ends as [(typeof ends)[number]];
      for (const each of ends) each.impair({ delay: time(packetLifetime) });
      board.startPacketTrace(100);
      const send = (): void => one.queuePair.postSend({ opcode: Opcode.send, signaled: true });
      const timesOfSends = (): number[] =>
        board
          .takePackets()
          .filter(({ direction }) => direction === 'out')
          .map((packet) => Number(packet.time));
      other.queuePair.postReceive([{}, {}]);
      send();
      board.runUntilIdle();
      board.advanceTime(20 * shortest);
      expect(settle(one)).toMatchObject([{ status: CompletionStatus.success }]);
      expect(timesOfSends()).toHaveLength(1);
      for (const each of ends) each.clearImpairments();
      ends[1]!.impair({ loss: 1, count: 1 });
      send();
      board.runUntilIdle();
      board.advanceTime(20 * shortest);
      const [first, second, ...more] = timesOfSends();
      expect(more).toEqual([]);
      expect(second! - first!).toBeGreaterThanOrEqual(shortest);
      expect(second! - first!).toBeLessThanOrEqual(4 * time(one.queuePair.query().timeout));
      expect(settle(one)).toMatchObject([{ status: CompletionStatus.success }]);
    },
  );

  it('is refused if the timeout is given too, or the target ACK delay is unknown', () => {
    const [one, other] = makeEnds();
    const [own, peer] = addressesOf([one, other]);
    const connect = (attributes: object, from = own!, to = peer!): void =>
      connectQueuePair(one.queuePair, from, to, attributes);
    expect(() => connect({ packetLifetime: 4, timeout: 14 })).toThrow(/^timeout must be absent/);
    expect(() => connect({ packetLifetime: 40 })).toThrow(/^packetLifetime must be an exponent/);
    const silent = (address: QueuePairAddress): QueuePairAddress =>
      Object.fromEntries(
        Object.entries(address).filter(([name]) => name !== 'targetAckDelay'),
      ) as unknown as QueuePairAddress;
    expect(() => connect({ packetLifetime: 4 }, silent(own!), silent(peer!))).toThrow(
      /^targetAckDelay must be/,
    );
    expect(one.queuePair.query().state).toBe(0);
  });
});
