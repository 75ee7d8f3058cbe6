// The symbols of the library: those that the system's libibverbs exports, and those that rdma-core has added since.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { requireFile, requireTool, toolEnvironment } from '../helpers/tools.ts';
import { compiled } from './compiled_program.ts';
import { ownFabric, startProgram } from './verbs_program.ts';

const own = fileURLToPath(new URL('../../build/Release/verbs/libibverbs.so.1', import.meta.url));
const folders = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64'];

/** `name@VERSION` of what a library exports, the versions that programs are linked with now. */
function symbolsOf(library: string): string[] {
  const listed = execFileSync('nm', ['-D', '--defined-only', library], {
    encoding: 'utf8',
    env: toolEnvironment(),
  });
  return [...listed.matchAll(/^\w+ \w (\w+)@@(\w[\w.]*)$/gm)]
    .filter(([, name, version]) => name !== version)
    .map(([, name, version]) => `${name!}@${version!}`)
    .sort();
}

test("the system's libibverbs exports nothing that the library does not", (context) => {
  requireTool('nm', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const system = folders.map((folder) => `${folder}/libibverbs.so.1`).find((file) => existsSync(file));
  const theirs = symbolsOf(system!);
  expect(theirs.length).toBeGreaterThan(120);
  expect(theirs).toContain('ibv_query_qp_data_in_order@IBVERBS_1.14');
  const ours = new Set(symbolsOf(own));
  expect(theirs.filter((symbol) => !ours.has(symbol))).toEqual([]);
});

test('verbs of later versions, IBVERBS_1.15 to 1.18', async (context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const program = compiled('gcc', 'newer_verbs.c', ['-ldl']);
  const { exitCode, out } = await startProgram(ownFabric(), [program]).ended;
  const names = [
    'registration by a structure',
    'buffers of the library',
    'the speed of a port',
    'refusals, with the errors that libibverbs documents',
    'all',
  ];
  expect(out.trim().split('\n')).toEqual(names.map((name) => `ok ${name}`));
  expect(exitCode).toBe(0);
});
