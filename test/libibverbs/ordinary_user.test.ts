// `hca run` in a minimal container: an ordinary user, an environment with only PATH, no home, no writable
// folder, no device node.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, type TestContext } from 'vitest';

import { freePort } from '../helpers/free_port.ts';
import { untilListening, type HcaEnd } from '../helpers/hca_process.ts';
import { leaveOut, requireTool, toolEnvironment } from '../helpers/tools.ts';
import { ownFabric } from '../helpers/verbs_program.ts';

const hca = fileURLToPath(new URL('../../dist/lib/cli/main.js', import.meta.url));
const otherUser = 65534;
/** Folders that are normally writable for all users are empty here, and read-only. */
const empty = ['/tmp', '/var/tmp', '/dev/shm', '/run', '/dev/infiniband'];

/** The command prefix that creates a minimal container, in which a program cannot write to a folder. */
function bareContainer(context: TestContext): string[] {
  const isRoot = process.getuid!() === 0;
  const user = isRoot
    ? ['setpriv', `--reuid=${otherUser}`, `--regid=${otherUser}`, '--clear-groups', '--no-new-privs']
    : [];
  const mounts = empty.map((folder) => `{ ! test -d ${folder} || mount -t tmpfs -o ro none ${folder}; }`);
  const script = [...mounts, 'exec "$@"'].join(' && ');
  const namespace = ['unshare', isRoot ? '-m' : '-Urm', 'sh', '-c', script, 'sh'];
  const words = [...namespace, ...user, 'env', '-i', `PATH=${process.env['PATH']}`];
  const tried = spawnSync(
    words[0]!,
    [...words.slice(1), 'sh', '-c', `test -r '${hca}' && ! touch /tmp/tried`],
    {
      encoding: 'utf8',
      env: toolEnvironment(),
    },
  );
  if (tried.status !== 0)
    leaveOut(`no user without rights of his own can be made here: ${tried.stderr}`, context);
  return words;
}

/** Starts `hca` in such a container; it ends with the test at the latest. */
function start(container: readonly string[], words: readonly string[]): Promise<HcaEnd> {
  const [program, ...rest] = [...container, process.execPath, hca, 'run', ...words];
  const child = spawn(program!, rest, { env: toolEnvironment() });
  onTestFinished(() => void child.kill('SIGKILL'));
  const end = { out: '', error: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (end.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (end.error += text));
  return once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, ...end }));
}

test('ibv_devinfo', async (context) => {
  requireTool('ibv_rc_pingpong', context);
  const { exitCode, out, error } = await start(bareContainer(context), ['--', 'ibv_devinfo']);
  expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
  expect(out).toMatch(/hca_id:\s+fpga0\n[^]*state:\s+PORT_ACTIVE/);
});

test('two programs meet', async (context) => {
  requireTool('ibv_rc_pingpong', context);
  const container = bareContainer(context);
  const port = await freePort();
  const words = ['--device', ownFabric(), '--', 'ibv_rc_pingpong', '-c', '-n', '50', '-p', String(port)];
  const server = start(container, words);
  await Promise.race([untilListening(port), server]);
  const client = start(container, [...words, 'localhost']);
  for (const end of await Promise.all([server, client])) {
    expect(end).toMatchObject({ exitCode: 0, error: '' });
    expect(end.out).not.toContain('invalid data');
  }
});
