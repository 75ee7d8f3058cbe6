import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { servePciFunction } from '../../lib/board/pci_proxy/pci_proxy.ts';
import { hostFolder, requireGuest, runGuest } from './guest.ts';

/** Seconds for a run that takes half a minute on a machine of its own. */
const patience = 280;
const memoryBytes = 384 * 2 ** 20;
const device = 'pci:0000:00:10.0';

/** What a command of `hca` gave in the guest. */
interface CommandRun {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
}

describe('the HCA as a function of a virtual machine', { timeout: (patience + 60) * 1000 }, () => {
  it('through pci:, without an IOMMU', async (context) => {
    const emulator = requireGuest(context);
    const host = hostFolder();
    const memory = path.join(host, 'memory');
    writeFileSync(memory, '');
    truncateSync(memory, memoryBytes);
    using board = new EmulatedBoard({ queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 });
    const run = await runGuest(emulator, host, {
      script: `node test/guest/hca.mjs ${device}`,
      kernel: 'hugepages=24',
      machine: [
        '-machine',
        'q35,memory-backend=memory',
        '-m',
        `${memoryBytes / 2 ** 20}`,
        '-object',
        `memory-backend-file,id=memory,size=${memoryBytes},share=on,mem-path=${memory}`,
        '-device',
        'x-pci-proxy-dev,fd=3,addr=10',
      ],
      seconds: patience,
      attend: (stream) => servePciFunction(board, stream, { path: memory, bytes: memoryBytes }),
    });
    expect(run.status, run.console).toBe(0);
    const result = JSON.parse(readFileSync(path.join(host, 'result.json'), 'utf8')) as Record<
      string,
      CommandRun
    >;
    for (const [name, { exitCode, error }] of Object.entries(result))
      expect(exitCode, `${name}: ${error}`).toBe(0);
    const json = (name: string): unknown => JSON.parse(result[name]!.out.split('\n')[0]!);

    expect(json('list')).toContainEqual(
      expect.objectContaining({ device, description: 'emulated_board (1234:4856 1234:4856)', obstacles: [] }),
    );
    // The kernel's own mapping that combines, found by the region table.
    expect(json('info')).toMatchObject({
      identity: { boardName: 'fpga-verbs emulated board' },
      board: { backend: 'pci', mapping: 'write_combining', storeBytes: 64, interruptVectors: 0 },
    });
    expect(result['selftest']!.out).toContain('loop');
    expect(json('doorbell')).toMatchObject({ measurements: [{ payloadBytes: 64 }] });
    expect(result['kicks']!.out.match(/"kickNumber"/g)).toHaveLength(4);
    expect(board.counters().dmaFaults).toBe(0);
  });
});
