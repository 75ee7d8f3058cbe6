// A process that simulates what it is told to, so that one that dies of a seed takes no others with it.
import type { Plan } from './plan.ts';
import { Simulation } from './simulation.ts';

// The driver's patience counts how often it looks, so that a machine that has no time for this process does no harm.
const millisecondsOfALook = 0.01;
let now = 0;
performance.now = () => (now += millisecondsOfALook);

process.on('message', (plan: Plan) => {
  try {
    const { time, steps } = new Simulation(plan).run();
    process.send!({ time: Number(time), steps });
  } catch (error) {
    process.send!({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
