import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { formatDeviceString, type DeviceName } from '../../board/index.ts';
import { openDevice, type Context } from '../../index.ts';
import type { Scope } from '../scope.ts';

/** The names under which observers find the PCIe functions that a scope has open, by device string. */
const opened = new WeakMap<Scope, Map<string, DeviceName>>();

/**
 * Returns the device string under which a device can be observed. Only one process can open a function on PCIe: this one opens it until the
 * scope ends, and shares its observation with itself.
 * @throws as {@link openDevice}, {@link Context.shareObservation}
 */
export function observedName(scope: Scope, name: DeviceName): DeviceName {
  if (name.backend !== 'pci' && name.backend !== 'vfio') return name;
  const ofScope = opened.get(scope) ?? new Map<string, DeviceName>();
  opened.set(scope, ofScope);
  const device = formatDeviceString(name);
  const known = ofScope.get(device) ?? shareWithin(scope, scope.use(openDevice(device)));
  ofScope.set(device, known);
  return known;
}

/** Shares the observation of a context until the scope ends. @returns the name for observers */
export function shareWithin(scope: Scope, context: Context): DeviceName {
  const folder = scope.hold(mkdtempSync(path.join(tmpdir(), 'fpga-verbs-observed-')), (made) =>
    rmSync(made, { recursive: true, force: true }),
  );
  const socket = path.join(folder, 'board');
  scope.hold(context.shareObservation(socket), (shared) => shared.close());
  return { backend: 'serve', path: socket, underlyingFunction: undefined };
}
