import { describe, expect, it } from 'vitest';

import { PollPace } from '../../lib/driver/poll_pace.ts';
import { Completion, KickRecord, Opcode } from '../../lib/index.ts';
import { KickRecordType } from '../../lib/spec/index.ts';
import { PacedPoll } from '../../lib/verbs/paced_poll.ts';
import { closing, describeOnBackends } from '../helpers/backends.ts';
import { makePair } from '../helpers/connected.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';
import { Random } from '../helpers/random.mjs';
import { loadTestAddon } from '../helpers/test_addon.ts';

const microsecond = 1e-3; // in milliseconds

/** An entry that is written some time after it is requested; each reading of the clock takes 10 ns. */
class Entries {
  time = 0;
  looks = 0;
  private comesAt = 0;
  readonly now = (): number => (this.time += 0.01 * microsecond);

  ask(microseconds: number): void {
    this.comesAt = this.time + microseconds * microsecond;
    this.looks = 0;
  }

  poll(): number {
    this.looks += 1;
    this.time += 0.05 * microsecond;
    return this.time >= this.comesAt ? 1 : 0;
  }
}

describe('a paced poll', () => {
  it('has the pace of the native poller', () => {
    const { PollPacePort } = loadTestAddon() as {
      PollPacePort: new () => { delay(): number; looked(found: boolean): void };
    };
    const [pace, native] = [new PollPace(), new PollPacePort()];
    const random = new Random(11);
    const delays = [pace, native].map(() => [] as number[]);
    for (let look = 0; look < 5000; look++) {
      const found = random.below(8) < look / 800; // from never to always
      pace.looked(found);
      native.looked(found);
      delays[0]!.push(pace.delay);
      delays[1]!.push(native.delay());
    }
    expect(delays[0]).toEqual(delays[1]);
    expect(Math.max(...delays[0]!)).toBe(2000);
  });

  it('polls once when most entries have arrived, and follows their latency', () => {
    const entries = new Entries();
    const poll = new PacedPoll(false, entries.now);
    const random = new Random(5);
    for (const least of [0.5, 1.2, 0.3]) {
      let looks = 0;
      for (let times = 0; times < 4000; times++) {
        entries.ask(least + random.below(100) / 1000);
        expect(poll.run(entries, [], {})).toBe(1);
        if (times >= 2000) looks += entries.looks;
      }
      expect(looks / 2000).toBeLessThan(1.5); // continuous polling looks every 60 ns
    }
  });

  it('polls continuously if polling drives the device', () => {
    const entries = new Entries();
    const poll = new PacedPoll(true, entries.now);
    for (let times = 0; times < 100; times++) {
      entries.ask(0.6);
      expect(poll.run(entries, [], {})).toBe(1);
      expect(entries.looks).toBeGreaterThanOrEqual(9); // every 60 ns
    }
  });

  it('gives up when the time is over, and polls at least once', () => {
    const entries = new Entries();
    const poll = new PacedPoll(false, entries.now);
    entries.ask(Infinity);
    expect(poll.run(entries, [], { timeout: 0 })).toBe(0);
    expect(entries.looks).toBe(1);
    const begin = entries.time;
    expect(poll.run(entries, [], { timeout: 0.5 })).toBe(0);
    expect(entries.time - begin).toBeCloseTo(0.5, 3);
  });

  it('refuses a time that would block the event loop', () => {
    const entries = new Entries();
    const poll = new PacedPoll(false, entries.now);
    for (const timeout of [-1, 1001, Number.NaN, Infinity])
      expect(() => poll.run(entries, [], { timeout })).toThrow(/0 to 1000 ms/);
    expect(() => poll.run(entries, [], { timeout: '5' as unknown as number })).toThrow(TypeError);
    expect(entries.looks).toBe(0);
  });
});

/** Polls until there is an entry, because a busy machine may exceed the time of one poll. */
function untilThere(poll: () => number): number {
  const givenUp = performance.now() + 60_000;
  for (;;) {
    const count = poll();
    if (count > 0 || performance.now() > givenUp) return count;
  }
}

describeOnBackends('pollPaced and pollKicksPaced', (backend) => {
  it('return the completion and the kick of a posted work request', () => {
    const verbs = makeVerbs(backend);
    const { context } = verbs;
    const [from, to] = makePair(verbs);
    context.observeKicks();
    closing({ close: () => context.ignoreKicks() });
    const completions = [new Completion()];
    const records = [new KickRecord()];
    for (let wrId = 0; wrId < 5; wrId++) {
      to.queuePair.postReceive({ wrId, scatter: [] });
      from.queuePair.postSend({ opcode: Opcode.send, wrId, signaled: true });
      if (backend.options.progress === 'stepped') verbs.board.runUntilIdle();
      expect(untilThere(() => context.pollKicksPaced(records))).toBe(1);
      expect(records[0]!.type).toBe(KickRecordType.kicked);
      for (let left = 2; left > 0; left--) {
        expect(untilThere(() => verbs.completionQueue.pollPaced(completions))).toBe(1);
        expect(completions[0]!.wrId).toBe(wrId);
      }
      expect(untilThere(() => context.pollKicksPaced(records))).toBe(1);
      expect(records[0]!.type).toBe(KickRecordType.sent);
    }
    expect(verbs.completionQueue.pollPaced(completions, { timeout: 0 })).toBe(0);
    context.ignoreKicks();
    expect(context.pollKicksPaced(records, { timeout: 1000 })).toBe(0);
  });
});
