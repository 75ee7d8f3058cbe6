// Builds the native code into build/Release of the current directory: with CMake if installed, otherwise with the node-gyp of npm.
// node build_addons.mjs TARGET…, as `hca build` calls it. Plain JavaScript: it runs before anything is compiled.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * Builds in the current directory, the root of the package.
 * @param say called with a description of each step
 * @param target the one addon to build; default: all
 */
export function buildAddons(say, target) {
  needTools();
  const only = target === undefined ? '' : ` ${target}`;
  if (answers('cmake')) {
    say(`building the addons${only} (cmake-js)`);
    const targets = target === undefined ? [] : ['--target', target];
    runTool('cmake-js', 'cmake-js', [
      'compile',
      '--out',
      'build',
      '--parallel',
      '2',
      '--log-level',
      'error',
      ...targets,
    ]);
    return;
  }
  // A complete installation of Node includes its headers.
  const prefix = path.join(path.dirname(process.execPath), '..');
  const own = existsSync(path.join(prefix, 'include/node/node_api.h'));
  const headers = own ? '' : '; headers of Node will be downloaded';
  say(`building the addons${only} (node-gyp: there is no CMake)${headers}`);
  const options = ['-j', '2', '--silent', ...(own ? [`--nodedir=${prefix}`] : [])];
  run(process.execPath, [nodeGyp(), 'configure', ...options]);
  run(process.execPath, [nodeGyp(), 'build', ...(target === undefined ? [] : [target]), ...options]);
}

/** Runs the program of an installed package. */
export function runTool(packageName, program, args) {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`${packageName}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  run(process.execPath, [
    path.join(path.dirname(manifest), typeof bin === 'string' ? bin : bin[program]),
    ...args,
  ]);
}

/** Runs a program; ends with an error if the program fails. */
export function run(command, args) {
  try {
    execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch {
    console.error(`setup: ${path.basename(command)} failed, see above`);
    process.exit(1);
  }
}

/** Ends with an error that names all missing tools. */
function needTools() {
  const needed = [
    ['a C++ compiler', 'g++', [process.env.CXX ?? 'c++', 'g++']],
    ['make', 'make', ['make', 'ninja']],
    ['CMake or python3', 'cmake', ['cmake', 'python3']],
  ];
  const missing = needed.filter(([, , tools]) => !tools.some(answers));
  if (missing.length === 0) return;
  for (const [what, debianPackage] of missing)
    console.error(`setup: ${what} is missing; on Debian: apt-get install ${debianPackage}`);
  process.exit(1);
}

/** The node-gyp of npm. */
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

if (process.argv[1] === import.meta.filename)
  for (const target of process.argv.slice(2)) buildAddons(console.log, target);
