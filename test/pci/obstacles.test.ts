import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { listPciFunctions, obstaclesOf, readPciFunction } from '../../lib/board/index.ts';
import { FakeHost, fakeAddress, type FakeFunction } from './fake_host.ts';

/** Obstacles in the way of a function, as `code: problem`. */
function obstacles(backend: 'pci' | 'vfio', host: FakeHost, fake: FakeFunction = {}): string[] {
  const address = host.add(fake);
  const { root } = host;
  return obstaclesOf(backend, readPciFunction(address, { root })!, root).map(
    ({ code, problem, blocks }) => `${blocks ? '' : 'note '}${code}: ${problem}`,
  );
}

const [cures, actions] = [
  (backend: 'pci' | 'vfio', host: FakeHost): string =>
    obstaclesOf(backend, readPciFunction(fakeAddress, host)!, host.root)[0]!.cure,
  (backend: 'pci' | 'vfio', host: FakeHost): readonly object[] =>
    obstaclesOf(backend, readPciFunction(fakeAddress, host)!, host.root)[0]!.actions,
];

describe('the sysfs reader', () => {
  it('reads the facts of a function', () => {
    const host = new FakeHost();
    host.add({ driver: 'xdma', group: 12 });
    host.add({ address: '0000:01:00.1', group: 12 });
    expect(readPciFunction(fakeAddress, host)).toEqual({
      address: fakeAddress,
      identification: '10ee:9038 10ee:0007',
      name: 'xilinx_shell',
      driver: 'xdma',
      iommuGroup: { number: 12, type: 'DMA', others: [{ address: '0000:01:00.1', driver: undefined }] },
      bars: [
        { bar: 0, bytes: 0x20000, writeCombining: false },
        { bar: 2, bytes: 0x10000, writeCombining: true },
      ],
      underlyingFunction: 0,
      resettable: true,
    });
    expect(readPciFunction('0000:07:00.0', host)).toBeUndefined();
  });

  it('lists the functions that may be an HCA, by vendor, device and subsystem ID', () => {
    const host = new FakeHost();
    host.add({ address: '0000:02:00.0' });
    host.add({ address: '0000:01:00.0', vendor: 0x8086, device: 0x1533 });
    host.add({ address: '0000:00:03.0', vendor: 0x1234, device: 0x4856 }); // another subsystem
    expect(listPciFunctions(host).map(({ address }) => address)).toEqual(['0000:02:00.0']);
    expect(listPciFunctions({ root: '/nowhere' })).toEqual([]);
  });

  it('numbers virtual functions from 1', () => {
    const host = new FakeHost();
    host.add();
    host.add({ address: '0000:01:00.4', virtualOf: fakeAddress });
    expect(readPciFunction('0000:01:00.4', host)!.underlyingFunction).toBe(1);
  });
});

