// The symbols of the library: those that the system's libibverbs exports, and those that rdma-core has added since.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { requireFile, requireTool, toolEnvironment } from '../helpers/tools.ts';
import { compiled } from './compiled_program.ts';
import { ownFabric, startProgram } from '../helpers/verbs_program.ts';

const own = fileURLToPath(new URL('../../build/Release/verbs/libibverbs.so.1', import.meta.url));
const folders = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64'];

/** `name@VERSION` of each symbol that a library exports, with the default versions for linking. */
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

/** Releases of rdma-core that introduced another private node for the interface of providers. */
const privateNodes = ['34', '57', '59', '64', '65'];

test.for(privateNodes)('providers of rdma-core %s find their private node', async (node, context) => {
  requireTool('g++', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  // Linked with this library before the system's library, which lacks the later nodes.
  const words = [`-DNODE=${node}`, '-Wl,--no-as-needed,-z,now', own];
  const program = compiled('gcc', 'private_nodes.c', words);
  const { exitCode, out, error } = await startProgram(ownFabric('linkLayer=ethernet'), [program]).ended;
  expect({ exitCode, out, error }).toEqual({ exitCode: 0, out: 'ok\n', error: '' });
});

test('all private nodes have the same symbols', (context) => {
  requireTool('nm', context);
  const listed = execFileSync('nm', ['-D', '--defined-only', own], {
    encoding: 'utf8',
    env: toolEnvironment(),
  });
  const namesOf = (node: string): string[] =>
    [...listed.matchAll(new RegExp(`(\\w+)@{1,2}IBVERBS_PRIVATE_${node}$`, 'gm'))]
      .map(([, name]) => name!)
      .filter((name) => name !== `IBVERBS_PRIVATE_${node}` && !name.startsWith('verbs_register_driver_'))
      .sort();
  expect(namesOf('34').length).toBeGreaterThan(90);
  for (const node of privateNodes) expect(namesOf(node), node).toEqual(namesOf('34'));
});
