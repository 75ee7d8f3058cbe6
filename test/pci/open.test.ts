import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';

import { openSysfs, openVfio } from '../../lib/board/pci/open_pci.ts';
import type { BoardFunction } from '../../lib/board/index.ts';
import {
  CONTROL_CONTROL_OFFSET,
  IDENTITY_MAGIC_OFFSET,
  IDENTITY_MAGIC_RESET,
  IDENTITY_REGIONS_OFFSET,
  IDENTITY_REGION_ENTRIES_OFFSET,
  IDENTITY_REGION_OFFSET_OFFSET,
  IDENTITY_REGION_PAGE_STRIDE_OFFSET,
  IDENTITY_REGION_STRIDE,
  IDENTITY_REGION_OFFSET,
  IDENTITY_REGION_BAR_SHIFT,
  IDENTITY_REGION_PREFETCHABLE_SHIFT,
  IDENTITY_REGION_SIZE_OFFSET,
  IDENTITY_REGION_TYPE_SHIFT,
  RegionType,
  UNDERLYING_FUNCTION_STATUS_UNDERLYING_FUNCTION_SHIFT,
} from '../../lib/spec/index.ts';
import { FakeHost, fakeAddress, type FakeFunction } from './fake_host.ts';

const folder = `/sys/bus/pci/devices/${fakeAddress}`;

function poke(host: FakeHost, file: string, offset: number, value: number): void {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  const descriptor = openSync(host.path(`${folder}/${file}`), 'r+');
  writeSync(descriptor, bytes, 0, 4, offset);
  closeSync(descriptor);
}

function peek(host: FakeHost, file: string, offset: number): number {
  const bytes = Buffer.alloc(4);
  const descriptor = openSync(host.path(`${folder}/${file}`), 'r');
  readSync(descriptor, bytes, 0, 4, offset);
  closeSync(descriptor);
  return bytes.readUInt32LE();
}

/** A function, as files, whose identity page places the VCBs in BAR 2. */
function fakeBoard(host: FakeHost, options?: FakeFunction): void {
  host.add(options);
  poke(host, 'resource0', IDENTITY_MAGIC_OFFSET, IDENTITY_MAGIC_RESET);
  poke(host, 'resource0', IDENTITY_REGIONS_OFFSET, 1);
  const entry =
    (RegionType.virtualCollectBuffer << IDENTITY_REGION_TYPE_SHIFT) |
    (2 << IDENTITY_REGION_BAR_SHIFT) |
    (1 << IDENTITY_REGION_PREFETCHABLE_SHIFT);
  poke(host, 'resource0', IDENTITY_REGION_OFFSET, entry);
  poke(host, 'resource0', IDENTITY_REGION_SIZE_OFFSET, 0x8000);
}

function opened(host: FakeHost): BoardFunction {
  const board = openSysfs(fakeAddress, host);
  onTestFinished(() => board.close());
  return board;
}

