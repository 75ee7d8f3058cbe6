// Programs of libibverbs on a PCI function of a virtual machine, through VFIO: any memory of theirs is pinned and reached by the device.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { requireFile, requireTool, toolEnvironment } from '../helpers/tools.ts';
import { guestTests, hostFolder, requireGuest } from './guest.ts';
import { inThisProcess, runHcaGuest, slots } from './hca_machine.ts';

/** Seconds for a run that takes one minute on a machine of its own. */
const timeLimit = 600;

/** The end of a program in the guest. */
interface ProgramRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

it('ibv_devinfo and a C program, through vfio:', guestTests(timeLimit), async (context) => {
  requireTool('g++', context);
  requireTool('ibv_rc_pingpong', context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const emulator = requireGuest(context);
  const host = hostFolder();
  const source = fileURLToPath(new URL('../libibverbs/programs/checks.c', import.meta.url));
  const words = ['-DPOSTS=20', '-o', path.join(host, 'checks'), source, '-libverbs', '-lpthread'];
  expect(spawnSync('gcc', words, { env: toolEnvironment() }).status).toBe(0);
  using board = new EmulatedBoard({ queuePairs: 1100, pageTableEntries: 4096, linkLayer: 'infiniband' });
  const run = await runHcaGuest(emulator, host, {
    script: `ulimit -l 131072; node test/guest/verbs_programs.mjs vfio:${slots[0]} ibv_devinfo /host/checks`,
    functions: inThisProcess([board]),
    megabytes: 512,
    iommu: true,
    seconds: timeLimit,
  });
  expect(run.status, run.console).toBe(0);
  const text = readFileSync(path.join(host, 'result.json'), 'utf8');
  const [described, checked] = JSON.parse(text) as [ProgramRun, ProgramRun];
  expect(described).toMatchObject({ status: 0, stderr: '' });
  expect(described.stdout).toMatch(/vendor_id:\s+0x1234\n\s+vendor_part_id:\s+18518\n/);
  expect(checked.stdout + checked.stderr).toMatch(/^ok a device\n[^]*^ok RDMA READ\n[^]*^ok all\n/m);
  expect(checked.status).toBe(0);
  expect(board.counters().dmaFaults).toBe(0);
});
