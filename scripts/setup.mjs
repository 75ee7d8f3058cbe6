// Makes a clone ready: packages, both addons, dist/. Says what it does; does nothing when nothing changed. Plain JavaScript:
// it runs before anything is installed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { fingerprint } from './fingerprint.mjs';

const stampFile = 'build/setup.json';

process.chdir(path.join(import.meta.dirname, '..'));
const stamps = readStamps();
step('packages', ['package-lock.json'], 'node_modules', () => {
  say('installing packages (npm ci)');
  run('npm', ['ci', '--no-audit', '--no-fund']);
});
step(
  'addons',
  ['native', 'binding.gyp', 'CMakeLists.txt', 'package-lock.json'],
  'build/Release/fpga_verbs.node',
  buildAddons,
);
step('dist', ['lib', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'], 'dist/lib', () => {
  say('compiling lib/ to dist/');
  rmSync('dist', { recursive: true, force: true });
  runTool('typescript', 'tsc', ['-p', 'tsconfig.build.json']);
});

function buildAddons() {
  needCompiler();
  if (answers('cmake')) {
    say('building the addons (cmake-js)');
    runTool('cmake-js', 'cmake-js', ['compile', '--out', 'build', '--parallel', '2']);
    return;
  }
  if (!answers('python3')) missing('CMake or python3', 'cmake');
  // Node's own headers lie beside a Node that was installed whole.
  const prefix = path.join(path.dirname(process.execPath), '..');
  const own = existsSync(path.join(prefix, 'include/node/node_api.h'));
  say(
    `building the addons (node-gyp: there is no CMake)${own ? '' : '; headers of Node will be downloaded'}`,
  );
  run(process.execPath, [
    nodeGyp(),
    'rebuild',
    '-j',
    '2',
    '--silent',
    ...(own ? [`--nodedir=${prefix}`] : []),
  ]);
}

function needCompiler() {
  if (!answers(process.env.CXX ?? 'c++') && !answers('g++')) missing('a C++ compiler', 'g++');
  if (!answers('make') && !answers('ninja')) missing('make', 'make');
}

/** node-gyp comes with npm. */
function nodeGyp() {
  const root = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim();
  return path.join(root, 'npm/node_modules/node-gyp/bin/node-gyp.js');
}

function answers(tool) {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function missing(what, debianPackage) {
  console.error(`setup: ${what} is missing; on Debian: apt-get install ${debianPackage}`);
  process.exit(1);
}

/** Does what one of its inputs has changed for since it was done, or whose output is not there. */
function step(name, inputs, output, work) {
  const now = fingerprint(inputs);
  if (stamps[name] === now && existsSync(output)) return;
  work();
  stamps[name] = now;
  mkdirSync('build', { recursive: true });
  writeFileSync(stampFile, JSON.stringify(stamps));
}

function readStamps() {
  return existsSync(stampFile) ? JSON.parse(readFileSync(stampFile, 'utf8')) : {};
}

function say(text) {
  console.log(`setup: ${text}`);
}

function run(command, args) {
  try {
    execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch {
    console.error(`setup: ${path.basename(command)} failed, see above`);
    process.exit(1);
  }
}

/** Runs the program of an installed package. */
function runTool(packageName, program, args) {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`${packageName}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  run(process.execPath, [
    path.join(path.dirname(manifest), typeof bin === 'string' ? bin : bin[program]),
    ...args,
  ]);
}
