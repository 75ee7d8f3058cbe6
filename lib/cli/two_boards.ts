import { randomUUID } from 'node:crypto';

import { formatDeviceString, parseDeviceString, type BoardOptions } from '../board/index.ts';
import { VerbsError, openDevice, type Context } from '../index.ts';
import type { Scope } from './scope.ts';

/**
 * Two boards on a fabric of their own; two functions of a served board, if the device string names none; on other devices the same
 * device twice, whose port loops back. A capture file applies to the first board.
 */
export function openTwoBoards(deviceString: string, scope: Scope): [Context, Context] {
  const name = parseDeviceString(deviceString);
  if (name.backend === 'serve' && name.underlyingFunction === undefined) {
    return [scope.use(openDevice(deviceString)), scope.use(openDevice(deviceString))];
  }
  if (name.backend !== 'emu') {
    const device = scope.use(openDevice(deviceString));
    return [device, device];
  }
  const { capture, ...options } = name.options;
  const connected = (changes: BoardOptions): Context =>
    scope.use(openDevice(formatDeviceString({ ...name, options: { ...options, ...changes } })));
  const fabric = `hca-${randomUUID()}`;
  return [connected(capture === undefined ? { fabric } : { fabric, capture }), connected({ fabric })];
}

/**
 * A device string whose board writes the packets at its ports to a file.
 * @param file undefined: returns the device string unchanged
 * @throws VerbsError ENOTSUP: the device is not emulated
 */
export function withCapture(deviceString: string, file: string | undefined): string {
  if (file === undefined) return deviceString;
  const name = parseDeviceString(deviceString);
  if (name.backend === 'emu') {
    return formatDeviceString({ ...name, options: { ...name.options, capture: file } });
  }
  throw new VerbsError(`${deviceString} is not an emulated board, whose packets could be captured`, {
    code: 'ENOTSUP',
    verb: 'openDevice',
    attribute: '--capture',
    expected: 'a device emu:',
  });
}
