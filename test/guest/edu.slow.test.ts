import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';

import { guestTests, hostFolder, requireGuest, runGuest, type GuestOptions } from './guest.ts';

/** Runs a program of this folder in the guest. */
async function results(
  context: TestContext,
  program: string,
  options: Omit<GuestOptions, 'script' | 'seconds'>,
): Promise<{ result: Record<string, unknown>; console: string }> {
  const host = hostFolder();
  const script = `node test/guest/${program} && dmesg | grep -i dmar\ntrue`;
  const run = await runGuest(requireGuest(context), host, { ...options, script, seconds: timeLimit });
  try {
    const text = readFileSync(path.join(host, 'result.json'), 'utf8');
    return { result: JSON.parse(text) as Record<string, unknown>, console: run.console };
  } catch {
    throw new Error(`the program in the guest gave no result (status ${run.status}):\n${run.console}`);
  }
}

/** Seconds; a run takes ten on an idle machine. */
const timeLimit = 200;
/** The value of its first register. */
const identification = 0x010000ed;
/** Slot 16 of a PC; edu allows no access to the 4 KiB after its buffer. */
const edu = ['-device', 'edu,addr=10'];

/**
 * Memory refused for lack of file descriptors: the function is not bus master, and `more` further descriptors
 * stay open.
 */
const refused = (why: string, more: number): Record<string, unknown> => ({
  message: expect.stringContaining(`${why}: Too many open files`) as string,
  master: false,
  more,
});

describe("QEMU's edu device, a PCI function of another project,", guestTests(timeLimit), () => {
  it('works through vfio:, behind an IOMMU, for an ordinary user', async (context) => {
    const machine = [
      '-machine',
      'q35,kernel-irqchip=split',
      '-m',
      '256',
      '-device',
      'intel-iommu,intremap=on',
      ...edu,
    ];
    const { result, console } = await results(context, 'edu_vfio.mjs', { machine, kernel: 'intel_iommu=on' });
    expect(result).toMatchObject({
      sysfs: expect.stringContaining('0000:00:10.0 is behind an IOMMU') as string,
      unbound: expect.stringContaining('0000:00:10.0 is not bound to vfio-pci') as string,
      driver: 'vfio-pci',
      facts: { backend: 'vfio', progress: 'own', mapping: 'uncached', storeBytes: 8, interruptVectors: 1 },
      identification,
      liveness: ~0x12345678 >>> 0,
      again: expect.stringContaining('no other process has a function of the group open') as string,
      master: true,
      interrupts: 1,
      interruptStatus: 0x100,
      copied: true,
      beyond: [0, 0, 0, 0, 0, 0, 0, 0],
      foreign: true,
      unchanged: true,
      read: true,
      readOnly: true,
      twoPages: true,
      ownRights: true,
      ownTime: true,
      foreignLimit: expect.stringContaining('RLIMIT_MEMLOCK') as string,
      limit: expect.stringContaining('RLIMIT_MEMLOCK') as string,
      masterAfter: false,
      second: identification,
      zapped: [0xffff_ffff, 0xffff_ffff],
      zappedReason: expect.stringContaining('its BARs do not answer') as string,
    });
    const addresses = result['addresses'] as number[];
    expect(addresses.filter((_, half) => half % 2 === 1)).toEqual([0, 0]);
    expect(Math.max(...addresses)).toBeLessThan(2 ** 28);
    // Nothing was ever mapped there. The emulator may merge reports of accesses to unmapped or read-only memory with this one.
    expect(console).toMatch(/DMAR: \[DMA Write .*\[00:10\.0\] fault addr 0xffe0000/);
    expect(console).not.toMatch(/DMAR: \[DMA Read/);
  });

  it('works through pci:, without an IOMMU', async (context) => {
    const machine = ['-machine', 'q35', '-m', '256', ...edu];
    const { result } = await results(context, 'edu_sysfs.mjs', { machine, kernel: 'hugepages=12' });
    expect(result).toMatchObject({
      vfio: expect.stringContaining('0000:00:10.0 has no IOMMU') as string,
      facts: { backend: 'pci', progress: 'own', mapping: 'uncached', storeBytes: 8, interruptVectors: 0 },
      identification,
      liveness: ~0x12345678 >>> 0,
      again: expect.stringContaining('another process has the function open') as string,
      foreign: expect.stringContaining('memory of allocate()') as string,
      masterBefore: false,
      refused: [
        refused('no file descriptor is left', 0), // for the file of the memory
        refused('no file descriptor is left', 1), // to read its physical address
        refused('no file descriptor is left', 0),
        refused('no pair of sockets is left', 0),
        refused('no file descriptor is left', 0), // of the guard: none, one and two of three
        refused('no file descriptor is left', 0),
        refused('no file descriptor is left', 0),
      ],
      pagesOfRefused: 1, // the same for all
      master: true,
      copied: true,
      beyond: [0, 0, 0, 0, 0, 0, 0, 0],
      large: true,
      untouched: true,
      reused: true,
      zeroed: true,
      exhausted: expect.stringContaining('hugepage') as string,
      masterAfter: false,
    });
  });
});
