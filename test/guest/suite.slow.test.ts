import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { describe, expect, it, type TestContext } from 'vitest';

import { ChosenBoards } from './chosen_boards.ts';
import { guestTests, hostFolder, requireGuest } from './guest.ts';
import { runHcaGuest } from './hca_machine.ts';
import { filesOf, summaryOf, type SuiteBackend, type SuiteSummary } from './suite.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const isWhole = process.env['FPGA_VERBS_GUEST_SUITE'] === 'all';
/** Seconds; on an idle machine a run takes less than a minute, one of all files less than ten. */
const timeLimit = isWhole ? 3000 : 600;

/** `npm run test:guest` runs both backends; CI has time for one. */
const backends: readonly SuiteBackend[] = isWhole ? ['pci', 'vfio'] : ['vfio'];

/** Runs the tests of backends on the boards in the guest, configured as each test needs them. */
async function results(context: TestContext, backend: SuiteBackend): Promise<SuiteSummary> {
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
  const boards = new ChosenBoards(host, { queuePairs: 256, pageTableEntries: 4096, memoryKeys: 256 });
  const run = await runHcaGuest(emulator, host, {
    script: `sh test/guest/suite.sh ${backend} ${ChosenBoards.line} ${ChosenBoards.boards.map((board) => board.join('+')).join(' ')}`,
    functions: boards.functions,
    machine: boards.machine,
    megabytes: 1024,
    ...(backend === 'vfio' ? { iommu: true } : { iommu: false, kernel: 'hugepages=160' }),
    seconds: timeLimit,
  });
  let report = '';
  try {
    report = readFileSync(path.join(host, 'report.json'), 'utf8');
  } catch {
    throw new Error(`the tests in the guest gave no report (status ${run.status}):\n${run.console}`);
  }
  const bundled = readdirSync(path.join(root, 'build/guest_suite')).filter((name) =>
    name.endsWith('.test.mjs'),
  );
  const summary = summaryOf(report, bundled);
  writeFileSync(path.join(root, `build/guest_suite_${backend}.json`), JSON.stringify(summary, null, 2));
  return summary;
}

describe('the driver and verbs tests in a virtual machine', guestTests(timeLimit), () => {
  it.for(backends)('pass on %s:', async (backend, context) => {
    const { passed, failed, leftOut } = await results(context, backend);
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(0);
    if (backend === 'vfio') expect(leftOut).toEqual({});
  });
});
