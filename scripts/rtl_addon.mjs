// Builds the addon of `rtl:` boards, whose blocks that exist in SystemVerilog are Verilated: node scripts/rtl_addon.mjs [--test].
// It lies beside the others, which need no Verilator. With --test the tests of driver and opcodes run on it.
import path from 'node:path';

import { buildAddons, runTool } from './build_addons.mjs';

const tests = ['test/driver/post.test.ts', 'test/driver/kicks.test.ts', 'test/verbs/opcodes.test.ts'];

process.chdir(path.join(import.meta.dirname, '..'));
buildAddons((text) => console.log(`rtl: ${text}`), 'fpga_verbs_rtl');
if (process.argv.includes('--test')) {
  process.env.FPGA_VERBS_ADDON = path.resolve('build/Release/fpga_verbs_rtl.node');
  // Scoreboards of the RTL in the addon are masked.
  runTool('vitest', 'vitest', ['run', ...tests, '-t', 'rtl:(?!.*"direct")']);
}
