import { loadAddon, type BoardFunction, type EmulatedBoard } from './addon.ts';
import { formatDeviceString, type DeviceName } from './device_string.ts';

/** A backend that a device string can name, but that this version does not have. */
export class BackendMissingError extends Error {
  override readonly name = 'BackendMissingError';
  readonly code = 'ENOTSUP';
}

const missing = {
  rtl: 'boards with blocks in RTL',
  serve: 'boards that another process holds',
  pci: 'PCI functions through sysfs',
  vfio: 'PCI functions through VFIO',
} as const;

/**
 * Opens the underlying function that a device string names. An emulated board without a name is a new one, and goes when its
 * function is closed; boards of one name are one board in the whole process.
 * @throws BackendMissingError: this version cannot open such a device
 * @throws RangeError: the board has no such function, or an option is out of range
 */
export function openBoard(name: DeviceName): BoardFunction {
  return withBoard(name, (board, underlyingFunction) => board.open(underlyingFunction));
}

/**
 * Opens the lowest underlying function of a board, but its control function, that nobody has open in this process.
 * @returns undefined: all are open
 * @throws as {@link openBoard}
 */
export function openFreeFunction(name: DeviceName): BoardFunction | undefined {
  return withBoard(name, (board) => board.openFree());
}

function withBoard<Opened>(
  name: DeviceName,
  open: (board: EmulatedBoard, underlyingFunction: number) => Opened,
): Opened {
  if (name.backend !== 'emu') {
    throw new BackendMissingError(
      `device "${formatDeviceString(name)}": this version does not open ${missing[name.backend]} yet; it opens emu:`,
    );
  }
  const board = new (loadAddon().EmulatedBoard)(name.options);
  try {
    return open(board, name.underlyingFunction);
  } finally {
    board.close(); // a handle: the board lives as long as its functions
  }
}
