import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { CompletionStatus } from '../../lib/index.ts';
import { guestTests, hostFolder, requireGuest } from './guest.ts';
import { inThisProcess, runHcaGuest, slots } from './hca_machine.ts';

/** Seconds; a run takes half a minute on an idle machine. */
const timeLimit = 500;
const [address] = slots;

/** Result of a command of `hca` in the guest. */
interface CommandRun {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
}

interface Results {
  readonly commands: Record<string, CommandRun>;
  /** The result of the program that removes a mapping. */
  readonly unmapped: unknown;
  /** The number of a queue pair of the process that shared function 0, as its observers saw it. */
  readonly shared: unknown;
}

/** Runs the commands on a board in the guest, and expects all to succeed. */
async function results(
  context: TestContext,
  board: EmulatedBoard,
  device: string,
  kernel = '',
): Promise<Results> {
  const emulator = requireGuest(context);
  const host = hostFolder();
  const run = await runHcaGuest(emulator, host, {
    script: `ulimit -l 65536; node test/guest/hca.mjs ${device}`,
    functions: inThisProcess([board]),
    megabytes: 384,
    iommu: device.startsWith('vfio:'),
    kernel,
    seconds: timeLimit,
  });
  expect(run.status, run.console).toBe(0);
  const { unmapped, shared, ...commands } = JSON.parse(
    readFileSync(path.join(host, 'result.json'), 'utf8'),
  ) as Results['commands'] & Pick<Results, 'unmapped' | 'shared'>;
  for (const [name, { exitCode, error }] of Object.entries(commands))
    expect(exitCode, `${name}: ${error}`).toBe(0);
  return { commands, unmapped, shared };
}

const json = ({ commands }: Results, name: string): unknown =>
  JSON.parse(commands[name]!.out.split('\n')[0]!);

/**
 * A process that has function 0 of a PCI device open shares its observation, through registers and management
 * commands.
 */
function expectObservation(given: Results): void {
  const counters = json(given, 'counters') as { underlyingFunction: number }[];
  expect(counters.map(({ underlyingFunction }) => underlyingFunction)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(json(given, 'qps')).toEqual([
    expect.objectContaining({ underlyingFunction: 0, number: given.shared }),
  ]);
  const top = json(given, 'top') as { functions: { underlyingFunction: number }[] };
  expect(top.functions.map(({ underlyingFunction }) => underlyingFunction)).toContain(0);
}

const makeBoard = (): EmulatedBoard =>
  new EmulatedBoard({ queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 });

describe('the HCA as a PCI function of a virtual machine', guestTests(timeLimit), () => {
  it('works through pci:, without an IOMMU', async (context) => {
    using board = makeBoard();
    const device = `pci:${address}`;
    const given = await results(context, board, device, 'hugepages=24');
    expect(json(given, 'list')).toContainEqual(
      expect.objectContaining({ device, description: 'emulated_board (1234:4856 1234:4856)', obstacles: [] }),
    );
    // The kernel's write-combining mapping, found through the region table.
    expect(json(given, 'info')).toMatchObject({
      identity: { boardName: 'fpga-verbs emulated board' },
      board: { backend: 'pci', mapping: 'write_combining', storeBytes: 64, interruptVectors: 0 },
    });
    expect(given.commands['selftest']!.out).toContain('loop');
    expect(json(given, 'doorbell')).toMatchObject({ measurements: [{ payloadBytes: 64 }] });
    expect(given.commands['kicks']!.out.match(/"kickNumber"/g)).toHaveLength(4);
    expectObservation(given);
    expect(board.counters().dmaFaults).toBe(0);
  });

  it('works through vfio:, behind an IOMMU, for an ordinary user', async (context) => {
    using board = makeBoard();
    const given = await results(context, board, `vfio:${address}`);
    expect(json(given, 'info')).toMatchObject({
      board: { backend: 'vfio', mapping: 'uncached', storeBytes: 8, interruptVectors: 8 },
    });
    expect(given.commands['selftest']!.out).toContain('loop');
    expect(json(given, 'doorbell')).toMatchObject({ measurements: [{ payloadBytes: 64 }] });
    expect(given.commands['kicks']!.out.match(/"kickNumber"/g)).toHaveLength(4);
    expectObservation(given);
    // The IOMMU protects unmapped memory: it is not written, and the work request fails.
    expect(given.unmapped).toEqual([
      { status: CompletionStatus.success, byte: 1 },
      { status: CompletionStatus.workRequestFlushedError, byte: 1 },
    ]);
    const [fault] = board.takeDmaFaults();
    expect(fault).toMatchObject({ direction: 'write', reason: 'not_mapped' });
    expect(board.counters().interrupts).toBeGreaterThan(0);
  });
});
