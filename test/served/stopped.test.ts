import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import { getDeviceList, openDevice } from '../../lib/index.ts';
import { HcaProcess } from '../helpers/hca_process.ts';
import { runHca } from '../helpers/run_hca.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-stopped-'));
  vi.stubEnv('XDG_RUNTIME_DIR', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const socket = (): string => path.join(folder, 'fpga-verbs', 'lab');
const look = (milliseconds: number) => loadAddon().lookAtServed([socket()], milliseconds)[0];

describe('a stopped server', () => {
  let server: HcaProcess;
  beforeEach(async () => {
    server = new HcaProcess(['serve', 'lab', '--device', 'emu:?queuePairs=64&pageTableEntries=8192']);
    await server.hasSaid('can be opened');
    expect(look(60_000)).toMatchObject({ state: 'serving', underlyingFunctions: 8 });
    await server.stop();
  });

  /** Fills the backlog: even closed connections stay there until the server accepts them. */
  const fill = (): void => {
    const mostWaiting = 1000;
    for (let count = 0; look(0)?.state !== 'busy'; count++) expect(count).toBeLessThan(mostWaiting);
  };

  it('is listed as not answering, and as busy when its backlog is full', async () => {
    const listed = async (): Promise<unknown> => {
      const { exitCode, error, out } = await new HcaProcess(['list', '--json']).ended;
      expect([exitCode, error]).toEqual([0, '']);
      return (JSON.parse(out) as { device: string }[]).find(({ device }) => device === 'serve:lab');
    };
    const description = 'board of another process';
    expect(await listed()).toMatchObject({ description, obstacles: ['its server does not answer'] });
    fill();
    expect(await listed()).toMatchObject({
      description,
      obstacles: ['busy: its server accepts no connection'],
    });
    expect((await runHca(['list'])).out).toContain(
      'board of another process; busy: its server accepts no connection\n',
    );
    expect(getDeviceList().map(({ name }) => name)).toContain('serve:lab');
    server.kill('SIGCONT');
    expect(look(60_000)).toMatchObject({ state: 'serving', open: [] });
  });

  it.each([
    ['connection', false],
    ['answer', true],
  ])(
    'does not block the interruption of a process that waits for a %s while opening a function',
    async (_, isAccepted) => {
      if (!isAccepted) fill();
      const process = new HcaProcess(['info', '--device', 'serve:lab/1']);
      await process.isUp();
      process.kill('SIGTERM');
      expect(await process.ended).toMatchObject({ exitCode: 1, error: 'hca: interrupted\n' });
    },
  );

  it.each([
    ['does not answer', true, /the server does not answer; check whether it is stopped/],
    [
      'accepts no connection',
      false,
      /its server is busy: it accepts no connection; check whether it is stopped/,
    ],
  ])('fails the opening of a function after a deadline if it %s', (_, isAccepted, message) => {
    if (!isAccepted) fill();
    expect(() => openDevice('serve:lab/1')).toThrow(message);
    expect(() => openDevice('serve:lab')).toThrow(message);
  });
});

describe('the folder of served boards', () => {
  it.each([
    [
      'is writable by other users',
      'it has mode 0777',
      (place: string): void => (mkdirSync(place), chmodSync(place, 0o777)),
    ],
    ['is a symbolic link', 'it is no folder', (place: string): void => symlinkSync(tmpdir(), place)],
  ])('is refused if it %s', async (_, fault, make) => {
    make(path.join(folder, 'fpga-verbs'));
    const { exitCode, error } = await runHca(['serve', 'lab', '--device', 'emu:?queuePairs=64']);
    expect(error).toBe(
      `hca: the names of served boards lie in ${folder}/fpga-verbs, and ${fault}; ` +
        `expected: a folder of user ${userInfo().uid} with mode 0700; remove it, or name a path\n`,
    );
    expect(exitCode).toBe(1);
  });
});
