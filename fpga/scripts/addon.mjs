// Builds the addon of `rtl:` boards, with Verilated blocks, and the libibverbs.so.1 that opens such boards: node fpga/scripts/addon.mjs
// [--test]. With --test it then runs tests of driver, verbs, functions and commands on such boards.
import path from 'node:path';

import { buildAddons, runTool } from '../../scripts/build_addons.mjs';

/** Tests that need only the sizes of the RTL, by folder. */
const tests = {
  driver: ['post', 'kicks', 'torn', 'refusals', 'scoreboard', 'memory_region'],
  verbs: ['opcodes', 'objects'],
  functions: ['waiting_for_room', 'reach_registers', 'reach_commands', 'credits'],
  cli: ['selftest'],
  examples: ['examples'],
};

process.chdir(path.join(import.meta.dirname, '../..'));
for (const target of ['fpga_verbs_rtl', 'ibverbs_rtl'])
  buildAddons((text) => console.log(`rtl: ${text}`), target);
if (process.argv.includes('--test')) {
  process.env.FPGA_VERBS_ADDON = path.resolve('build/Release/fpga_verbs_rtl.node');
  const files = Object.entries(tests).flatMap(([folder, names]) =>
    names.map((name) => `test/${folder}/${name}.test.ts`),
  );
  runTool('vitest', 'vitest', ['run', ...files]);
}
