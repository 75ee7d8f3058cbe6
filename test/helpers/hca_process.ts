import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach } from 'vitest';

const program = fileURLToPath(new URL('../../dist/lib/cli/main.js', import.meta.url));
/** Milliseconds of each wait, far more than needed even on a busy machine. */
const timeLimit = 60_000;

/** Processes that end with the test, and with the file. */
const running = { test: new Set<ChildProcess>(), file: new Set<ChildProcess>() };
afterEach(() => {
  for (const child of running.test) child.kill('SIGKILL');
});
afterAll(() => {
  for (const child of running.file) child.kill('SIGKILL');
});

/** How a process ended. */
export interface HcaEnd {
  /** Null: by a signal. */
  readonly exitCode: number | null;
  readonly out: string;
  readonly error: string;
}

/** `hca` in its own process, which ends at the latest with the test, or with the file of tests. */
export class HcaProcess {
  out = '';
  error = '';
  /** Settles at its end. Rejects: it runs too long. */
  readonly ended: Promise<HcaEnd>;
  private readonly child: ChildProcess;
  private isMeantToDie = false;

  /** @param lasts until when it may run; a process of the file has no limit of its own */
  constructor(words: readonly string[], lasts: 'test' | 'file' = 'test') {
    this.child = spawn(process.execPath, [program, ...words]);
    running[lasts].add(this.child);
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.error += text));
    this.ended = this.end(words, lasts);
    this.ended.catch(() => {});
  }

  kill(signal: NodeJS.Signals): void {
    this.isMeantToDie ||= signal === 'SIGKILL';
    this.child.kill(signal);
  }

  /** The child process that it has started. */
  childOf(): number {
    const { pid } = this.child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  }

  /** Waits for output. */
  async hasSaid(text: string): Promise<void> {
    await until(() => this.out.includes(text) || this.error.includes(text), `"${text}"`);
  }

  /** Stops it, and waits until all its threads have stopped, because the signal takes effect later. */
  async stop(): Promise<void> {
    this.kill('SIGSTOP');
    const tasks = `/proc/${this.child.pid}/task`;
    const stands = (task: string): boolean => /\) T /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8'));
    await until(() => readdirSync(tasks).every(stands), 'the stop of all threads');
  }

  /** Waits until promisePromptEnd has run; an earlier signal ends the process by default. */
  async isUp(): Promise<void> {
    const alarm = 1n << 13n; // the signal at the end of its time limit
    await until(() => {
      const caught = /^SigCgt:\s*([\da-f]+)$/m.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'));
      return caught !== null && (BigInt(`0x${caught[1]!}`) & alarm) !== 0n;
    }, 'the promise of a prompt end');
  }

  private async end(words: readonly string[], lasts: 'test' | 'file'): Promise<HcaEnd> {
    const timer = lasts === 'file' ? undefined : setTimeout(() => this.child.kill('SIGKILL'), timeLimit);
    const [exitCode, signal] = (await once(this.child, 'close')) as [number | null, string | null];
    clearTimeout(timer);
    running[lasts].delete(this.child);
    const { out, error } = this;
    if (signal === 'SIGKILL' && !this.isMeantToDie)
      throw new Error(`hca ${words.join(' ')} does not end; it says: ${out}${error}`);
    return { exitCode, out, error };
  }
}

/** Polls for a condition. @throws Error it does not hold in time */
export async function until(hasCome: () => boolean, what: string): Promise<void> {
  const givenUp = performance.now() + timeLimit;
  while (!hasCome()) {
    if (performance.now() > givenUp) throw new Error(`${what} does not come`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until a process of this machine listens on a TCP port. */
export async function untilListening(port: number): Promise<void> {
  const listening = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} \\S+ 0A `);
  await until(
    () => ['tcp', 'tcp6'].some((family) => listening.test(readFileSync(`/proc/net/${family}`, 'utf8'))),
    `a process that listens on ${port}`,
  );
}
