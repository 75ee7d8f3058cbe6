import { setTimeout as sleep } from 'node:timers/promises';

import {
  EmulatedBoard,
  newServedPath,
  parseDeviceString,
  type ServedBoard,
  type ServedNotice,
} from '../board/index.ts';
import { DeviceFunction } from '../driver/device_function.ts';
import { enable, resetDevice } from '../driver/enabling.ts';
import { VerbsError } from '../index.ts';
import type { Output } from './output/output.ts';

/** Options of `hca serve`. */
export interface ServeOptions {
  /** Name of the board, or path of its socket. */
  readonly path: string;
  /** Bytes of DMA memory that a client may have. */
  readonly memory: number;
  /** Ends the server. */
  readonly signal: AbortSignal;
}

/** Milliseconds between two checks for notices about clients. */
const period = 200;

/**
 * `hca serve`: holds an emulated board, whose functions other processes open, until it is interrupted. It enables the board. All other
 * tasks of the control function are left to the process that opens function 0. JSON: a line {served, functions: [first, last]}, then one for each {@link ServedNotice}.
 */
export async function serve(output: Output, deviceString: string, options: ServeOptions): Promise<void> {
  const name = parseDeviceString(deviceString);
  if (name.backend !== 'emu') {
    throw new VerbsError(`${deviceString} is not an emulated board, which could be served`, {
      code: 'ENOTSUP',
      verb: 'openDevice',
      attribute: '--device',
      expected: 'a device emu:',
    });
  }
  using board = new EmulatedBoard(name.options);
  const control = new DeviceFunction(board.open());
  try {
    enable(control);
    const served = board.serve({
      path: newServedPath(options.path),
      firstFunction: 0,
      memoryPerClient: options.memory,
    });
    try {
      const last = control.identity.underlyingFunctions - 1;
      output.value({ served: `serve:${options.path}`, functions: [1, last] });
      output.text(`serve:${options.path}/1 to /${last} can be opened; Ctrl+C ends it\n`);
      await report(output, served, options.signal);
    } finally {
      served.close();
    }
    resetDevice(control);
  } finally {
    control.close();
  }
}

async function report(output: Output, served: ServedBoard, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const notice of served.takeNotices()) {
      output.value(notice);
      output.text(`${textOf(notice)}\n`);
    }
    await sleep(period, undefined, { signal }).catch(() => undefined);
  }
}

function textOf({ kind, underlyingFunction, process: client, reason }: ServedNotice): string {
  const line = `function ${underlyingFunction} ${kind}: process ${client}`;
  return reason === '' ? line : `${line}, ${reason}`;
}