describe('the obstacles of pci:', () => {
  it('are none if everything is in place', () => {
    expect(obstacles('pci', new FakeHost())).toEqual([]);
    expect(obstacles('pci', new FakeHost(), { group: 3, groupType: 'identity' })).toEqual([]);
  });

  it('include a function that is no HCA or has no BAR 0', () => {
    expect(obstacles('pci', new FakeHost(), { vendor: 0x8086, device: 0x1533 })).toEqual([
      'ENOTSUP: 0000:01:00.0 is no HCA: it is 8086:1533 8086:0007',
    ]);
    expect(obstacles('pci', new FakeHost(), { bars: { 2: { bytes: 4096, writeCombining: true } } })).toEqual([
      'ENODEV: 0000:01:00.0 has no memory BAR 0',
    ]);
  });

  it('include a bound driver, which unbinding removes', () => {
    const host = new FakeHost();
    expect(obstacles('pci', host, { driver: 'xdma' })).toEqual([
      'EBUSY: 0000:01:00.0 is bound to the driver xdma',
    ]);
    expect(cures('pci', host)).toBe('echo 0000:01:00.0 > /sys/bus/pci/drivers/xdma/unbind');
  });

  it('include a translating IOMMU', () => {
    const host = new FakeHost();
    expect(obstacles('pci', host, { group: 3, groupType: 'DMA-FQ' })).toEqual([
      'ENOTSUP: 0000:01:00.0 is behind an IOMMU, which maps no memory for sysfs',
    ]);
    expect(cures('pci', host)).toBe('vfio:0000:01:00.0 instead of pci:0000:01:00.0');
  });

  it('include a file without write permission', () => {
    const host = new FakeHost();
    host.add();
    rmSync(host.path(`/sys/bus/pci/devices/${fakeAddress}/enable`));
    const { problem, cure } = obstaclesOf('pci', readPciFunction(fakeAddress, host)!, host.root)[0]!;
    expect(problem).toBe('/sys/bus/pci/devices/0000:01:00.0/enable may not be written');
    expect(cure).toBe('root, or vfio:, which needs none');
  });

  it('include missing hugepages', () => {
    const host = new FakeHost({ hugepages: 0 });
    expect(obstacles('pci', host)).toEqual([
      'ENOMEM: no hugepage of 2 MiB is free, of which pci: takes its memory',
    ]);
    expect(cures('pci', host)).toBe('echo 64 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages');
  });

  it('include a note on slow stores if no BAR is prefetchable', () => {
    expect(obstacles('pci', new FakeHost(), { bars: { 0: { bytes: 0x20000 } } })).toEqual([
      'note ENOTSUP: 0000:01:00.0 has no prefetchable BAR, so that commands are written 8 B at a time',
    ]);
  });

  it('include a note on the reset of a function that the kernel cannot reset', () => {
    expect(obstacles('pci', new FakeHost(), { resettable: false })).toEqual([
      expect.stringMatching(
        /^note ENOTSUP: the kernel cannot reset 0000:01:00.0: .* resets the device by its own register$/,
      ),
    ]);
  });
});

describe('the obstacles of vfio:', () => {
  it('are none if everything is in place', () => {
    expect(obstacles('vfio', new FakeHost(), { driver: 'vfio-pci', group: 3 })).toEqual([]);
  });

  it('include a missing IOMMU', () => {
    const host = new FakeHost();
    expect(obstacles('vfio', host, { driver: 'vfio-pci' })).toEqual(['ENOTSUP: 0000:01:00.0 has no IOMMU']);
    expect(cures('vfio', host)).toContain('intel_iommu=on');
  });

  it('include another driver, or none', () => {
    const host = new FakeHost();
    expect(obstacles('vfio', host, { driver: 'xdma', group: 3 })).toEqual([
      'EBUSY: 0000:01:00.0 is bound to xdma',
    ]);
    expect(actions('vfio', host)).toEqual([
      { command: ['modprobe', 'vfio-pci'] },
      { command: ['modprobe', 'vfio_iommu_type1'] },
      { file: '/sys/bus/pci/drivers/xdma/unbind', value: fakeAddress },
      { file: '/sys/bus/pci/devices/0000:01:00.0/driver_override', value: 'vfio-pci' },
      { file: '/sys/bus/pci/drivers_probe', value: fakeAddress },
    ]);
    expect(obstacles('vfio', new FakeHost(), { group: 3 })).toEqual([
      'EBUSY: 0000:01:00.0 is not bound to vfio-pci',
    ]);
  });

  it('include an IOMMU group that other drivers use, whose functions stay untouched', () => {
    const host = new FakeHost();
    host.add({ address: '0000:00:01.0', driver: 'pcieport', group: 3 });
    host.add({ address: '0000:01:00.1', driver: 'e1000e', group: 3 });
    expect(obstacles('vfio', host, { driver: 'vfio-pci', group: 3 })).toEqual([
      'EBUSY: group 3 of 0000:01:00.0 is not viable: it holds 0000:01:00.1 (e1000e)',
    ]);
    expect(actions('vfio', host)).toEqual([]);
  });

  it('include a note on a low limit of locked memory', () => {
    const host = new FakeHost();
    host.limitLockedMemory('8388608');
    expect(obstacles('vfio', host, { driver: 'vfio-pci', group: 3 })).toEqual([
      'note ENOMEM: only 8388608 B of memory may be locked (RLIMIT_MEMLOCK), and what the device reaches is',
    ]);
    expect(cures('vfio', host)).toContain('ulimit -l 65536');
  });
});
