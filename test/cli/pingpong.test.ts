import { describe, expect, it } from 'vitest';

import { runHca } from '../helpers/run_hca.ts';

const boardOf = (queuePairs: number): string =>
  `emu:?queuePairs=${queuePairs}&pageTableEntries=8192&memoryKeys=256`;
const board = (progress: string): string =>
  `emu:?queuePairs=64&pageTableEntries=8192&memoryKeys=256&progress=${progress}`;

describe('hca pingpong', () => {
  it.each([
    ['rc', ','],
    ['uc', ','],
    ['ud', ':'],
  ])('prints what ibv_%s_pingpong prints', async (service, beforeLocalGid) => {
    const { exitCode, out } = await runHca([
      'pingpong',
      service,
      '-n',
      '50',
      '-s',
      '3000',
      '--device',
      board('shared'),
    ]);
    expect(exitCode).toBe(0);
    const address = (beforeGid: string): string =>
      `LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}${beforeGid} GID fe80::[0-9a-f:]+`;
    expect(out).toMatch(
      new RegExp(
        `^  local address:  ${address(beforeLocalGid)}\n  remote address: ${address(',')}\n` +
          '300000 bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec\n' +
          '50 iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter\n$',
      ),
    );
  });

  it.each([
    ['rc', 'shared', ['-m', '256'], 4096],
    ['rc', 'own', ['-m', '256'], 4096],
    ['uc', 'shared', ['-m', '256'], 4096],
    ['uc', 'own', ['-m', '256'], 4096],
    ['ud', 'shared', [], 2048],
    ['ud', 'own', ['-g', '1'], 2048],
  ])('checks the received data, on events and by polling: %s %s', async (service, progress, more, size) => {
    for (const events of [[], ['--events']]) {
      const words = ['--chk', '--json', '-r', '2', ...more, '-n', '20', '--device', board(progress)];
      const run = await runHca(['pingpong', service, ...events, ...words]);
      expect(run.error).toBe('');
      expect(run.exitCode).toBe(0);
      expect(run.json()).toMatchObject([{ bytes: 2 * size * 20, iterations: 20, local: {}, remote: {} }]);
      const [{ medianMicroseconds }] = run.json() as [{ medianMicroseconds: number }];
      expect(medianMicroseconds).toBeGreaterThan(0);
    }
  });

  it.each([
    [[]],
    [['--events', '-r', '20']],
    [['-q', '1', '-r', '1', '-m', '256']],
    [['-q', '40', '-n', '30']],
  ])('prints what ibv_srq_pingpong prints: %j', async (words) => {
    const queuePairs = Number(words[words.indexOf('-q') + 1] ?? 16) || 16;
    const all = ['pingpong', 'srq', '-n', '200', '--chk', ...words, '--device', boardOf(256)];
    const run = await runHca(all);
    expect([run.error, run.exitCode]).toEqual(['', 0]);
    const address = (end: string): string =>
      ` {2}${end} LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID fe80::[0-9a-f:]+\n`;
    expect(run.out).toMatch(
      new RegExp(
        `^(${address('local address: ')}){${queuePairs}}(${address('remote address:')}){${queuePairs}}` +
          '\\d+ bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec\n' +
          '\\d+ iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter\n$',
      ),
    );
    const json = await runHca([...all, '--json']);
    const [result] = json.json() as [{ local: unknown[]; remote: unknown[] }];
    expect([result.local.length, result.remote.length]).toEqual([queuePairs, queuePairs]);
  });

  it.each([
    [
      ['xrc'],
      "hca: command-argument value 'xrc' is invalid for argument 'service'. Allowed choices are rc, uc, ud, srq, rping.\n",
    ],
    [['ud', '-s', '4097'], 'Its size must be 1 to 4096.'],
    [['ud', '-m', '1024'], 'a datagram is one packet'],
    [['rc', '--mtu', '1000'], 'It must be 256, 512, 1024, 2048, 4096.'],
    [['rc', '-s', '0'], 'It must be 1 to 1073741824.'],
    [['rc', '-r', '0'], 'It must be 1 to 16384.'],
    [['rc', '-q', '2'], 'applies to srq only: rc uses one queue pair'],
    [['srq', '-q', '257'], 'It must be 1 to 256.'],
    [['srq', '-r', '15'], 'Option --rx-depth must be 16 or more.'],
    [['rping', '--events'], "option '-e, --events' does not apply to rping, which polls"],
  ])('names the error and its remedy: %j', async (words, message) => {
    const { exitCode, error } = await runHca(['pingpong', ...words]);
    expect(exitCode).toBe(2);
    expect(error).toContain(message);
  });

  it.each(['shared', 'own'])(
    "uses rping's pattern, and compares the data read and written, progress %s",
    async (progress) => {
      const words = ['pingpong', 'rping', '-n', '30', '-s', '3000', '--chk', '--device', board(progress)];
      const run = await runHca([...words, '--json']);
      expect([run.error, run.exitCode]).toEqual(['', 0]);
      expect(run.json()[0]).toMatchObject({ iterations: 30, bytes: 2 * 30 * 3000 });
      const { out } = await runHca(words);
      expect(out).toMatch(/^ {2}local address: [^]*remote address: [^]*\n\d+ bytes in [^]*\n30 iters in /);
    },
  );

  it('reports a port or GID that does not exist', async () => {
    for (const words of [
      ['-i', '3'],
      ['-g', '200'],
    ]) {
      const { exitCode, error } = await runHca(['pingpong', 'rc', ...words, '--device', board('shared')]);
      expect(exitCode).toBe(1);
      expect(error).toMatch(/port|index|GID/);
    }
  });
});
