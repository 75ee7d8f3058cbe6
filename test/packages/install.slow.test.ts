import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { until } from '../helpers/hca_process.ts';
import { openRegistry, type Registry } from './registry.ts';
import { dependencies, manifestOf, pack, packageTools, packed } from './packed.ts';

/** A user's machine: a home, and only Node and a shell on its path. No compiler. */
const home = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-install-'));
const programs = path.join(home, 'bin');
let registry: Registry;
let tools: string;

beforeAll(async () => {
  pack();
  tools = packageTools();
  registry = await openRegistry([...dependencies(), packed.main, packed.binaries, otherProcessor()]);
  mkdirSync(programs);
  symlinkSync(process.execPath, path.join(programs, 'node'));
  for (const program of ['sh', 'ls']) symlinkSync(`/bin/${program}`, path.join(programs, program));
}, 300_000);

afterAll(() => {
  registry.close();
  rmSync(home, { recursive: true });
}, 300_000);

/** Like vitest's, which has any type. */
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** A package of binaries that is not for this machine. */
function otherProcessor(): string {
  const folder = path.join(home, 'other');
  const manifest = manifestOf(packed.binaries);
  const cpu = process.arch === 'x64' ? 'arm64' : 'x64';
  mkdirSync(folder);
  const other = { ...manifest, name: `fpga-verbs-linux-${cpu}`, cpu: [cpu] };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(other));
  return folder;
}

const environment = (): NodeJS.ProcessEnv => ({
  PATH: programs,
  HOME: home,
  XDG_RUNTIME_DIR: home,
  npm_config_registry: registry.address,
  npm_config_audit: 'false',
  npm_config_update_notifier: 'false',
});

interface Run {
  readonly status: number;
  readonly out: string;
  readonly error: string;
}

/** Starts a Node program asynchronously, because this process serves the registry. */
function start(
  cwd: string,
  words: readonly string[],
  env = environment(),
): { kill(): void; ended: Promise<Run> } {
  const child = spawn(process.execPath, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number]>;
  const ended = Promise.all([text(child.stdout), text(child.stderr), closed]).then(
    ([out, error, [status]]) => ({
      status,
      out,
      error,
    }),
  );
  return { kill: () => child.kill('SIGTERM'), ended };
}

describe.each(['npm-10', 'npm-11', 'npm-12'])('%s on a machine without a compiler', (version) => {
  const project = path.join(home, version);
  const modules = path.join(project, 'node_modules');
  const npm = (...words: string[]): Promise<Run> =>
    start(project, [path.join(tools, version, 'bin/npm-cli.js'), ...words]).ended;

  it('installs the package, and only the binaries for this processor', async () => {
    mkdirSync(project);
    writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
    expect(await npm('install', 'fpga-verbs')).toMatchObject({ status: 0 });
    expect(readdirSync(modules).filter((name) => name.startsWith('fpga-verbs'))).toEqual([
      'fpga-verbs',
      `fpga-verbs-linux-${process.arch}`,
    ]);
    // Nothing was built, and no install script waits for permission.
    expect(existsSync(path.join(modules, 'fpga-verbs/build'))).toBe(false);
    expect(readFileSync(path.join(modules, 'fpga-verbs/package.json'), 'utf8')).not.toContain('"scripts"');
  });

  it('npx hca demo runs', async () => {
    const { status, out } = await npm('exec', '--', 'hca', 'demo');
    expect(out).toMatch(/atomic fetch and add .* all right/);
    expect(status).toBe(0);
  });

  it('npx hca run finds the library for programs of libibverbs', async () => {
    const { out } = await npm('exec', '--', 'hca', 'run', 'sh', '-c', 'ls $LD_LIBRARY_PATH');
    expect(out).toBe('libfpga_verbs_node.so\nlibibverbs.so.1\n');
  });
});

