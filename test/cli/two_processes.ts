import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { freePort } from '../helpers/free_port.ts';
import { runHca, type HcaRun } from '../helpers/run_hca.ts';

const program = 'dist/lib/cli/main.js';
const timeLimit = 60_000;

/** A separate signal for each wait, because a signal of the whole file would end later processes too. */
export const newSignal = (): AbortSignal => AbortSignal.timeout(timeLimit);

/** Retries until the other end waits. */
export async function retrying<Result>(
  signal: AbortSignal,
  attempt: () => Promise<Result>,
  failed: (result: Result) => boolean,
): Promise<Result> {
  for (;;) {
    const result = await attempt();
    signal.throwIfAborted();
    if (!failed(result)) return result;
  }
}

/** Output of the waiting end, which runs in a separate process. */
export interface Waited {
  readonly stdout: string;
  readonly stderr: string;
  readonly failed: boolean;
}

/**
 * Runs `hca` twice: with --listen in another process, and in this one.
 * @param words the arguments of both, those of the waiting end first
 */
export async function runTwo(
  waiting: readonly string[],
  looking: readonly string[],
): Promise<{ readonly waited: Waited; readonly client: HcaRun }> {
  const port = ['--port', String(await freePort())];
  const run = promisify(execFile);
  let gone = false;
  const waited = run(process.execPath, [program, ...waiting, ...port, '--listen'], {
    timeout: timeLimit,
  }).then(
    ({ stdout, stderr }): Waited => ({ stdout, stderr, failed: false }),
    ({ stdout, stderr }: { stdout: string; stderr: string }): Waited => {
      gone = true;
      return { stdout, stderr, failed: true };
    },
  );
  const [operation, service, ...rest] = looking;
  const signal = newSignal();
  for (;;) {
    const client = await runHca([operation!, service!, 'localhost', ...rest, ...port], signal);
    if (gone || !client.error.includes('no end waits')) return { waited: await waited, client };
    signal.throwIfAborted();
  }
}
