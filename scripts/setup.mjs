// Makes a fresh clone ready: packages, both addons. Plain JavaScript: it runs before anything is installed.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

const run = (command, args) => execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });

const installed = 'node_modules/.package-lock.json';
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync('package-lock.json').mtimeMs) {
  console.log('setup: npm ci');
  run('npm', ['ci', '--no-audit', '--no-fund']);
}
try {
  execFileSync('cmake', ['--version'], { stdio: 'ignore' });
} catch {
  console.error('setup: cmake is missing; install it with: apt-get install cmake g++ make');
  process.exit(1);
}
if (!existsSync('build/cmake/Makefile')) {
  console.log('setup: configuring the native build');
  run('cmake', ['-S', '.', '-B', 'build/cmake', '-DCMAKE_BUILD_TYPE=Release']);
}
console.log('setup: building the addons');
run('cmake', ['--build', 'build/cmake', '-j2']);
