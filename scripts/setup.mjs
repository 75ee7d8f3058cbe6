// Makes a clone ready: packages, both addons, dist/. Says what it does; does nothing when nothing changed. Plain JavaScript:
// it runs before anything is installed.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { fingerprint } from './fingerprint.mjs';

process.chdir(path.join(import.meta.dirname, '..'));
step('node_modules', ['package-lock.json'], () => {
  say('installing packages (npm ci)');
  run('npm', ['ci', '--no-audit', '--no-fund']);
});
step('build/Release', ['native', 'binding.gyp', 'CMakeLists.txt', 'package-lock.json'], buildAddons);
step('dist', ['lib', 'examples', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'], () => {
  say('compiling lib/ and examples/ to dist/');
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

/** Makes a directory anew when one of its inputs has changed since it was made. */
function step(output, inputs, make) {
  const stamp = path.join(output, '.setup');
  const now = fingerprint(inputs);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return;
  make();
  writeFileSync(stamp, now);
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
