// Simulates plans in a separate process, so that a crash of one seed does not end the others.
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
