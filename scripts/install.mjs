// npm runs this where the package is installed: builds its addon and the library for programs in C. In a clone set-up does that, which knows what has changed.
import { existsSync } from 'node:fs';
import path from 'node:path';

import { buildAddons } from './build_addons.mjs';

process.chdir(path.join(import.meta.dirname, '..'));
if (!existsSync('scripts/setup.mjs')) {
  for (const target of ['fpga_verbs', 'ibverbs', 'device_node'])
    buildAddons((text) => console.log(`fpga-verbs: ${text}`), target);
}
