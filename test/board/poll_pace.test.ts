import { describe, expect, it } from 'vitest';

import { Random } from '../helpers/random.mjs';
import { loadTestAddon } from '../helpers/test_addon.ts';

/** native/test/poll_pace_port.h */
interface PollPacePort {
  /** Nanoseconds from the request to the first poll. */
  delay(): number;
  looked(found: boolean): void;
}

const addon = loadTestAddon() as { PollPacePort: new () => PollPacePort };

/** The share of first polls that find their entry, if entries arrive `least` to `least + spread` ns after the request. */
function shareFound(pace: PollPacePort, random: Random, least: number, spread: number): number {
  const looks = 4000;
  let found = 0;
  for (let look = 0; look < looks; look++) {
    const isHere = least + random.below(spread + 1) <= pace.delay();
    pace.looked(isHere);
    if (look >= looks / 2 && isHere) found++;
  }
  return found / (looks / 2);
}

describe('the polling pace', () => {
  it('starts with an immediate poll', () => {
    expect(new addon.PollPacePort().delay()).toBe(0);
  });

  it('settles where three of four polls find an entry, and follows a changed latency', () => {
    const pace = new addon.PollPacePort();
    const random = new Random(7);
    for (const [least, spread] of [
      [400, 100],
      [900, 20],
      [60, 300],
    ] as const) {
      expect(shareFound(pace, random, least, spread)).toBeCloseTo(0.75, 1);
      expect(pace.delay()).toBeGreaterThan(least);
      expect(pace.delay()).toBeLessThan(least + spread + 50);
    }
  });

  it('grows by less than 50 ns for one late entry, and to at most 2 µs for many', () => {
    const pace = new addon.PollPacePort();
    pace.looked(false);
    expect(pace.delay()).toBeLessThan(50);
    for (let look = 0; look < 10; look++) pace.looked(true);
    expect(pace.delay()).toBe(0);
    for (let look = 0; look < 1000; look++) pace.looked(false);
    expect(pace.delay()).toBe(2000);
  });
});
