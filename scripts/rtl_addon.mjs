// Builds the addon of `rtl:` boards, whose blocks that exist in SystemVerilog are Verilated: node scripts/rtl_addon.mjs. It lies
// beside the others, which need no Verilator.
import path from 'node:path';

import { buildAddons } from './build_addons.mjs';

process.chdir(path.join(import.meta.dirname, '..'));
buildAddons((text) => console.log(`rtl: ${text}`), 'fpga_verbs_rtl');
