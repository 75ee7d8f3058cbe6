import { accessSync, constants, existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';

import { pciFunctions, type PciIdentification } from '../../spec/pci_functions.ts';

/** A memory BAR of a PCI function. */
export interface PciBar {
  readonly bar: number;
  readonly bytes: number;
  /** The kernel offers a mapping of it that combines writes (`resourceN_wc`). */
  readonly writeCombining: boolean;
}

/** A PCI function as sysfs describes it. */
export interface PciFunction {
  /** DDDD:BB:DD.F */
  readonly address: string;
  /** vendor:device subsystem vendor:device, hexadecimal. */
  readonly identification: string;
  /** Name of the entry of the specification that it matches; undefined: no function of ours. */
  readonly name: string | undefined;
  /** Driver of the kernel that it is bound to. */
  readonly driver: string | undefined;
  /** Its group behind the IOMMU; undefined: no IOMMU stands before it. */
  readonly iommuGroup: IommuGroup | undefined;
  /** `vfioN`: its file in /dev/vfio/devices, where it is bound to vfio-pci and the kernel makes such (6.6). */
  readonly vfioDevice: string | undefined;
  /** Its memory BARs. */
  readonly bars: readonly PciBar[];
  /** 0: a physical function; n + 1: virtual function n of one. */
  readonly underlyingFunction: number;
  /** The kernel can reset it. */
  readonly resettable: boolean;
}

/** Functions that the IOMMU cannot tell from each other. */
export interface IommuGroup {
  readonly number: number;
  /** `identity`: what it does DMA with is not translated. */
  readonly type: string;
  /** The other functions of the group, and their drivers. */
  readonly others: readonly { readonly address: string; readonly driver: string | undefined }[];
}

/** Where the kernel's files are looked for, and which functions are taken for an HCA. */
export interface PciHost {
  /** Put before /sys, /proc and /dev. Default: nothing. */
  readonly root?: string;
  /** Default: those of the specification. */
  readonly accepted?: readonly PciIdentification[];
}

const devices = '/sys/bus/pci/devices';

/** Folder of a function in sysfs. */
export const pathOf = (address: string): string => `${devices}/${address}`;

/** How a function is opened: through VFIO where an IOMMU stands before it, else through sysfs. */
export function deviceStringOf({ address, iommuGroup }: PciFunction): string {
  return `${iommuGroup === undefined ? 'pci' : 'vfio'}:${address}`;
}

/** The functions of this machine that may be an HCA, by address. */
export function listPciFunctions(host: PciHost = {}): PciFunction[] {
  const directory = `${host.root ?? ''}${devices}`;
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .toSorted()
    .map((address) => readPciFunction(address, host))
    .filter((each) => each !== undefined)
    .filter(({ name }) => name !== undefined);
}

/** A function as sysfs describes it; undefined: there is none at this address. */
export function readPciFunction(address: string, host: PciHost = {}): PciFunction | undefined {
  const { root = '', accepted = pciFunctions } = host;
  const directory = `${root}${pathOf(address)}`;
  if (!existsSync(directory)) return undefined;
  const number = (file: string): number => Number(text(`${directory}/${file}`));
  const vendor = number('vendor');
  const device = number('device');
  const subsystemVendor = number('subsystem_vendor');
  const subsystemDevice = number('subsystem_device');
  const known = accepted.find(
    (each) =>
      each.vendor === vendor &&
      each.device === device &&
      (each.subsystemVendor ?? subsystemVendor) === subsystemVendor &&
      (each.subsystemDevice ?? subsystemDevice) === subsystemDevice,
  );
  return {
    address,
    identification: `${hex(vendor)}:${hex(device)} ${hex(subsystemVendor)}:${hex(subsystemDevice)}`,
    name: known?.name,
    driver: linkName(`${directory}/driver`),
    iommuGroup: readGroup(address, root),
    vfioDevice: firstEntry(`${directory}/vfio-dev`),
    bars: readBars(directory),
    underlyingFunction: underlyingFunctionOf(address, root),
    resettable: existsSync(`${directory}/reset`),
  };
}

function readGroup(address: string, root: string): IommuGroup | undefined {
  const directory = `${root}${pathOf(address)}`;
  const number = linkName(`${directory}/iommu_group`);
  if (number === undefined) return undefined;
  const group = `${root}/sys/kernel/iommu_groups/${number}`;
  const members = existsSync(`${group}/devices`) ? readdirSync(`${group}/devices`).toSorted() : [];
  return {
    number: Number(number),
    type: existsSync(`${group}/type`) ? text(`${group}/type`) : 'DMA',
    others: members
      .filter((member) => member !== address)
      .map((member) => ({ address: member, driver: linkName(`${root}${pathOf(member)}/driver`) })),
  };
}

/** Flags of a resource (Linux, include/linux/ioport.h). */
const memoryResource = 0x200;
/** BARs of a function; what stands behind them are its ROM and bridge windows. */
const barCount = 6;

function readBars(directory: string): PciBar[] {
  return text(`${directory}/resource`)
    .split('\n')
    .slice(0, barCount)
    .flatMap((line, bar) => {
      const [begin, end, flags] = line.split(' ').map(BigInt);
      if (begin === undefined || end === undefined || flags === undefined) return [];
      if ((flags & BigInt(memoryResource)) === 0n || end <= begin) return [];
      const writeCombining = existsSync(`${directory}/resource${bar}_wc`);
      return [{ bar, bytes: Number(end - begin) + 1, writeCombining }];
    });
}

/** Virtual functions stand in their physical function's folder as links, by number. */
function underlyingFunctionOf(address: string, root: string): number {
  const physical = linkName(`${root}${pathOf(address)}/physfn`);
  if (physical === undefined) return 0;
  const folder = `${root}${pathOf(physical)}`;
  const link = readdirSync(folder)
    .filter((file) => /^virtfn\d+$/.test(file))
    .find((file) => linkName(`${folder}/${file}`) === address);
  return link === undefined ? 0 : Number(link.slice('virtfn'.length)) + 1;
}

function firstEntry(directory: string): string | undefined {
  return existsSync(directory) ? readdirSync(directory)[0] : undefined;
}

/** The files by which a function is used through iommufd; undefined: the kernel has none, or they are not ours to open. */
export function iommufdPaths(
  { vfioDevice }: Pick<PciFunction, 'vfioDevice'>,
  root = '',
): { readonly iommuPath: string; readonly devicePath: string } | undefined {
  if (vfioDevice === undefined) return undefined;
  const paths = { iommuPath: `${root}/dev/iommu`, devicePath: `${root}/dev/vfio/devices/${vfioDevice}` };
  return Object.values(paths).every(isWritable) ? paths : undefined;
}

/** Whether this process may read and write a file. */
export function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const hex = (value: number): string => value.toString(16).padStart(4, '0');
const text = (file: string): string => readFileSync(file, 'utf8').trim();

function linkName(link: string): string | undefined {
  try {
    return path.basename(readlinkSync(link));
  } catch {
    return undefined;
  }
}
