import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The addon that exposes ports of the device model's blocks to tests and is never shipped. FPGA_VERBS_TEST_ADDON names
 * another build of it (sanitizers, mutants).
 */
export function testAddonPath(): string {
  const built = fileURLToPath(new URL('../../build/Release/fpga_verbs_test.node', import.meta.url));
  return process.env['FPGA_VERBS_TEST_ADDON'] ?? built;
}

/** Loads it. */
export function loadTestAddon(): unknown {
  return createRequire(import.meta.url)(testAddonPath());
}
