import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const project = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-package-'));
const installed = path.join(project, 'node_modules/fpga-verbs');
let packed: string[] = [];
let tarball = '';

const run = (program: string, words: readonly string[], cwd = project): string =>
  execFileSync(program, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** The package in an empty project, of what set-up has built here: neither dist/ nor the addon is built again. */
beforeAll(() => {
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', project], root);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  tarball = path.join(project, `fpga-verbs-${version}.tgz`);
  packed = run('tar', ['-tf', tarball])
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''));
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xf', tarball, '--strip-components=1', '-C', installed]);
  symlinkSync(path.join(root, 'build'), path.join(installed, 'build'));
  symlinkSync(path.join(root, 'node_modules/commander'), path.join(project, 'node_modules/commander'));
}, 120_000);

afterAll(() => rmSync(project, { recursive: true }));

it('holds what it needs to be built and used, and nothing else', () => {
  const { variables } = JSON.parse(readFileSync(path.join(root, 'binding.gyp'), 'utf8')) as {
    variables: Readonly<
      Record<'library_sources' | 'addon_sources' | 'libibverbs_sources', readonly string[]>
    >;
  };
  const files = ['binding.gyp', 'CMakeLists.txt', 'native/CMakeLists.txt', 'native/addon/module.cpp'];
  const others = ['scripts/install.mjs', 'scripts/build_addons.mjs', 'README.md', 'LICENSE'];
  const { library_sources: library, addon_sources: addon, libibverbs_sources: libibverbs } = variables;
  const needed = [...files, ...others, 'native/libibverbs/version.map', ...library, ...addon, ...libibverbs];
  expect(packed).toEqual(expect.arrayContaining(needed));
  expect(
    packed.filter((name) => /^(test|native\/test|fpga|lib|examples|dist\/examples)\//.test(name)),
  ).toEqual([]);
});

it('runs programs of libibverbs with the library that was built', () => {
  const hca = path.join(installed, 'dist/lib/cli/main.js');
  const said = run(process.execPath, [hca, 'run', 'sh', '-c', 'ls $LD_LIBRARY_PATH']);
  expect(said).toBe('libfpga_verbs_node.so\nlibibverbs.so.1\n');
});

it('publint finds nothing wrong with it', () => {
  const said = run(process.execPath, [path.join(root, 'node_modules/publint/src/cli.js'), 'run', tarball]);
  expect(said).toMatch(/All good/);
});

const program = `
import { openDevice, VerbsError, type Context } from 'fpga-verbs';
import { EmulatedBoard } from 'fpga-verbs/board';
import { Connection } from 'fpga-verbs/connect';
import { completionStatusNames } from 'fpga-verbs/spec';

const device: Context = openDevice(new EmulatedBoard().open());
const connection = new Connection(device);
connection.connect(connection.address);
const memory = connection.allocate(8);
const before: bigint = await connection.fetchAndAdd(memory.remote(), 7n);
console.log(before, memory.bytes[0], completionStatusNames[0], VerbsError.name);
device[Symbol.dispose]();
`;

it('every entry is imported, with types, and works', () => {
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
  expect(run(process.execPath, ['main.js'])).toBe('0n 7 success VerbsError\n');
});

it('hca runs', () => {
  const { bin } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as {
    bin: { hca: string };
  };
  expect(run(process.execPath, [path.join(installed, bin.hca), 'list'])).toMatch(/^emu: /m);
});
