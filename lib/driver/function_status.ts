import {
  UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_STATUS_ENABLED_MASK,
  UNDERLYING_FUNCTION_STATUS_ENABLED_SHIFT,
  UNDERLYING_FUNCTION_STATUS_OFFSET,
  UNDERLYING_FUNCTION_STATUS_RESET_IN_PROGRESS_MASK,
  UNDERLYING_FUNCTION_STATUS_RESET_IN_PROGRESS_SHIFT,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { VerbsError } from './errors.ts';

/** Whether the device has its memory, and its control function lets it work. @throws VerbsError ENODEV: it is gone */
export function isEnabled({ page }: DeviceFunction): boolean {
  const status = page.read32(UNDERLYING_FUNCTION_STATUS_OFFSET);
  return (
    ((status >>> UNDERLYING_FUNCTION_STATUS_ENABLED_SHIFT) & UNDERLYING_FUNCTION_STATUS_ENABLED_MASK) === 1
  );
}

/**
 * Refuses a device that has forgotten this function, and reports the loss. One that is disabled has not, and goes on when it is
 * enabled again.
 * @throws VerbsError ENODEV: it is gone, or its control function has reset it
 */
export function requireKnown(device: DeviceFunction): void {
  if (isEnabled(device)) return;
  const managementQueue = UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET;
  if (device.page.read64(managementQueue) !== 0n) return;
  const reason = new VerbsError('the control function reset the device', {
    code: 'ENODEV',
    verb: 'readRegister',
    expected: 'underlying function 0 open as long as the others; open the device again',
  });
  device.loss.report(reason);
  throw reason;
}

/** Whether a reset of the function has not come to its end. @throws VerbsError ENODEV: the device is gone */
export function isResetInProgress({ page }: DeviceFunction): boolean {
  const status = page.read32(UNDERLYING_FUNCTION_STATUS_OFFSET);
  return (
    ((status >>> UNDERLYING_FUNCTION_STATUS_RESET_IN_PROGRESS_SHIFT) &
      UNDERLYING_FUNCTION_STATUS_RESET_IN_PROGRESS_MASK) ===
    1
  );
}
