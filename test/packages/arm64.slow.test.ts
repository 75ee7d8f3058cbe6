import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, it, onTestFinished, type TestContext } from 'vitest';

import { freeNetwork, freePort } from '../helpers/free_port.ts';
import { HcaProcess, untilListening } from '../helpers/hca_process.ts';
import { requireFile, requireTool } from '../helpers/tools.ts';
import { pack, packageTools, packed, root } from './packed.ts';

const compiler = 'aarch64-linux-gnu-g++';
const emulator = 'qemu-aarch64-static';
/** The folder in which Debian's cross compiler keeps the libraries of arm64. */
const libraries = '/usr/aarch64-linux-gnu';
const isThere = [compiler, emulator].every((tool) => existsSync(`/usr/bin/${tool}`));
let node: string;

// The compiler takes minutes on a machine that has not built before.
beforeAll(() => {
  if (!isThere) return;
  pack('arm64');
  node = path.join(packageTools(), 'node-arm64/bin/node');
}, 1_800_000);

/** Runs a program of this clone with a Node for arm64 and the binaries of its package. */
function onArm64(context: TestContext, ...words: readonly string[]): string {
  for (const tool of [compiler, emulator]) requireTool(tool, context);
  return emulated([node, ...words], {
    FPGA_VERBS_ADDON: path.join(packed.binariesOf('arm64'), 'fpga_verbs.node'),
  });
}

it('a verbs program runs on arm64 with the binaries of its package', (context) => {
  expect(onArm64(context, 'dist/examples/hello-verbs.js')).toMatch(/Hello, verbs!\n$/);
});

it('hca selftest passes there', (context) => {
  const said = onArm64(context, 'dist/lib/cli/main.js', 'selftest', '--json');
  expect(JSON.parse(said)).toMatchObject({ passed: true });
});

it('a board there and one of this machine exchange packets', async (context) => {
  const [port, network] = [await freePort(), await freeNetwork()];
  const device = (end: number): string => `emu:?link=udp:${network}${end}`;
  const common = ['pingpong', 'rc', '-n', '20', '-s', '300', '--chk', '-p', `${port}`];
  const here = new HcaProcess([...common, '--device', device(1), '--listen']);
  await untilListening(port);
  expect(onArm64(context, 'dist/lib/cli/main.js', ...common, '--device', device(2), 'localhost')).toMatch(
    /^20 iters in/m,
  );
  expect(await here.ended).toMatchObject({ exitCode: 0, error: '' });
});

it('a C program runs there with the library of that package', (context) => {
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  requireTool(compiler, context);
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-arm64-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const verbs = path.join(packed.binariesOf('arm64'), 'verbs');
  const program = path.join(folder, 'checks');
  const source = path.join(root, 'test/libibverbs/programs/checks.c');
  // The headers are those of this machine, because they are the same for every processor.
  const words = ['-x', 'c', source, '-idirafter', '/usr/include', '-o', program, '-pthread', `-L${verbs}`];
  execFileSync(compiler, [...words, '-l:libibverbs.so.1', '-Wl,--allow-shlib-undefined']);
  const said = emulated(['-E', `LD_LIBRARY_PATH=${verbs}`, program], {
    FPGA_VERBS_DEVICE: 'emu:?linkLayer=infiniband',
  });
  expect(said).toMatch(/\nok all\n$/);
});

function emulated(words: readonly string[], more: NodeJS.ProcessEnv): string {
  const all = ['-L', libraries, ...words];
  return execFileSync(emulator, all, { cwd: root, env: { ...process.env, ...more }, encoding: 'utf8' });
}
