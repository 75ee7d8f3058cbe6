import { fork } from 'node:child_process';
import path from 'node:path';

/** Plays plans of simulations in a process of its own; one that dies, hangs or fails is replaced. */
export class Simulator {
  #worker;
  #directory;
  #environment;
  #timeLimit;

  /**
   * @param directory where the simulation is compiled to
   * @param environment names the addon that it uses
   * @param timeLimit seconds after which a simulation hangs
   */
  constructor(directory, environment, timeLimit = 300) {
    this.#timeLimit = timeLimit;
    this.#directory = directory;
    this.#environment = environment;
  }

  /** Result of a plan: {time, steps}, or {failure}. */
  async play(plan) {
    this.#worker ??= fork(path.join(this.#directory, 'worker.js'), {
      env: { ...process.env, ...this.#environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const played = this.#worker;
    let said = '';
    played.stderr.removeAllListeners('data').on('data', (text) => (said = `${said}${text}`.slice(-2000)));
    const outcome = await new Promise((resolve) => {
      const timer = setTimeout(
        () => resolve({ failure: `hangs for ${this.#timeLimit} s` }),
        this.#timeLimit * 1000,
      );
      const over = (given) => {
        clearTimeout(timer);
        played.removeAllListeners();
        resolve(given);
      };
      played.once('message', over);
      // Not before all that it has said is here.
      played.once('close', (code, signal) =>
        over({ failure: `the process ended: ${reasonIn(said) || (signal ?? code)}` }),
      );
      played.send(plan);
    });
    if (outcome.failure !== undefined) this.end();
    return outcome;
  }

  /** Ends the process. */
  end() {
    this.#worker?.kill('SIGKILL');
    this.#worker = undefined;
  }
}

/** The error among the lines that a process wrote to stderr, else the last of them. */
function reasonIn(said) {
  const lines = said.trim().split('\n');
  return lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1);
}
