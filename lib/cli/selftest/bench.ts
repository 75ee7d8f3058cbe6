import { randomUUID } from 'node:crypto';

import { formatDeviceString, openBoard, parseDeviceString, type BoardFunction } from '../../board/index.ts';
import { DeviceFunction } from '../../driver/device_function.ts';
import { openDevice, type Context } from '../../index.ts';
import { HandWrittenCommand } from './hand_written_command.ts';

/** Parameters of a selftest. */
export interface SelftestOptions {
  /** Milliseconds that the device has for each request. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** A board during bring-up, which each step of the selftest continues. */
export class Bench {
  readonly options: SelftestOptions;
  readonly board: BoardFunction;
  /** The control function of an emulated board of this process, if another function is tested. */
  private readonly control: Context | undefined;
  private known: DeviceFunction | undefined;
  private opened: Context | undefined;
  private written: HandWrittenCommand | undefined;

  /** Opens the device. @throws DeviceStringError, BackendMissingError, RangeError: no such device */
  constructor(deviceString: string, options: SelftestOptions) {
    this.options = options;
    const given = parseDeviceString(deviceString);
    const isAlone = given.backend === 'emu' && given.options.name === undefined;
    if (!isAlone || given.underlyingFunction === 0) {
      this.board = openBoard(given);
      return;
    }
    const name = { ...given, options: { ...given.options, name: `selftest-${randomUUID()}` } };
    this.control = openDevice(formatDeviceString({ ...name, underlyingFunction: 0 }));
    this.board = openBoard(name);
  }

  /** The function, for register access. @throws VerbsError it is no HCA */
  get device(): DeviceFunction {
    this.known ??= new DeviceFunction(this.board);
    return this.known;
  }

  /** The device with its driver. @throws VerbsError another driver uses it, or it does not answer */
  get context(): Context {
    this.opened ??= openDevice(this.board);
    return this.opened;
  }

  /** Hand-written commands. @throws VerbsError the device creates no queue pair */
  get command(): HandWrittenCommand {
    this.written ??= new HandWrittenCommand(this.context.driver);
    return this.written;
  }

  /** Drives the device until `done`. @returns whether that was in time */
  async until(done: () => boolean): Promise<boolean> {
    const givenUp = performance.now() + this.options.timeout;
    while (!done()) {
      this.options.signal.throwIfAborted();
      if (this.board.advance()) continue;
      if (performance.now() > givenUp) return false;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return true;
  }

  /** Resets the device, which then accesses no memory. */
  close(): void {
    try {
      this.opened?.[Symbol.dispose]();
    } finally {
      this.board.close();
      this.control?.[Symbol.dispose]();
    }
  }
}