describe('without matching binaries', () => {
  const project = path.join(home, 'unfit');
  const modules = path.join(project, 'node_modules');
  const hca = (...words: string[]): Promise<Run> =>
    start(project, [path.join(modules, 'fpga-verbs/dist/lib/cli/main.js'), ...words]).ended;
  const binaries = path.join(modules, path.basename(packed.binaries));

  beforeAll(() => {
    for (const folder of [...dependencies(), packed.main, packed.binaries])
      cpSync(folder, path.join(modules, manifestOf(folder).name), { recursive: true });
  });

  it('reports that they have another version', async () => {
    const manifest = path.join(binaries, 'package.json');
    const whole = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, whole.replace(/"version": "[^"]+"/, '"version": "0.0.9"'));
    expect(await hca('info')).toMatchObject({
      status: 1,
      error: matching(/^hca: \S+ is of version 0\.0\.9; expected: \d\S+, the version of fpga-verbs\n$/),
    });
    writeFileSync(manifest, whole);
  });

  it('reports that the addon cannot be loaded, why, and how to build it', async () => {
    const addon = path.join(binaries, 'fpga_verbs.node');
    writeFileSync(addon, 'of another machine');
    expect(await hca('info')).toMatchObject({
      status: 1,
      error: matching(/^hca: the native addon cannot be loaded: .+; expected: npx hca build, .+\n$/),
    });
  });

  it('reports that there are none, and how to build', async () => {
    rmSync(binaries, { recursive: true });
    const error = `hca: ${path.basename(binaries)} is not installed, and nothing was built here; expected: npx hca build, which needs a C++20 compiler, make and CMake\n`;
    expect(await hca('info')).toMatchObject({ status: 1, error });
    expect(await hca('run', 'ls')).toMatchObject({ status: 1, error });
    expect(await hca('--version')).toMatchObject({ status: 0, error: '' });
  });

  it('hca build names the missing tool, and leaves nothing behind', async () => {
    const before = readdirSync(path.join(modules, 'fpga-verbs'));
    expect(await hca('build')).toMatchObject({
      status: 1,
      error: matching(/a C\+\+ compiler is missing; on Debian: apt-get install g\+\+/),
    });
    expect(readdirSync(path.join(modules, 'fpga-verbs'))).toEqual(before);
  });

  it('hca build ends on a signal, and leaves nothing behind', async () => {
    const folder = path.join(modules, 'fpga-verbs');
    const words = [path.join(folder, 'dist/lib/cli/main.js'), 'build'];
    const build = start(project, words, process.env);
    const works = (): string[] => readdirSync(folder).filter((name) => name.startsWith('building-'));
    await until(() => works().some((work) => existsSync(path.join(folder, work, 'build'))), 'a build');
    build.kill();
    expect(await build.ended).toMatchObject({ status: 1, error: 'hca: interrupted\n' });
    expect(works()).toEqual([]);
    expect(existsSync(path.join(folder, 'build'))).toBe(false);
  });

  it('hca build builds the missing binaries, and leaves nothing else', async () => {
    const words = [path.join(modules, 'fpga-verbs/dist/lib/cli/main.js'), 'build', '--json'];
    const { status, out, error } = await start(project, words, process.env).ended;
    expect({ status, error }).toEqual({ status: 0, error: '' });
    const release = path.join(modules, 'fpga-verbs/build/Release');
    const files = ['fpga_verbs.node', 'verbs/libibverbs.so.1', 'verbs/libfpga_verbs_node.so'];
    expect(JSON.parse(out)).toEqual({ files: files.map((file) => path.join(release, file)) });
    expect(
      new Set(readdirSync(path.join(modules, 'fpga-verbs/build'), { recursive: true, encoding: 'utf8' })),
    ).toEqual(new Set(['Release', 'Release/verbs', ...files.map((file) => `Release/${file}`)]));
    expect(
      readdirSync(path.join(modules, 'fpga-verbs')).filter((name) => name.startsWith('building')),
    ).toEqual([]);
    expect(await hca('info')).toMatchObject({ status: 0, out: matching(/emulated board/) });
  }, 3_600_000);
});
