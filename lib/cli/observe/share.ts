import { setTimeout } from 'node:timers/promises';

import { openDevice } from '../../index.ts';
import type { Output } from '../output/output.ts';
import type { Scope } from '../scope.ts';

/** Interval in milliseconds between checks whether the device is gone. */
const pace = 200;

/**
 * `hca share`: opens a function and lets other processes observe it until the command is interrupted; with the control function, all functions
 * of the board. JSON: {shared, underlyingFunction}.
 */
export async function share(output: Output, deviceString: string, name: string, scope: Scope): Promise<void> {
  const { signal } = scope;
  const context = scope.use(openDevice(deviceString));
  scope.hold(context.shareObservation(name), (shared) => shared.close());
  const { device } = context.driver;
  const { underlyingFunction } = device;
  output.value({ shared: `serve:${name}`, underlyingFunction });
  const whose = underlyingFunction === 0 ? 'all functions' : `function ${underlyingFunction}`;
  output.text(`serve:${name} shows ${whose} of ${deviceString} to observers; Ctrl+C ends it\n`);
  while (!signal.aborted) {
    const { reason } = device.loss;
    if (reason !== undefined) throw reason;
    await setTimeout(pace, undefined, { signal }).catch(() => undefined);
  }
}
