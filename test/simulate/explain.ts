import { minimize, type Plan } from './plan.ts';

/** Plays a plan; returns the failure in words, or none. */
export interface Player {
  play(plan: Plan): Promise<{ readonly failure?: string }>;
}

/** Yields the failure, line by line, and the smallest plan that also fails. */
export async function* explain(player: Player, plan: Plan, failure: string): AsyncGenerator<string> {
  yield `seed ${plan.seed} fails: ${failure}`;
  let last = failure;
  const smallest = await minimize(plan, async (smaller) => {
    const outcome = await player.play(smaller);
    last = outcome.failure ?? last;
    return outcome.failure !== undefined;
  });
  yield `so does the least of it: ${last.split('\n')[0]}`;
  yield `again: npm run simulate -- --plan '${JSON.stringify(smallest)}'`;
  const again = await player.play(smallest);
  if (again.failure === undefined)
    yield 'played again it passes: what fails does not follow from the plan alone';
}
