import { formatDeviceString, openBeside, parseDeviceString } from '../../board/index.ts';
import { DeviceFunction } from '../../driver/device_function.ts';
import type { Scope } from '../scope.ts';
import { observedName } from './own_function.ts';

/**
 * The functions whose registers a command reads: all of the board through the control function, which comes first; otherwise only the named
 * one. The scope closes them.
 */
export function observedFunctions(scope: Scope, deviceString: string): DeviceFunction[] {
  const name = observedName(scope, parseDeviceString(deviceString));
  const observe = (each: typeof name): DeviceFunction => {
    const device = new DeviceFunction(openBeside(each));
    return scope.hold(device, () => device.close());
  };
  const first = observe(name);
  const isAlone = name.backend !== 'serve' && !('options' in name && name.options.name !== undefined);
  if (first.controlPage === undefined || isAlone || !('underlyingFunction' in name)) return [first];
  const others = Array.from({ length: first.identity.underlyingFunctions - 1 }, (_, index) =>
    observe(parseDeviceString(formatDeviceString({ ...name, underlyingFunction: index + 1 }))),
  );
  return [first, ...others];
}
