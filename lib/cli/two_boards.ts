import { randomUUID } from 'node:crypto';

import { formatDeviceString, parseDeviceString } from '../board/index.ts';
import { openDevice, type Context } from '../index.ts';

/** Two boards of a fabric of their own; of what is not emulated the same device twice: its port loops back. */
export function openTwoBoards(deviceString: string): [Context, Context] {
  const name = parseDeviceString(deviceString);
  if (name.backend !== 'emu') {
    const device = openDevice(deviceString);
    return [device, device];
  }
  const connected = formatDeviceString({
    ...name,
    options: { ...name.options, fabric: `hca-${randomUUID()}` },
  });
  const first = openDevice(connected);
  try {
    return [first, openDevice(connected)];
  } catch (error) {
    first[Symbol.dispose]();
    throw error;
  }
}
