import { describe, expect, it } from 'vitest';

import { faultKinds, minimize, planOf, type Plan } from './plan.ts';
import { Simulation } from './simulation.ts';

describe('a fabric of boards with faults of all kinds', () => {
  it.each(Array.from({ length: 12 }, (_, index) => index + 1))('keeps its guarantees: seed %i', (seed) => {
    expect(new Simulation(planOf(seed)).run().steps).toBeGreaterThan(0);
  });

  it('reconnects queue pairs with the same number, and with a new one', () => {
    const plan: Plan = { ...planOf(5), connections: 12, operations: 60, faults: ['disconnects', 'replays'] };
    const { kept, renumbered } = new Simulation(plan).run().reconnects;
    expect(kept).toBeGreaterThan(3);
    expect(renumbered).toBeGreaterThan(3);
  });

  it('repeats the same run from the same seed', () => {
    const plan: Plan = { ...planOf(3), connections: 3, operations: 12, faults: faultKinds };
    expect(new Simulation(plan).run()).toEqual(new Simulation(plan).run());
  });
});

it('a failing plan is minimized while it still fails', async () => {
  const plan: Plan = {
    seed: 1,
    boards: 4,
    connections: 11,
    stations: 5,
    operations: 60,
    faults: faultKinds,
    judged: 3,
  };
  const fails = async ({ connections, faults, operations }: Plan): Promise<boolean> =>
    Promise.resolve(connections >= 3 && operations >= 7 && faults.includes('loss'));
  expect(await minimize(plan, fails)).toEqual({
    seed: 1,
    boards: 1,
    connections: 3,
    stations: 0,
    operations: 7,
    faults: ['loss'],
    judged: 0,
  });
});
