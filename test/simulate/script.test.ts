import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

import { explain, type Player } from './explain.ts';
import { planOf } from './plan.ts';

/** A simulator whose plans fail the first `times` times, like a fault that does not depend on the plan alone. */
function failing(times: number): Player {
  let left = times;
  return { play: async () => Promise.resolve(left-- > 0 ? { failure: 'Violation: lost\nat a line' } : {}) };
}

async function told(times: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of explain(failing(times), planOf(1), 'Violation: first')) lines.push(line);
  return lines;
}

describe('a failing seed', () => {
  it('is reported with the smallest failing plan', async () => {
    const lines = await told(10_000);
    expect(lines).toEqual([
      'seed 1 fails: Violation: first',
      'so does the least of it: Violation: lost',
      expect.stringContaining('"connections":0,"stations":0,"operations":1,"faults":[],"judged":0') as string,
    ]);
  });

  it('is reported even if its smallest plan passes when replayed', async () => {
    for (const times of [0, 1, 3]) {
      const lines = await told(times);
      expect(lines[1]).toMatch(/^so does the least of it: Violation: /);
      expect(lines.at(-1)).toMatch(/played again it passes/);
    }
  });
});

it.each([
  [['--seeds', 'many'], '--seeds is a whole number, not many'],
  [['--plan', '{'], '--plan is what a seed that failed has printed, not {'],
])('simulate %s reports what was expected', (args, expected) => {
  const { status, stderr } = spawnSync('node', ['scripts/simulate.mjs', ...args], { encoding: 'utf8' });
  expect(stderr).toContain(expected);
  expect(status).toBe(2);
});
