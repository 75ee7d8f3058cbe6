// A process that simulates what it is told to, so that one that dies of a seed takes no others with it.
import type { Plan } from './plan.ts';
import { Simulation } from './simulation.ts';

process.on('message', (plan: Plan) => {
  try {
    const { time, steps } = new Simulation(plan).run();
    process.send!({ time: Number(time), steps });
  } catch (error) {
    process.send!({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
