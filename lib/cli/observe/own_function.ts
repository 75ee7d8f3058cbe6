import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { formatDeviceString, type DeviceName } from '../../board/index.ts';
import { openDevice, type Context } from '../../index.ts';
import type { Scope } from '../scope.ts';

/** Names under which functions on PCIe that a scope has open are observed, by their device strings. */
const opened = new WeakMap<Scope, Map<string, DeviceName>>();

/**
 * The name under which what a device string names is observed. A function on PCIe, which one process can have, is opened for it until the
 * scope ends, and shared with this process itself.
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

/** Shares the observation of a context until the scope ends. @returns the name that its observers take */
export function shareWithin(scope: Scope, context: Context): DeviceName {
  const folder = scope.hold(mkdtempSync(path.join(tmpdir(), 'fpga-verbs-observed-')), (made) =>
    rmSync(made, { recursive: true, force: true }),
  );
  const socket = path.join(folder, 'board');
  scope.hold(context.shareObservation(socket), (shared) => shared.close());
  return { backend: 'serve', path: socket, underlyingFunction: undefined };
}
