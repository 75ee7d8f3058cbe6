import { randomUUID } from 'node:crypto';

import { formatDeviceString, openBoard, parseDeviceString, type BoardFunction } from '../../board/index.ts';
import { DeviceFunction } from '../../driver/device_function.ts';
import { openDevice, type Context } from '../../index.ts';
import { HandWrittenCommand } from './hand_written_command.ts';

/** How a selftest is run. */
export interface SelftestOptions {
  /** Milliseconds that the device has for anything that it is asked for. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** A board while it is brought up: each step of the selftest takes it further. */
export class Bench {
  readonly options: SelftestOptions;
  readonly board: BoardFunction;
  /** The control function of an emulated board of this process alone, where another function is tested. */
  private readonly control: Context | undefined;
  private known: DeviceFunction | undefined;
  private opened: Context | undefined;
  private written: HandWrittenCommand | undefined;

  /** @throws DeviceStringError, BackendMissingError, RangeError: no such device */
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

  /** The function, whose registers are read. @throws VerbsError it is no HCA */
  get device(): DeviceFunction {
    this.known ??= new DeviceFunction(this.board);
    return this.known;
  }

  /** The device with its driver. @throws VerbsError it has one, or does not answer */
  get context(): Context {
    this.opened ??= openDevice(this.board);
    return this.opened;
  }

  /** Commands that are written by hand. @throws VerbsError the device makes no queue pair */
  get command(): HandWrittenCommand {
    this.written ??= new HandWrittenCommand(this.context.driver);
    return this.written;
  }

  /** Waits until `done`, letting the device work. @returns whether it came to be in time */
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

  /** The device is reset, and reaches no memory. */
  close(): void {
    try {
      this.opened?.[Symbol.dispose]();
    } finally {
      this.board.close();
      this.control?.[Symbol.dispose]();
    }
  }
}
