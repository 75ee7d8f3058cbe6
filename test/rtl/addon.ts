import { spawnSync } from 'node:child_process';

import { root } from './blocks.ts';

/** The path of a built addon whose boards have blocks in RTL. */
export const addonFile = (target: string): string => `${root}build/Release/${target}.node`;

/** Builds an addon whose boards have blocks in RTL. */
export function buildAddon(target: string): void {
  const script = `import { buildAddons } from '${root}scripts/build_addons.mjs'; buildAddons(() => {}, '${target}');`;
  const { ok, output } = runAlone(['--input-type=module', '-e', script]);
  if (!ok) throw new Error(output);
}

/** Runs a script that builds in build/, one at a time: test files run concurrently, and two builds there would interfere. */
export function runAlone(words: readonly string[]): { ok: boolean; output: string } {
  const options = { cwd: root, encoding: 'utf8' } as const;
  const { stdout, stderr, status } = spawnSync('flock', [root, process.execPath, ...words], options);
  return { ok: status === 0, output: stdout + stderr };
}
