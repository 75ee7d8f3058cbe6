import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';

import { openDevice } from '../../lib/index.ts';
import { runHca, type HcaRun } from '../cli/run_hca.ts';
import { closing } from '../driver/backends.ts';

const small = 'queuePairs=64&pageTableEntries=4096&memoryKeys=256';

/** Runs `hca serve` while `body` runs, in a folder of names of its own. */
async function whileServed(words: readonly string[], body: () => Promise<void>): Promise<HcaRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-serve-'));
  vi.stubEnv('XDG_RUNTIME_DIR', folder);
  const stop = new AbortController();
  try {
    const run = runHca(['serve', ...words], stop.signal);
    await body().finally(() => stop.abort());
    return await run;
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  }
}

describe('hca serve', () => {
  it('holds a board by a name, which hca list shows, until it is interrupted', async () => {
    const run = await whileServed(['lab', '--device', `emu:?${small}`], async () => {
      closing(openDevice('serve:lab/2'));
      const { out } = await runHca(['list']);
      expect(out).toMatch(/^serve:lab +board of another process: functions 1 to 7, 2 open$/m);
      const [devices] = (await runHca(['list', '--json'])).json() as [{ device: string }[]];
      expect(devices.map(({ device }) => device)).toEqual(['emu:', 'serve:lab']);
    });
    expect(run).toMatchObject({ exitCode: 0, error: '' });
    expect(run.out).toContain('serve:lab/1 to /7 can be opened; Ctrl+C ends it\n');
    expect((await runHca(['list'])).out).not.toContain('serve:lab');
  });

  it('serves the commands of a device', async () => {
    const run = await whileServed(['--json', '--device', `emu:?${small}&underlyingFunctions=3`], async () => {
      for (const command of ['info', 'selftest', 'doorbell --iterations 50 --warmup 5', 'kicks --count 2']) {
        const { exitCode, error } = await runHca([...command.split(' '), '--device', 'serve:board/1']);
        expect([command, exitCode]).toEqual([command, 0]);
        expect(error.replaceAll(/hca: warning: .*\n/g, '')).toBe('');
      }
      for (const words of [['rc'], ['rc', '--events']]) {
        const { exitCode, error } = await runHca([
          'pingpong',
          ...words,
          '-n',
          '20',
          '-s',
          '3000',
          '--chk',
          '--device',
          'serve:board',
        ]);
        expect([exitCode, error]).toEqual([0, '']);
      }
      const { error } = await runHca(['info', '--device', 'serve:board/0']);
      expect(error).toMatch(
        /^hca: board at .*: underlying function 0 is not for clients; open one of 1 to 2\n$/,
      );
    });
    expect(run.json()[0]).toEqual({ served: 'serve:board', functions: [1, 2] });
  });

  it('connects the clients of two processes', async () => {
    await whileServed(['lab', '--device', `emu:?${small}`], async () => {
      const words = [
        'pingpong',
        'rc',
        '-p',
        '18577',
        '-n',
        '200',
        '-s',
        '5000',
        '--chk',
        '--events',
        '--device',
      ];
      const program = fileURLToPath(new URL('../../dist/lib/cli/main.js', import.meta.url));
      const other = promisify(execFile)(process.execPath, [program, ...words, 'serve:lab/5', '--listen']);
      let run = await runHca([...words, 'serve:lab/6', 'localhost']);
      const givenUp = performance.now() + 20_000;
      while (run.exitCode !== 0 && performance.now() < givenUp) {
        run = await runHca([...words, 'serve:lab/6', 'localhost']); // the other does not listen yet
      }
      expect(run).toMatchObject({ exitCode: 0, error: '' });
      expect((await other).stdout).toMatch(/^2000000 bytes in /m);
    });
  });

  it.each([
    [['--device', 'pci:0000:01:00.0'], 1, /is not an emulated board.*expected: a device emu:/],
    [['--device', 'emu:?progress=stepped'], 1, /a board with progress stepped is not served/],
    [['/nonexistent/x'], 1, /no board is served at \/nonexistent\/x: No such file or directory/],
    [['--memory', '0'], 2, /It must be a whole number from 1/],
  ])('%j fails in one line', async (words, exitCode, message) => {
    const run = await runHca(['serve', ...words]);
    expect(run.exitCode).toBe(exitCode);
    expect(run.error).toMatch(message);
    expect(run.error.trimEnd()).not.toContain('\n');
  });
});
