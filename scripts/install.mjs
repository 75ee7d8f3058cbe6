// npm runs this where the package is installed: builds its addon. In a clone set-up does that, which knows what has changed.
import { existsSync } from 'node:fs';
import path from 'node:path';

import { buildAddons } from './build_addons.mjs';

process.chdir(path.join(import.meta.dirname, '..'));
if (!existsSync('scripts/setup.mjs')) {
  buildAddons((text) => console.log(`fpga-verbs: ${text}`), 'fpga_verbs');
}
