import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The addon that exposes ports of the device model's blocks to tests and is never shipped. FPGA_VERBS_TEST_ADDON names
 * another build of it (sanitizers, mutants).
 */
export function loadTestAddon(): unknown {
  const built = fileURLToPath(new URL('../build/Release/fpga_verbs_test.node', import.meta.url));
  return createRequire(import.meta.url)(process.env['FPGA_VERBS_TEST_ADDON'] ?? built);
}
