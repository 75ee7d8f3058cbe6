// libibverbs programs on PCI functions of a virtual machine: their memory is pinned and the device reaches
// it, through VFIO and an IOMMU, or without one.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, type TestContext } from 'vitest';

import { EmulatedBoard, EmulatedFabric } from '../../lib/board/index.ts';
import { requireFile, requireTool, toolEnvironment } from '../helpers/tools.ts';
import { guestTests, hostFolder, requireGuest } from './guest.ts';
import { inThisProcess, runHcaGuest, slots } from './hca_machine.ts';

/** Seconds; a run takes one minute on an idle machine. */
const timeLimit = 600;

/** The result of a program in the guest. */
interface ProgramRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Compiles a program of test/libibverbs/programs into the folder that the guest sees. */
function compile(host: string, name: string): void {
  const source = fileURLToPath(new URL(`../libibverbs/programs/${name}.c`, import.meta.url));
  const words = ['-DPOSTS=20', '-o', path.join(host, name), source, '-libverbs', '-lpthread'];
  expect(spawnSync('gcc', words, { env: toolEnvironment() }).status).toBe(0);
}

/** Runs command lines in the guest, in turn, on the functions of boards. */
async function runPrograms(
  context: TestContext,
  host: string,
  boards: readonly EmulatedBoard[],
  backend: 'pci' | 'vfio',
  lines: readonly string[],
): Promise<ProgramRun[]> {
  requireTool('g++', context);
  for (const tool of ['ibv_rc_pingpong', 'ib_send_lat']) requireTool(tool, context);
  requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
  const emulator = requireGuest(context);
  const devices = boards.map((_, place) => `${backend}:${slots[place]}`).join(',');
  const words = lines.map((line) => `'${line}'`).join(' ');
  const run = await runHcaGuest(emulator, host, {
    script: `ip link set lo up; ulimit -l 131072; node test/guest/verbs_programs.mjs ${devices} ${words}`,
    functions: inThisProcess(boards),
    megabytes: 512,
    iommu: backend === 'vfio',
    ...(backend === 'pci' && { kernel: 'hugepages=56' }),
    seconds: timeLimit,
  });
  expect(run.status, run.console).toBe(0);
  return JSON.parse(readFileSync(path.join(host, 'result.json'), 'utf8')) as ProgramRun[];
}

const sizes = { queuePairs: 1100, pageTableEntries: 4096, linkLayer: 'infiniband' } as const;

it('ibv_devinfo and a C program run through vfio:', guestTests(timeLimit), async (context) => {
  const host = hostFolder();
  compile(host, 'checks');
  using board = new EmulatedBoard(sizes);
  const runs = await runPrograms(context, host, [board], 'vfio', ['ibv_devinfo', '/host/checks']);
  const [described, checked] = runs as [ProgramRun, ProgramRun];
  expect(described).toMatchObject({ status: 0, stderr: '' });
  expect(described.stdout).toMatch(/vendor_id:\s+0x1234\n\s+vendor_part_id:\s+18518\n/);
  expect(checked.stdout + checked.stderr).toMatch(/^ok a device\n[^]*^ok RDMA READ\n[^]*^ok all\n/m);
  expect(checked.status).toBe(0);
  expect(board.counters().dmaFaults).toBe(0);
});

it('C programs run through pci:, without an IOMMU', guestTests(timeLimit), async (context) => {
  const host = hostFolder();
  compile(host, 'checks');
  compile(host, 'pinned_memory');
  using fabric = new EmulatedFabric();
  const boards = [fabric.makeBoard(sizes), fabric.makeBoard(sizes)];
  const runs = await runPrograms(context, host, boards, 'pci', [
    'ibv_devinfo',
    '/host/checks',
    '/host/pinned_memory /host/pinned_memory',
    'ibv_rc_pingpong -n 50 -c | ibv_rc_pingpong -n 50 -c',
    'ibv_rc_pingpong -n 20 -e | ibv_rc_pingpong -n 20 -e',
    'ib_send_lat -n 20 | ib_send_lat -n 20',
    'ib_write_bw -n 20 | ib_write_bw -n 20',
  ]);
  const [described, checked, pinned, ...ends] = runs as [ProgramRun, ProgramRun, ProgramRun, ...ProgramRun[]];
  expect(described).toMatchObject({ status: 0, stderr: '' });
  expect(described.stdout).toMatch(/vendor_id:\s+0x1234\n\s+vendor_part_id:\s+18518\n/);
  expect(checked.stdout + checked.stderr).toMatch(/^ok a device\n[^]*^ok RDMA READ\n[^]*^ok all\n/m);
  expect(checked.status).toBe(0);
  expect(pinned.stdout + pinned.stderr).toMatch(/^ok pages stay where they are\n[^]*^ok all\n/m);
  expect(pinned.stderr).toContain('memory that the program shares with a file cannot be pinned');
  expect(pinned.stderr).toMatch(/memory of code \(.*pinned_memory\) cannot be pinned/);
  expect(pinned.status).toBe(0);
  for (const end of ends) expect(end, end.stdout + end.stderr).toMatchObject({ status: 0 });
  for (const board of boards) expect(board.counters().dmaFaults).toBe(0);
});
