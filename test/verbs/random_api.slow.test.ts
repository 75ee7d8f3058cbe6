// Random calls of the whole public API neither end the process nor go on for ever, and throw errors only.
// FPGA_VERBS_API_SEEDS=1000 takes so many seeds.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('random_api_program.mjs', import.meta.url));
const library = fileURLToPath(new URL('../../dist/lib', import.meta.url));
const seeds = Number(process.env['FPGA_VERBS_API_SEEDS'] ?? 40);
const steps = 400;
/** Milliseconds for a run that takes half a second of a processor. */
const timeLimit = 120_000;
const runs = promisify(execFile);

interface Outcome {
  readonly faults: readonly string[];
  readonly succeeded: Readonly<Record<string, number>>;
}

/** @throws Error the seed, the call that was being made, and how it ended */
async function run(seed: number, folder: string): Promise<Outcome> {
  const last = path.join(folder, 'last');
  const words = [program, library, String(seed), String(steps), last];
  try {
    const { stdout } = await runs(process.execPath, words, {
      cwd: folder,
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
      timeout: timeLimit,
      killSignal: 'SIGKILL',
    });
    return JSON.parse(stdout) as Outcome;
  } catch (error) {
    const { signal, code, stderr } = error as { signal?: string; code?: number; stderr?: string };
    throw new Error(
      `seed ${seed} ended by ${signal ?? code} in ${readFileSync(last, 'utf8').trim()}\n${stderr?.slice(0, 2000)}`,
      { cause: error },
    );
  }
}

it('random calls of the public API end, by errors or by none', async () => {
  const left = Array.from({ length: seeds }, (_, seed) => seed + 1);
  const total = new Map<string, number>();
  const work = async (): Promise<void> => {
    const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-api-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const { faults, succeeded } = await run(seed, folder);
      expect(faults, `seed ${seed}`).toEqual([]);
      for (const [name, count] of Object.entries(succeeded)) total.set(name, (total.get(name) ?? 0) + count);
    }
  };
  await Promise.all([work(), work()]);
  // They come as far as the device.
  for (const name of [
    'createQueuePair',
    'postSend',
    'registerMemory',
    'poll',
    'advanceTime',
    'inject',
    'map',
    'write64',
  ])
    expect(total.get(name) ?? 0, name).toBeGreaterThan(0);
}, 3_600_000);
