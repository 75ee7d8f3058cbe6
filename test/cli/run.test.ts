import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { deviceOfPrograms } from '../../lib/cli/run.ts';
import { HcaProcess } from '../helpers/hca_process.ts';
import { runHca } from '../helpers/run_hca.ts';

const run = (...words: string[]): HcaProcess => new HcaProcess(['run', ...words]);

describe('hca run', () => {
  it.each([
    ['sh', '-c', 'exit 7'],
    ['--', 'sh', '-c', 'exit 7'],
    ['--explain', '--', 'sh', '-c', 'exit 7'],
  ])('ends with the exit code of the program: %j', async (...words) => {
    expect(await run(...words).ended).toEqual({ exitCode: 7, out: '', error: '' });
  });

  it('sets up the environment of a program, and passes its options unchanged', async () => {
    const script = 'echo $LD_LIBRARY_PATH:$FPGA_VERBS_DEVICE:$FPGA_VERBS_EXPLAIN:$@';
    const { out } = await run(
      '--explain',
      '--device',
      'emu:?seed=3',
      'sh',
      '-c',
      script,
      'sh',
      '--device',
      'x',
    ).ended;
    const [library, , ...rest] = out.trim().split(':');
    expect(library).toMatch(/build\/Release\/verbs$/);
    expect(rest.join(':')).toContain('?seed=3&link=host%3Adefault&linkLayer=infiniband:1:--device x');
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const)(
    'forwards %s, and waits for the program',
    async (signal) => {
      const script = `trap 'echo caught; kill $!; exit 3' ${signal.slice(3)}; echo up; sleep 100 & wait`;
      const program = run('sh', '-c', script);
      await program.hasSaid('up');
      program.kill(signal);
      expect(await program.ended).toMatchObject({ exitCode: 3, out: 'up\ncaught\n' });
    },
  );

  it('forwards a signal that arrives while the program starts', async () => {
    // The signal arrives before the call that starts the program has returned.
    const hook = `
      import processes from 'node:child_process';
      import { syncBuiltinESMExports } from 'node:module';
      const { spawn } = processes;
      processes.spawn = (...words) => {
        const child = spawn(...words);
        process.kill(process.pid, 'SIGHUP');
        return child;
      };
      syncBuiltinESMExports();`;
    vi.stubEnv('NODE_OPTIONS', `--import=data:text/javascript,${encodeURIComponent(hook)}`);
    const program = run('sleep', '30');
    vi.unstubAllEnvs();
    expect(await program.ended).toEqual({ exitCode: 128 + constants.signals.SIGHUP, out: '', error: '' });
  });

  // In a virtual machine, where reading files is slow, loading the code of all commands took longer than a
  // test waited.
  it('loads no code of the other commands before it starts a program', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-loaded-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    vi.stubEnv('NODE_V8_COVERAGE', folder); // V8 lists all loaded files there
    const program = run('true');
    vi.unstubAllEnvs();
    expect((await program.ended).exitCode).toBe(0);
    const loaded = readdirSync(folder).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as {
        result: { url: string }[];
      };
      return result.map(({ url }) => url).filter((url) => url.includes('/dist/lib/'));
    });
    expect(loaded.map((url) => path.basename(url))).toContain('run.js');
    expect(loaded.filter((url) => /command_line|lib\/(driver|verbs|connect)\//.test(url))).toEqual([]);
    expect(loaded.length).toBeLessThan(30);
  });

  it('names the signal that ended a program', async () => {
    expect((await run('sh', '-c', 'kill -9 $$').ended).exitCode).toBe(128 + 9);
  });

  it('reports that the program does not exist', async () => {
    const { exitCode, error } = await run('no-such-program').ended;
    expect(exitCode).toBe(127);
    expect(error).toBe(
      'hca: no-such-program was not found; expected: a program on PATH, or the path of one\n',
    );
  });

  it('reports that a program cannot be run, for every error of the system', async () => {
    for (const program of [tmpdir(), `${process.execPath}/x`, 'x'.repeat(5000)]) {
      const { exitCode, error } = await run(program).ended;
      expect(exitCode).toBe(126);
      expect(error).toMatch(
        /^hca: \S+ cannot be run: .*; expected: a program on PATH, or the path of one\n$/,
      );
    }
  });

  it('reports wrong usage without a program', async () => {
    expect(await runHca(['run'])).toMatchObject({ exitCode: 2 });
  });

  it.each([
    ['emu:', 'emu:?link=host%3Adefault&linkLayer=infiniband'],
    ['rtl:?seed=1', 'rtl:?seed=1&link=host%3Adefault&linkLayer=infiniband'],
    ['emu:2?linkLayer=ethernet', 'emu:2?linkLayer=ethernet&link=host%3Adefault'],
    ['emu:?link=udp:127.0.0.9', 'emu:?link=udp%3A127.0.0.9'],
    ['vfio:FFFF:01:00.0', 'vfio:ffff:01:00.0'],
    ['pci:FFFF:01:00.0', 'pci:ffff:01:00.0'],
    ['serve:/tmp/board/1', 'serve:/tmp/board/1'],
    ['emu:?link=shm:x&linkLayer=infiniband', 'emu:?link=shm%3Ax&linkLayer=infiniband'],
  ])('%s becomes %s', (given, expected) => {
    expect(deviceOfPrograms(given)).toBe(expected);
  });

  it.each([
    ['rtl:?progress=stepped', 'nothing would step the board'],
    ['emu:?progress=stepped', 'nothing would step the board'],
    ['emu:?progres=own', 'no option "progres"'],
  ])('refuses %s', (given, message) => {
    expect(() => deviceOfPrograms(given)).toThrow(message);
  });
});
