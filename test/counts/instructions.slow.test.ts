// The cost of operations against the recorded counts: `npm run counts -- --record` records a count that a
// change has reduced.
import { describe, expect, it, type TestContext } from 'vitest';

import { leaveOut, requireTool } from '../helpers/tools.ts';

interface Count {
  readonly instructions: number;
  readonly steps?: number;
}
const { count, machine, operations, recordedCounts, recordedMachine, toleranceOf } = (await import(
  new URL('../../scripts/instruction_counts.mjs', import.meta.url).href
)) as {
  count(name: string): Count;
  machine(): string;
  operations: Readonly<Record<string, { what: string }>>;
  recordedCounts(): Readonly<Record<string, Count>>;
  recordedMachine(): string;
  toleranceOf(name: string): number;
};

/** The additional cost of a round trip while a page, `hca kicks` and `hca top` watch the board. */
const mostWhenWatched = 1.05;
const counted = new Map<string, Count>();

function countOnce(name: string): Count {
  const known = counted.get(name) ?? count(name);
  counted.set(name, known);
  return known;
}

function requireCounts(context: TestContext): void {
  requireTool('valgrind', context);
  requireTool('cmake', context);
}

describe('the instructions of an operation, and its steps of blocks', () => {
  it.for(Object.entries(operations))('are those recorded: %s', { timeout: 600_000 }, ([name], context) => {
    requireCounts(context);
    if (machine() !== recordedMachine())
      leaveOut(`counts are recorded for ${recordedMachine()}, and this is ${machine()}`, context);
    const { instructions, steps } = countOnce(name);
    const recorded = recordedCounts()[name]!;
    const tolerance = toleranceOf(name);
    expect(steps).toBe(recorded.steps);
    expect(instructions / recorded.instructions - 1).toBeLessThan(tolerance);
    expect(instructions / recorded.instructions - 1).toBeGreaterThan(-tolerance);
  });

  it('are at most a twentieth more while the board is watched', { timeout: 300_000 }, (context) => {
    requireCounts(context);
    const [watched, plain] = [countOnce('send_watched'), countOnce('send')];
    expect(watched.steps).toBe(plain.steps);
    expect(watched.instructions / plain.instructions).toBeGreaterThan(1);
    expect(watched.instructions / plain.instructions).toBeLessThanOrEqual(mostWhenWatched);
  });
});
