import { loadAddon, type BoardFunction, type EmulatedBoard } from './addon.ts';
import { BackendMissingError } from './backend_missing.ts';
import { formatDeviceString, type DeviceName } from './device_string.ts';
import { openSysfs, openVfio } from './pci/open_pci.ts';
import { rtlNotBuilt } from './native_files.ts';
import { loadRtlAddon } from './rtl_addon.ts';
import { servedPath } from './served_boards.ts';

type PciName = Extract<DeviceName, { backend: 'pci' | 'vfio' }>;
const isPciName = (name: DeviceName): name is PciName => name.backend === 'pci' || name.backend === 'vfio';

/**
 * Opens the underlying function that a device string names. An emulated board without a name is new and closes with its function. Boards
 * with the same name are one board in the whole process.
 * @throws BackendMissingError: this version cannot open such a device
 * @throws RangeError: the board has no such function, or an option is out of range
 * @throws PciError: the PCI function cannot be opened
 * @throws Error with the code ENODEV, EBUSY or EINVAL: the server of the board refuses
 */
export function openBoard(name: DeviceName): BoardFunction {
  if (isPciName(name)) return name.backend === 'pci' ? openSysfs(name.address) : openVfio(name.address);
  if (name.backend === 'serve') {
    return loadAddon().openServed(servedPath(name.path), name.underlyingFunction);
  }
  return withBoard(name, (board, underlyingFunction) => board.open(underlyingFunction));
}

/**
 * Observes an underlying function while others have it open: its registers, and on emulated and served boards its activity. The control
 * function shows all functions; it, or the one that a process shares, is the default for a served board's name without a number. A function on PCIe is opened instead.
 * @throws as {@link openBoard}
 */
export function openBeside(name: DeviceName): BoardFunction {
  if (isPciName(name)) return openBoard(name);
  if (name.backend !== 'serve') {
    return withBoard(name, (board, underlyingFunction) => board.observe(underlyingFunction));
  }
  return loadAddon().openServed(servedPath(name.path), name.underlyingFunction, true);
}

/**
 * Opens the lowest underlying function of a board, except its control function, that is not open in this process or, for a served board, in
 * any process.
 * @returns undefined: all are open
 * @throws as {@link openBoard}
 */
export function openFreeFunction(name: DeviceName): BoardFunction | undefined {
  if (isPciName(name)) {
    throw new BackendMissingError(
      `device "${formatDeviceString(name)}": this version does not find the other functions of a board on PCIe; ` +
        'expected: each opened by its own address',
    );
  }
  if (name.backend === 'serve') return openFreeServed(name.path);
  return withBoard(name, (board) => board.openFree());
}

function openFreeServed(path: string): BoardFunction | undefined {
  try {
    return loadAddon().openServed(servedPath(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EBUSY') return undefined;
    throw error;
  }
}

function withBoard<Opened>(
  name: Exclude<DeviceName, PciName | { backend: 'serve' }>,
  open: (board: EmulatedBoard, underlyingFunction: number) => Opened,
): Opened {
  const board = makeBoard(name);
  try {
    return open(board, name.underlyingFunction);
  } finally {
    board.close(); // a handle: the board lives as long as its functions
  }
}

function makeBoard(name: Extract<DeviceName, { backend: 'emu' | 'rtl' }>): EmulatedBoard {
  if (name.backend === 'emu') return new (loadAddon().EmulatedBoard)(name.options);
  const addon = loadRtlAddon();
  if (addon === undefined) {
    throw new BackendMissingError(rtlNotBuilt(formatDeviceString(name), 'addon'));
  }
  return new addon.EmulatedBoard(name.options);
}
