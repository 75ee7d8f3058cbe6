import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A function of a fake machine. */
export interface FakeFunction {
  readonly address?: string;
  readonly vendor?: number;
  readonly device?: number;
  readonly driver?: string;
  /** Number of its IOMMU group; none: no IOMMU. */
  readonly group?: number;
  readonly groupType?: string;
  /** Bytes of BARs, by number. Default: the two of a small board. */
  readonly bars?: Readonly<Record<number, { bytes: number; writeCombining?: boolean }>>;
  /** Address of the physical function; this one is its virtual function 0. */
  readonly virtualOf?: string;
  /** Default: the kernel can reset it. */
  readonly resettable?: boolean;
}

export const fakeAddress = '0000:01:00.0';
const memoryFlag = 0x200n;

/** A copy of the kernel's file tree in the temporary folder `root`. Removed when the test ends. */
export class FakeHost {
  readonly root = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-pci-'));

  constructor({ hugepages = 8 }: { hugepages?: number } = {}) {
    onTestFinished(() => rmSync(this.root, { recursive: true }));
    this.write('/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages', `${hugepages}\n`);
    this.write('/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages', '0\n');
    this.write('/sys/bus/pci/drivers_probe', '');
    this.write('/dev/vfio/vfio', '');
    this.limitLockedMemory('unlimited');
  }

  add({
    address = fakeAddress,
    vendor = 0x10ee,
    device = 0x9038,
    driver,
    group,
    groupType = 'DMA',
    bars = { 0: { bytes: 0x20000 }, 2: { bytes: 0x10000, writeCombining: true } },
    virtualOf,
    resettable = true,
  }: FakeFunction = {}): string {
    const folder = `/sys/bus/pci/devices/${address}`;
    const hex = (value: number): string => `0x${value.toString(16).padStart(4, '0')}\n`;
    this.write(`${folder}/vendor`, hex(vendor));
    this.write(`${folder}/device`, hex(device));
    this.write(`${folder}/subsystem_vendor`, hex(vendor));
    this.write(`${folder}/subsystem_device`, hex(7));
    this.write(`${folder}/config`, Buffer.alloc(256));
    this.write(`${folder}/enable`, '0\n');
    this.write(`${folder}/driver_override`, '(null)\n');
    if (resettable) this.write(`${folder}/reset`, '');
    const lines = Array.from({ length: 13 }, (_, bar) => {
      const bytes = bars[bar]?.bytes ?? 0;
      const begin = bytes === 0 ? 0n : 0xe000_0000n + BigInt(bar) * 0x10_0000n;
      const end = bytes === 0 ? 0n : begin + BigInt(bytes) - 1n;
      return [begin, end, bytes === 0 ? 0n : memoryFlag]
        .map((value) => `0x${value.toString(16).padStart(16, '0')}`)
        .join(' ');
    });
    this.write(`${folder}/resource`, `${lines.join('\n')}\n`);
    for (const [bar, { bytes, writeCombining = false }] of Object.entries(bars)) {
      this.write(`${folder}/resource${bar}`, Buffer.alloc(bytes));
      // The same memory under two names, as in the kernel.
      if (writeCombining) symlinkSync(`resource${bar}`, this.path(`${folder}/resource${bar}_wc`));
    }
    if (driver !== undefined) {
      mkdirSync(this.path(`/sys/bus/pci/drivers/${driver}`), { recursive: true });
      this.write(`/sys/bus/pci/drivers/${driver}/unbind`, '');
      symlinkSync(`../../drivers/${driver}`, this.path(`${folder}/driver`));
    }
    if (group !== undefined) {
      const groupFolder = `/sys/kernel/iommu_groups/${group}`;
      mkdirSync(this.path(`${groupFolder}/devices`), { recursive: true });
      this.write(`${groupFolder}/type`, `${groupType}\n`);
      symlinkSync(`../../../../bus/pci/devices/${address}`, this.path(`${groupFolder}/devices/${address}`));
      symlinkSync(`../../../../kernel/iommu_groups/${group}`, this.path(`${folder}/iommu_group`));
    }
    if (virtualOf !== undefined) {
      symlinkSync(`../${virtualOf}`, this.path(`${folder}/physfn`));
      symlinkSync(`../${address}`, this.path(`/sys/bus/pci/devices/${virtualOf}/virtfn0`));
    }
    return address;
  }

  /** @param bytes soft limit, or `unlimited` */
  limitLockedMemory(bytes: string): void {
    this.write(
      '/proc/self/limits',
      `Max locked memory         ${bytes}              ${bytes}              bytes\n`,
    );
  }

  write(file: string, content: string | Buffer): void {
    mkdirSync(path.dirname(this.path(file)), { recursive: true });
    writeFileSync(this.path(file), content);
  }

  path(file: string): string {
    return `${this.root}${file}`;
  }
}
