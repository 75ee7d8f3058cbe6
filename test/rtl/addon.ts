import { execFileSync } from 'node:child_process';

import { root } from './blocks.ts';

/** Where an addon whose boards have blocks in RTL is built. */
export const addonFile = (target: string): string => `${root}build/Release/${target}.node`;

/** Builds an addon whose boards have blocks in RTL. */
export function buildAddon(target: string): void {
  const script = `import { buildAddons } from '${root}scripts/build_addons.mjs'; buildAddons(() => {}, '${target}');`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, stdio: 'pipe' });
}
