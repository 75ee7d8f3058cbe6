import { chosenDeviceString, openBoard, parseDeviceString, type BoardFunction } from '../board/index.ts';
import { HcaDriver } from '../driver/hca_driver.ts';
import { Context } from './context.ts';

/** A device that can be opened. */
export class Device {
  /** Device string. */
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Opens it: {@link openDevice}. */
  open(): Context {
    return openDevice(this.name);
  }
}

/** The devices of this machine: the emulated board, which is always there. Boards on PCIe are named by their address. */
export function getDeviceList(): Device[] {
  return [new Device('emu:')];
}

/**
 * Opens a device.
 * @param device a device string (`emu:`, `emu:1?progress=own`, `vfio:0000:01:00.0`); or an open function of a board, which
 * belongs to the context then. Default: the environment variable FPGA_VERBS_DEVICE, else `emu:`.
 * @throws DeviceStringError, BackendMissingError: no such device
 * @throws VerbsError ENODEV: nothing answers there, or function 0 is not open; ENOTSUP: it is no board of ours; EBUSY: the
 * function is open already
 */
export function openDevice(device?: string | BoardFunction): Context {
  const board =
    device === undefined || typeof device === 'string'
      ? openBoard(parseDeviceString(chosenDeviceString(device)))
      : device;
  return new Context(new HcaDriver(board));
}
