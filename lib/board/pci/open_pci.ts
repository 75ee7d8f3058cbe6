import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';

import { IDENTITY_MAGIC_OFFSET, IDENTITY_MAGIC_RESET, PAGE_BYTES } from '../../spec/index.ts';
import { loadAddon, type BoardFunction } from '../addon.ts';
import { readUnderlyingFunction } from '../own_function.ts';
import { IDENTITY_BAR, readRegions, type Region } from '../regions.ts';
import { obstaclesOf } from './obstacle.ts';
import { PciError } from './pci_error.ts';
import {
  iommufdPaths,
  pathOf,
  readPciFunction,
  type PciBar,
  type PciFunction,
  type PciHost,
} from './pci_function.ts';
import { resetByRegister } from './reset_by_register.ts';

import type { SysfsRange } from './function_setup.ts';

/**
 * Opens a PCI function through the files of sysfs, as `pci:` does: resets it, and maps its BARs, those for commands write-combining
 * where the kernel lets them be. Root alone may.
 * @throws PciError: there is no such function, it is not ours, or something stands in the way
 */
export function openSysfs(address: string, host: PciHost = {}): BoardFunction {
  const pciFunction = needFunction('pci', address, host);
  const { bars, underlyingFunction, resettable } = pciFunction;
  const directory = `${host.root ?? ''}${pathOf(address)}`;
  writeFileSync(`${directory}/enable`, '1');
  const setup = { configurationPath: `${directory}/config`, underlyingFunction };
  const rangeOf = (bar: number, offset: number, bytes: number, combining = false): SysfsRange => {
    const path = `${directory}/resource${bar}${combining ? '_wc' : ''}`;
    return { path, bar, offset, bytes, writeCombining: combining };
  };
  const uncached = bars.map(({ bar, bytes }) => rangeOf(bar, 0, wholePages(bytes)));
  return opening(address, () => {
    const probe = loadAddon().openSysfsFunction({ ...setup, ranges: uncached });
    // A function with another start of BAR 0 may be another vendor's: the driver refuses it without a reset.
    if (probe.read32(IDENTITY_BAR, IDENTITY_MAGIC_OFFSET) !== IDENTITY_MAGIC_RESET) return probe;
    const regions = readRegions(probe);
    const combined = combinedParts(regions, bars);
    if (!resettable && readUnderlyingFunction(probe, regions) === 0) resetByRegister(probe);
    probe.close();
    const ranges = uncached.flatMap((range) => {
      const part = combined.find(({ bar }) => bar === range.bar);
      if (part === undefined) return [range];
      const end = part.offset + part.bytes;
      return [
        rangeOf(range.bar, part.offset, part.bytes, true),
        rangeOf(range.bar, 0, part.offset),
        rangeOf(range.bar, end, range.bytes - end),
      ].filter(({ bytes }) => bytes > 0);
    });
    return loadAddon().openSysfsFunction({
      ...setup,
      ranges,
      ...(resettable && { resetPath: `${directory}/reset` }),
    });
  });
}

/** How a function is opened through VFIO. */
export interface VfioOptions extends PciHost {
  /** Of DMA addresses that the device can say. Default 64. */
  readonly addressBits?: number;
}

/**
 * Opens a PCI function through VFIO, as `vfio:` does: an IOMMU lets it reach what is mapped, and nothing else. Through iommufd where the
 * kernel has it and its files may be opened, otherwise through the function's group.
 * @throws PciError: there is no such function, it is not ours, or something stands in the way
 */
export function openVfio(address: string, options: VfioOptions = {}): BoardFunction {
  const { root = '', addressBits = 64 } = options;
  const pciFunction = needFunction('vfio', address, options);
  const { iommuGroup, underlyingFunction } = pciFunction;
  return opening(address, () =>
    loadAddon().openVfioFunction({
      ...iommufdPaths(pciFunction, root),
      containerPath: `${root}/dev/vfio/vfio`,
      groupPath: `${root}/dev/vfio/${iommuGroup!.number}`,
      address,
      addressBits,
      underlyingFunction,
    }),
  );
}

function needFunction(backend: 'pci' | 'vfio', address: string, host: PciHost): PciFunction {
  const pciFunction = readPciFunction(address, host);
  if (pciFunction === undefined) {
    throw new PciError(`there is no PCI function ${address}`, 'ENODEV', 'an address that lspci -D prints');
  }
  const obstacle = obstaclesOf(backend, pciFunction, host.root).find(({ blocks }) => blocks);
  if (obstacle === undefined) return pciFunction;
  throw new PciError(`${obstacle.problem}; expected: ${obstacle.cure}`, obstacle.code, obstacle.cure);
}

/** The parts of BARs that the board lets be mapped write-combining, and the kernel too: one in a BAR, whole pages. */
function combinedParts(
  regions: readonly Region[],
  bars: readonly PciBar[],
): { bar: number; offset: number; bytes: number }[] {
  return regions
    .filter(
      ({ prefetchable, bar }) => prefetchable && bars.some((each) => each.bar === bar && each.writeCombining),
    )
    .map(({ bar, offset, size }) => ({ bar, offset, bytes: size }))
    .filter(({ offset, bytes }) => offset % PAGE_BYTES === 0 && bytes % PAGE_BYTES === 0);
}

const wholePages = (bytes: number): number => Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;

/** A failure in native code as a PciError. */
function opening(address: string, open: () => BoardFunction): BoardFunction {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error;
    const code = Object.entries(constants.errno).find(([, value]) => value === error.errno)?.[0] ?? 'EIO';
    const [problem, expected = 'no other user of the function, and the rights to'] =
      error.message.split('; expected: ');
    throw new PciError(`${address}: ${problem!}; expected: ${expected}`, code, expected);
  }
}
