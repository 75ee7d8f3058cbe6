// The cost of operations, against the recorded counts: `npm run counts -- --record` records a count that a change has made smaller.
import { describe, expect, it } from 'vitest';

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

describe('the instructions of an operation, and its steps of blocks', () => {
  it.for(Object.entries(operations))('are those recorded: %s', { timeout: 300_000 }, ([name], context) => {
    requireTool('valgrind', context);
    requireTool('cmake', context);
    if (machine() !== recordedMachine())
      leaveOut(`counts are recorded for ${recordedMachine()}, and this is ${machine()}`, context);
    const { instructions, steps } = count(name);
    const recorded = recordedCounts()[name]!;
    const tolerance = toleranceOf(name);
    expect(steps).toBe(recorded.steps);
    expect(instructions / recorded.instructions - 1).toBeLessThan(tolerance);
    expect(instructions / recorded.instructions - 1).toBeGreaterThan(-tolerance);
  });
});
