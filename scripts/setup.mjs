// Prepares a clone (packages, addons, dist/): node scripts/setup.mjs [ADDON], the addon to build; default: all. Prints its steps, and
// does nothing if all is up to date. Plain JavaScript, because it runs before anything is installed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { buildAddons, run } from './build_addons.mjs';
import { fingerprint } from './fingerprint.mjs';

const addon = process.argv[2];
process.chdir(path.join(import.meta.dirname, '..'));
await step('node_modules', ['package-lock.json'], () => {
  say('installing packages (npm ci)');
  run('npm', ['ci', '--no-audit', '--no-fund']);
});
await step(
  'build/Release',
  ['native', 'binding.gyp', 'CMakeLists.txt', 'package-lock.json'],
  () => buildAddons(say, addon),
  addon,
);
await step(
  'dist',
  [
    'lib',
    'examples',
    'test/helpers/pci_proxy',
    'scripts/compile.mjs',
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
  ],
  async () => {
    say('compiling lib/ and examples/ to dist/');
    const { compile } = await import('./compile.mjs');
    await compile();
  },
);

/** Makes a directory, or a part of it, anew when one of its inputs has changed since it was made. */
async function step(output, inputs, make, part) {
  const whole = path.join(output, '.setup');
  const stamp = part === undefined ? whole : `${whole}-${part}`;
  const now = fingerprint(inputs);
  if ([whole, stamp].some((each) => existsSync(each) && readFileSync(each, 'utf8') === now)) return;
  await make();
  writeFileSync(stamp, now);
}

function say(text) {
  console.log(`setup: ${text}`);
}
