import { randomUUID } from 'node:crypto';

import {
  chosenDeviceString,
  deviceStringOf,
  findServedBoards,
  listPciFunctions,
  openBoard,
  parseDeviceString,
  type BoardFunction,
  type DeviceName,
} from '../board/index.ts';
import { wrongType } from '../driver/arguments.ts';
import { VerbsError } from '../driver/errors.ts';
import { HcaDriver } from '../driver/hca_driver.ts';
import { Context } from './context.ts';

type EmulatedName = Extract<DeviceName, { backend: 'emu' | 'rtl' }>;

/** A device that a program can open. */
export class Device {
  /** Device string. */
  readonly name: string;

  /** @param name a device string as for {@link openDevice}; open() checks it */
  constructor(name: string) {
    this.name = name;
  }

  /** Opens the device: {@link openDevice}. */
  open(): Context {
    return openDevice(this.name);
  }
}

/**
 * Lists the devices of this machine: the emulated board, which is always available, the boards that other processes serve under a name, and
 * the PCI functions that may be an HCA.
 */
export function getDeviceList(): Device[] {
  const served = findServedBoards().map(({ name }) => `serve:${name}`);
  return ['emu:', ...served, ...listPciFunctions().map(deviceStringOf)].map((name) => new Device(name));
}

/**
 * Opens a device.
 * @param device a device string (`emu:`, `emu:1?progress=own`, `serve:lab/1`, `vfio:0000:01:00.0`), or an open function of a board, which
 * the context then owns. Default: the environment variable FPGA_VERBS_DEVICE, else `emu:`.
 * @throws TypeError: neither; DeviceStringError, BackendMissingError: no such device; PciError: the obstacle to opening a PCI function
 * @throws VerbsError ENODEV: the device does not answer, or function 0 is not open, or no server serves the board; ENOTSUP: not a board of
 * this project; EBUSY: the function is already open
 */
export function openDevice(device?: string | BoardFunction): Context {
  if (device !== undefined && typeof device !== 'string') {
    if (typeof device?.facts !== 'function')
      throw wrongType('device', 'a device string, or a function of a board', device);
    return new Context(new HcaDriver(device));
  }
  const name = parseDeviceString(chosenDeviceString(device));
  if (name.backend !== 'emu' || name.options.name !== undefined) return open(name);
  // A random name, so that only threads with the context's token can find the board.
  const options = { ...name.options, name: `unnamed-${randomUUID()}` };
  return name.underlyingFunction === 0 ? open({ ...name, options }) : openGuest({ ...name, options });
}

function open(name: DeviceName): Context {
  return new Context(new HcaDriver(openFunction(name)), { name });
}

/** Turns a server's refusal into an error of the verb. */
function openFunction(name: DeviceName): BoardFunction {
  try {
    return openBoard(name);
  } catch (error) {
    if (name.backend !== 'serve' || !(error instanceof Error && 'code' in error)) throw error;
    throw new VerbsError(error.message, { code: String(error.code), verb: 'openDevice', cause: error });
  }
}

/** No other context can open the control function of a board without a name, so it is opened with the guest, to enable the board. */
function openGuest(name: EmulatedName): Context {
  const control = new HcaDriver(openBoard({ ...name, underlyingFunction: 0 }));
  try {
    return new Context(new HcaDriver(openBoard(name)), { name, control });
  } catch (error) {
    control.close();
    throw error;
  }
}
