import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { describe, expect, it, type TestContext } from 'vitest';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { hostFolder, requireGuest } from './guest.ts';
import { inThisProcess, runHcaGuest, slots } from './hca_machine.ts';
import { filesOf, summaryOf, type SuiteSummary } from './suite.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const isWhole = process.env['FPGA_VERBS_GUEST_SUITE'] === 'all';
/** Seconds for a run that takes less than a minute on a machine of its own, and, of all files, less than ten. */
const patience = isWhole ? 3000 : 600;

/** Runs the tests of backends on two boards of one fabric in the guest's slots. */
async function results(context: TestContext): Promise<SuiteSummary> {
  const emulator = requireGuest(context);
  const host = hostFolder();
  const bundle = { input: filesOf(root, isWhole), external: ['vitest', 'fast-check'] };
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    build: {
      ssr: true,
      outDir: 'build/guest_suite',
      emptyOutDir: true,
      rolldownOptions: { ...bundle, output: { entryFileNames: '[name].mjs' } },
    },
  });
  const sizes = { fabric: 'guest-suite', queuePairs: 256, pageTableEntries: 4096, memoryKeys: 256 };
  using first = new EmulatedBoard(sizes);
  using second = new EmulatedBoard(sizes);
  const run = await runHcaGuest(emulator, host, {
    script: `sh test/guest/suite.sh ${slots.join(' ')}`,
    functions: inThisProcess([first, second]),
    megabytes: 1024,
    iommu: true,
    seconds: patience,
  });
  let report = '';
  try {
    report = readFileSync(path.join(host, 'report.json'), 'utf8');
  } catch {
    throw new Error(`the tests in the guest gave no report (status ${run.status}):\n${run.console}`);
  }
  const summary = summaryOf(report);
  writeFileSync(path.join(root, 'build/guest_suite_vfio.json'), JSON.stringify(summary, null, 2));
  return summary;
}

describe('the tests of driver and verbs in a virtual machine', { timeout: (patience + 60) * 1000 }, () => {
  it('pass on vfio:', async (context) => {
    const { passed, failed } = await results(context);
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(0);
  });
});
