import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';

import { openDevice, type Context, type QueuePair } from '../../lib/index.ts';
import { UNDERLYING_FUNCTION_PHYSICAL_COLLECT_BUFFERS_TOTAL_OFFSET } from '../../lib/spec/index.ts';
import { runHca, type HcaRun } from '../helpers/run_hca.ts';
import { closing } from '../helpers/backends.ts';
import { freePort } from '../helpers/free_port.ts';
import { open } from './serving.ts';

const small = 'queuePairs=64&pageTableEntries=4096&memoryKeys=256';

function makeResting(context: Context): QueuePair {
  const completionQueue = context.createCompletionQueue();
  return context.createProtectionDomain().createQueuePair({
    type: 'RC',
    sendCompletionQueue: completionQueue,
    receiveCompletionQueue: completionQueue,
  });
}

/** Opens a function as soon as the server has noticed that it is free. */
async function openWhenFree(device: string): Promise<void> {
  const opened = () => {
    try {
      return open(device);
    } catch {
      return undefined;
    }
  };
  await vi.waitUntil(opened, { timeout: 60_000 });
}

/** Runs `hca serve` while `body` runs, with a separate folder of served boards. */
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

/** Milliseconds: server and clients alternate, which takes many times as long on a busy machine. */
const timeLimit = 400_000;

describe('hca serve', { timeout: timeLimit }, () => {
  it('serves a named board, which hca list shows, until it is interrupted', async () => {
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

  it('serves the other hca commands', async () => {
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
      const { error } = await runHca(['info', '--device', 'serve:board/3']);
      expect(error).toMatch(
        /^hca: board at .*: underlying function 3 is not for clients; open one of 1 to 2\n$/,
      );
    });
    expect(run.json()[0]).toEqual({ served: 'serve:board', functions: [1, 2] });
  });

  it('lets other processes observe and divide the board beside its clients', async () => {
    await whileServed(['lab', '--device', `emu:?${small}&virtualCollectBuffers=64`], async () => {
      const client = open('serve:lab/1');
      const queuePair = makeResting(client);
      const why = async (device: string) =>
        runHca(['why', `${queuePair.number}`, '--json', '--device', device]);
      for (const device of ['serve:lab', 'serve:lab/0', 'serve:lab/1']) {
        const { exitCode, json } = await why(device);
        expect([device, exitCode]).toEqual([device, 0]);
        expect(json()).toMatchObject([{ queuePair: { underlyingFunction: 1, state: 'reset' } }]);
      }
      expect((await why('serve:lab/2')).error).toMatch(/^hca: serve:lab\/2 has no queue pair 0x/);

      const set = await runHca(['resources', 'set', '1.pcbs=9', '--json', '--device', 'serve:lab/0']);
      expect([set.exitCode, set.error]).toEqual([0, '']);
      expect(
        client.driver.device.page.read32(UNDERLYING_FUNCTION_PHYSICAL_COLLECT_BUFFERS_TOTAL_OFFSET + 8),
      ).toBe(9);
      // Function 0 is free again; observers need no function.
      await openWhenFree('serve:lab/0');
      const top = async (device: string) =>
        (
          (await runHca(['top', '--count', '1', '--json', '--device', device])).json() as [
            { functions: object[] },
          ]
        )[0].functions;
      const all = await top('serve:lab');
      expect(all).toHaveLength(9);
      expect(all[1]).toMatchObject({ underlyingFunction: 1, ownPhysicalCollectBuffers: 9, collecting: 0 });
      expect(await top('serve:lab/1')).toMatchObject([
        {
          underlyingFunction: 1,
          ownPhysicalCollectBuffers: 9,
          virtualCollectBuffersInUse: 0,
          levels: [{ executionCredits: 8 }, {}],
        },
      ]);
      expect((await runHca(['top', '--count', '1', '--device', 'serve:lab/1'])).out).toMatch(
        /^1 +- +- +0\/8 +- +- +0\/9 +- +- +- +-\nlevel low: 4 lanes, execution 8\+0, completion 16\+0\nlevel high: /m,
      );
    });
  });

  it('frees the control function when the process that had it open ends', async () => {
    await whileServed(['lab', '--device', `emu:?${small}`], async () => {
      const driver = openDevice('serve:lab/0').driver;
      driver.device.close(); // like a killed process, without cleaning up
      await openWhenFree('serve:lab/0');
    });
  });

  it('connects clients in two processes', async () => {
    await whileServed(['lab', '--device', `emu:?${small}`], async () => {
      const words = [
        'pingpong',
        'rc',
        '-p',
        `${await freePort()}`,
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
        run = await runHca([...words, 'serve:lab/6', 'localhost']); // the other process does not listen yet
      }
      expect(run).toMatchObject({ exitCode: 0, error: '' });
      expect((await other).stdout).toMatch(/^2000000 bytes in /m);
    });
  });

  it.each([
    [['--device', 'pci:0000:01:00.0'], 1, /is not an emulated board.*expected: a device emu:/],
    [['--device', 'emu:?progress=stepped'], 1, /a board with progress stepped cannot be served/],
    [['/nonexistent/x'], 1, /no board is served at \/nonexistent\/x: No such file or directory/],
    [['--memory', '0'], 2, /It must be a whole number from 1/],
  ])('%j fails in one line', async (words, exitCode, message) => {
    const run = await runHca(['serve', ...words]);
    expect(run.exitCode).toBe(exitCode);
    expect(run.error).toMatch(message);
    expect(run.error.trimEnd()).not.toContain('\n');
  });
});
