import { describe, expect, it } from 'vitest';

import { runHca } from './run_hca.ts';

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
  ])('checks what it received, on events and by polling: %s %s', async (service, progress, more, size) => {
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
    [
      ['xrc'],
      "hca: command-argument value 'xrc' is invalid for argument 'service'. Allowed choices are rc, uc, ud.\n",
    ],
    [['ud', '-s', '4097'], 'Its size must be 1 to 4096.'],
    [['ud', '-m', '1024'], 'a datagram is one packet'],
    [['rc', '--mtu', '1000'], 'It must be 256, 512, 1024, 2048, 4096.'],
    [['rc', '-s', '0'], 'It must be 1 to 1073741824.'],
    [['rc', '-r', '0'], 'It must be 1 to 16384.'],
  ])('says what is wrong and what would be right: %j', async (words, message) => {
    const { exitCode, error } = await runHca(['pingpong', ...words]);
    expect(exitCode).toBe(2);
    expect(error).toContain(message);
  });

  it('says that a port or GID is not there', async () => {
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
