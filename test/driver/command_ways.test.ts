import { describe, expect, it } from 'vitest';

import { Completion, Opcode, type RemoteMemory } from '../../lib/index.ts';
import { CommandWays } from '../../lib/driver/command_ways.ts';
import { closing } from '../helpers/backends.ts';
import { makeMemory, makePair, type End } from '../helpers/connected.ts';
import { makeFunctions } from '../helpers/function_verbs.ts';
import type { Verbs } from '../helpers/make_verbs.ts';

/** Follows the commands of all functions, until the test ends. */
function follow({ board }: Verbs, most?: number): CommandWays {
  const observed = closing(board.observe(0));
  return closing(new CommandWays(observed.watch('kicks'), observed.watch('completions'), most));
}

const remotes = new Map<Verbs, RemoteMemory>();

/** Memory that an end's peer may write, the same each time. */
function remoteOf(end: End): RemoteMemory {
  const known = remotes.get(end.verbs) ?? makeMemory(end, 8).region.remote();
  remotes.set(end.verbs, known);
  return known;
}

function send(end: End, times: number, signaled = true): void {
  const { queuePair, verbs } = end;
  for (let wrId = 0; wrId < times; wrId++) {
    queuePair.postSend({ opcode: Opcode.rdmaWrite, wrId, signaled, remote: remoteOf(end) });
    verbs.board.runUntilIdle();
    verbs.completionQueue.poll(completions);
  }
}

const completions = Array.from({ length: 4 }, () => new Completion());

describe('followed commands', () => {
  it('are kicked, sent and complete, in this order, by the times of the device', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from] = makePair(guest);
    const ways = follow(control);
    send(from, 3);
    const { kicked, sent, completed, kicks, oneOf } = ways.take();
    expect([kicked.length, sent.length, completed.length, kicks, oneOf]).toEqual([3, 3, 3, 3, 1]);
    for (const way of completed) {
      expect(way).toMatchObject({ underlyingFunction: 1, queuePairNumber: from.queuePair.number });
      expect(way.kicked).toBeGreaterThanOrEqual(way.firstWrite);
      expect(way.sent).toBeGreaterThan(way.kicked);
      expect(way.completed).toBeGreaterThan(way.sent!);
    }
    expect(ways.take()).toMatchObject({ kicked: [], sent: [], completed: [], kicks: 0 });
  });

  it('complete after they are taken, and never without a completion', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from] = makePair(guest);
    const ways = follow(control);
    from.queuePair.postSend({ opcode: Opcode.rdmaWrite, wrId: 1, signaled: true, remote: remoteOf(from) });
    while (ways.take().sent.length === 0) guest.board.step(1);
    guest.board.runUntilIdle();
    const { kicked, sent, completed } = ways.take();
    expect([kicked.length, sent.length, completed.length]).toEqual([0, 0, 1]);
    send(from, 2, false);
    expect(ways.take()).toMatchObject({ sent: [{}, {}], completed: [] });
  });

  it('are a sample of many, evenly over functions, and all commands when they are few', () => {
    const [control, one, two] = makeFunctions(3) as [Verbs, Verbs, Verbs];
    const ends = [one, two].map((verbs) => makePair(verbs)[0]);
    const ways = follow(control, 16);
    let followed = [0, 0];
    const turns = 300;
    for (let look = 0; look < 6; look++) {
      for (let turn = 0; turn < turns; turn++) for (const end of ends) send(end, 1);
      const { completed, kicked, kicks, oneOf } = ways.take();
      expect(kicks).toBe(2 * turns);
      if (look === 0) {
        expect([kicked.length, oneOf]).toEqual([2 * turns, 1]);
        continue;
      }
      expect(kicked.length).toBeLessThan(100);
      expect(oneOf).toBeGreaterThan(4);
      followed = followed.map(
        (count, index) => count + completed.filter((way) => way.underlyingFunction === index + 1).length,
      );
    }
    expect(Math.min(...followed)).toBeGreaterThan(10);
    expect(Math.max(...followed) / Math.min(...followed)).toBeLessThan(2);
    for (let look = 0; look < 12; look++) ways.take();
    send(ends[0]!, 5);
    expect(ways.take()).toMatchObject({ oneOf: 1, kicks: 5 });
  });
});