describe('opening pci:', () => {
  it('maps the BARs, those for commands with write combining', () => {
    const host = new FakeHost();
    fakeBoard(host);
    const board = opened(host);
    expect(board.facts()).toMatchObject({
      backend: 'pci',
      progress: 'own',
      mapping: 'write_combining',
      storeBytes: 64,
      underlyingFunction: 0,
      interruptVectors: 0,
    });
    board.write32(0, 0x1004, 0xdead_beef);
    board.write64(2, 0x7ff8, 0x1234_5678, 0x9abc_def0);
    board.write32(2, 0x8000, 0x55); // after the region: the rest of the BAR
    board.fence();
    expect(peek(host, 'resource0', 0x1004)).toBe(0xdead_beef);
    expect([peek(host, 'resource2', 0x7ff8), peek(host, 'resource2', 0x7ffc)]).toEqual([
      0x1234_5678, 0x9abc_def0,
    ]);
    expect(peek(host, 'resource2', 0x8000)).toBe(0x55);
    expect(board.read32(0, 0x1004)).toBe(0xdead_beef);
    expect(readFileSync(host.path(`${folder}/enable`), 'utf8')).toBe('1');
  });

  it('drops writes outside the BARs, and reads all ones there', () => {
    const host = new FakeHost();
    fakeBoard(host);
    const board = opened(host);
    expect(board.read32(0, 0x20000)).toBe(0xffff_ffff);
    expect(board.read32(1, 0)).toBe(0xffff_ffff);
    expect(board.read32(0, 2 ** 40)).toBe(0xffff_ffff);
    board.write32(0, 0x20000, 1);
    board.write64(2, 0x10000, 1, 1);
    expect(board.read32(0, 0)).toBe(IDENTITY_MAGIC_RESET);
  });

  it('resets the function only if its identity page has the magic number', () => {
    const host = new FakeHost();
    fakeBoard(host);
    opened(host).close();
    expect(readFileSync(host.path(`${folder}/reset`), 'utf8')).toBe('1');
    host.write(`${folder}/reset`, '');
    poke(host, 'resource0', 0, 0x1234);
    expect(opened(host).facts().mapping).toBe('uncached');
    expect(readFileSync(host.path(`${folder}/reset`), 'utf8')).toBe('');
  });

  it('resets the device by its control register through function 0 only', () => {
    const pageStride = 0x1000;
    for (const number of [0, 1]) {
      const host = new FakeHost();
      fakeBoard(host, { resettable: false });
      poke(host, 'resource0', IDENTITY_REGIONS_OFFSET, 3);
      const region = (index: number, type: RegionType, offset: number, pages: number): void => {
        const at = index * IDENTITY_REGION_STRIDE;
        poke(host, 'resource0', at + IDENTITY_REGION_OFFSET, type << IDENTITY_REGION_TYPE_SHIFT);
        poke(host, 'resource0', at + IDENTITY_REGION_OFFSET_OFFSET, offset);
        poke(host, 'resource0', at + IDENTITY_REGION_ENTRIES_OFFSET, pages);
        poke(host, 'resource0', at + IDENTITY_REGION_PAGE_STRIDE_OFFSET, pageStride);
      };
      region(1, RegionType.control, 0x8000, 1);
      region(2, RegionType.underlyingFunction, 0x10000, 2);
      for (const page of [0, 1]) {
        const status = page === number ? page << UNDERLYING_FUNCTION_STATUS_UNDERLYING_FUNCTION_SHIFT : -1;
        poke(host, 'resource0', 0x10000 + page * pageStride, status);
      }
      // The file that stands for the register never clears the bit.
      if (number === 0)
        expect(() => opened(host)).toThrow('the reset by its control register does not complete');
      else opened(host);
      expect(peek(host, 'resource0', 0x8000 + CONTROL_CONTROL_OFFSET) === 0).toBe(number !== 0);
    }
  });

  it('clears bus mastering that an application left on, before it resets the function', () => {
    const host = new FakeHost();
    fakeBoard(host);
    poke(host, 'config', 4, 0x0010_0146);
    const board = opened(host);
    expect(peek(host, 'config', 4)).toBe(0x0010_0142);
    board.close();
  });

  it('refuses a function that another process has open', () => {
    const host = new FakeHost();
    fakeBoard(host);
    const first = opened(host);
    expect(() => openSysfs(fakeAddress, host)).toThrow(
      expect.objectContaining({
        code: 'EBUSY',
        message: expect.stringContaining('another process has the function open') as string,
      }),
    );
    first.close();
    opened(host);
  });

  it('refuses to map memory of the process, and says why', () => {
    const host = new FakeHost();
    fakeBoard(host);
    expect(() => opened(host).map(new ArrayBuffer(4096))).toThrow(
      expect.objectContaining({ code: 'ENOTSUP', message: expect.stringContaining('allocate()') as string }),
    );
  });

  it('refuses interrupt vectors, since pci: has none', () => {
    const host = new FakeHost();
    fakeBoard(host);
    expect(() => opened(host).interrupt(0, () => undefined)).toThrow('the function has 0');
  });

  it('names the obstacle', () => {
    const host = new FakeHost();
    host.add({ driver: 'xdma' });
    expect(() => openSysfs(fakeAddress, host)).toThrow(
      expect.objectContaining({
        name: 'PciError',
        code: 'EBUSY',
        expected: 'echo 0000:01:00.0 > /sys/bus/pci/drivers/xdma/unbind',
      }),
    );
    expect(() => openSysfs('0000:09:00.0', host)).toThrow('there is no PCI function 0000:09:00.0');
  });
});

describe('opening vfio:', () => {
  it('names the obstacle', () => {
    const host = new FakeHost();
    host.add({ driver: 'xdma', group: 3 });
    expect(() => openVfio(fakeAddress, host)).toThrow('0000:01:00.0 is bound to xdma');
  });

  it('names the group file that cannot be opened', () => {
    const host = new FakeHost();
    host.add({ driver: 'vfio-pci', group: 3 });
    expect(() => openVfio(fakeAddress, host)).toThrow(
      expect.objectContaining({
        code: 'ENOENT',
        message: expect.stringContaining('/dev/vfio/3 cannot be opened') as string,
      }),
    );
  });

  it('reports files that are not those of VFIO', () => {
    const host = new FakeHost();
    host.add({ driver: 'vfio-pci', group: 3 });
    host.write('/dev/vfio/3', '');
    expect(() => openVfio(fakeAddress, host)).toThrow('the module vfio_iommu_type1 loaded');
  });
});
