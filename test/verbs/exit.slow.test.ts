import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('exit_program.mjs', import.meta.url));
/** Milliseconds after which a process that has not ended counts as hanging. */
const timeLimit = 60_000;

async function outcomeOf(way: string, progress: string): Promise<unknown> {
  const child = spawn(process.execPath, [program, way, progress], { stdio: ['ignore', 'ignore', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeLimit);
  let said = '';
  child.stderr.on('data', (data: Buffer) => (said += data.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(timer);
  return { code, signal, said };
}

describe.each(['shared', 'own', 'stepped'])('a process, progress %s', (progress) => {
  it.each([
    ['exits in a wait', 7],
    ['exits in traffic', 7],
    ['exits while a worker posts', 7],
    ['exits while a worker waits', 7],
    ['exits in a callback of a wait', 7],
    ['ends with all open', 0],
    ['ends with all closed', 0],
    ['ends after its wait', 0],
    ['throws in traffic', 1],
  ])('%s, with status %i', async (way, code) => {
    const outcome = await outcomeOf(way, progress);
    expect(outcome).toMatchObject({ code, signal: null });
    if (code !== 1) expect(outcome).toMatchObject({ said: '' });
  });
});
