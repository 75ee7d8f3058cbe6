import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { dependencies, manifestOf, pack, packed, root } from './packed.ts';

const project = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-package-'));
const installed = path.join(project, 'node_modules/fpga-verbs');
let files: string[] = [];

const run = (program: string, words: readonly string[], cwd = project): string =>
  execFileSync(program, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** The packages in an empty project, as npm installs them. */
beforeAll(() => {
  pack();
  for (const folder of [packed.main, packed.binaries])
    cpSync(folder, path.join(project, 'node_modules', path.basename(folder)), { recursive: true });
  files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  for (const folder of dependencies())
    symlinkSync(folder, path.join(project, 'node_modules', path.basename(folder)));
}, 300_000);

afterAll(() => rmSync(project, { recursive: true }));

it('contains only the files to build and use it', () => {
  const { variables } = JSON.parse(readFileSync(path.join(root, 'binding.gyp'), 'utf8')) as {
    variables: Readonly<
      Record<'library_sources' | 'addon_sources' | 'libibverbs_sources', readonly string[]>
    >;
  };
  const toBuild = ['binding.gyp', 'CMakeLists.txt', 'native/CMakeLists.txt', 'native/addon/module.cpp'];
  const others = ['scripts/build_addons.mjs', 'README.md', 'LICENSE', 'CHANGELOG.md'];
  const { library_sources: library, addon_sources: addon, libibverbs_sources: libibverbs } = variables;
  const needed = [
    ...toBuild,
    ...others,
    'native/libibverbs/version.map',
    ...library,
    ...addon,
    ...libibverbs,
  ];
  expect(files).toEqual(expect.arrayContaining(needed));
  expect(files.filter((name) => /^(test|native\/test|fpga|lib|dist\/examples|build)\//.test(name))).toEqual(
    [],
  );
});

it('has no install scripts', () => {
  expect(manifestOf(packed.main)).not.toHaveProperty('scripts');
  expect(manifestOf(packed.binaries)).not.toHaveProperty('scripts');
});

it('names a package of binaries for each processor, of its own version', () => {
  const { version, optionalDependencies } = manifestOf(packed.main);
  expect(optionalDependencies).toEqual({
    'fpga-verbs-linux-x64': version,
    'fpga-verbs-linux-arm64': version,
  });
  expect(manifestOf(packed.binaries)).toMatchObject({
    name: `fpga-verbs-linux-${process.arch}`,
    version,
    os: ['linux'],
    cpu: [process.arch],
    libc: ['glibc'],
  });
});

it('has no link to a missing file', () => {
  const documents = files.filter((name) => name.endsWith('.md'));
  const missing = documents.flatMap((name) => {
    const links = readFileSync(path.join(installed, name), 'utf8').matchAll(/\]\((?![a-z]+:)([^)#\s]+)/g);
    return [...links]
      .map(([, target]) => path.join(path.dirname(name), target!))
      .filter((target) => !existsSync(path.join(installed, target)));
  });
  expect(documents).toContain('README.md');
  expect(missing).toEqual([]);
});

it('publint finds nothing wrong with it', () => {
  const said = run(process.execPath, [
    path.join(root, 'node_modules/publint/src/cli.js'),
    'run',
    packed.main,
  ]);
  expect(said).toMatch(/All good/);
});

const program = `
import { openDevice, VerbsError, type Context } from 'fpga-verbs';
import { EmulatedBoard } from 'fpga-verbs/board';
import { Connection } from 'fpga-verbs/connect';
import { completionStatusNames } from 'fpga-verbs/spec';
import { watchBoard, type BoardPage } from 'fpga-verbs/watch';

const board = new EmulatedBoard();
const page: BoardPage = await watchBoard(board);
const { status } = await fetch(page.address);
await page.close();
const device: Context = openDevice(board.open());
const connection = new Connection(device);
connection.connect(connection.address);
const memory = connection.allocate(8);
const before: bigint = await connection.fetchAndAdd(memory.remote(), 7n);
console.log(before, memory.bytes[0], completionStatusNames[0], VerbsError.name, status);
device[Symbol.dispose]();
`;

it('every entry can be imported, with types, and works', () => {
  const source = path.join(project, 'main.ts');
  writeFileSync(path.join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(source, program);
  const types = ['--typeRoots', path.join(root, 'node_modules/@types'), '--types', 'node'];
  const options = [
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--lib',
    'es2023,esnext.disposable',
  ];
  run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), ...options, ...types, source]);
  expect(run(process.execPath, ['main.js'])).toBe('0n 7 success VerbsError 200\n');
});

it('hca runs', () => {
  expect(run(process.execPath, [path.join(installed, manifestOf(installed).bin.hca), 'list'])).toMatch(
    /^emu: /m,
  );
});
