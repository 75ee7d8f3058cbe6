import {
  CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET,
  CONTROL_CONTEXT_MEMORY_BYTES_OFFSET,
  CONTROL_CONTROL_ENABLE_MASK,
  CONTROL_CONTROL_ENABLE_SHIFT,
  CONTROL_CONTROL_OFFSET,
  CONTROL_CONTROL_RESET_MASK,
  CONTROL_CONTROL_RESET_SHIFT,
  CONTROL_HALF_WRITTEN_LIMIT_OFFSET,
  UNDERLYING_FUNCTION_RESET_OFFSET,
  UNDERLYING_FUNCTION_RESET_RESET_MASK,
  UNDERLYING_FUNCTION_RESET_RESET_SHIFT,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { VerbsError } from './errors.ts';
import { isEnabled, isResetInProgress } from './function_status.ts';

/** Milliseconds within which a reset must complete (device.md allows 100). */
const resetTimeout = 1000;
/** Seconds after which an incomplete command counts as half-written: a driver writes a command without interruption. */
const halfWrittenSeconds = 1;

/**
 * Gives the device its memory and enables it, if it is not enabled yet. Called for function 0.
 * @returns whether this call enabled it
 * @throws VerbsError ENODEV: another function, and the device is not enabled; EIO: the device does not accept the memory; ENOMEM
 */
export function enable(device: DeviceFunction): boolean {
  if (isEnabled(device)) return false;
  const { controlPage, identity } = device;
  if (controlPage === undefined) {
    throw new VerbsError('the device is not enabled', {
      code: 'ENODEV',
      verb: 'openDevice',
      expected: 'underlying function 0 open: it gives the device its memory and enables it',
    });
  }
  // A disabled device keeps its memory.
  if (controlPage.read64(CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET) !== 0n && setEnabled(device, true))
    return false;
  const memory = device.allocate(identity.contextMemoryNeeded);
  controlPage.write64(CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET, memory.address);
  controlPage.write64(CONTROL_CONTEXT_MEMORY_BYTES_OFFSET, BigInt(memory.buffer.byteLength));
  controlPage.write64(
    CONTROL_HALF_WRITTEN_LIMIT_OFFSET,
    BigInt(identity.clockFrequency) * BigInt(halfWrittenSeconds),
  );
  if (setEnabled(device, true)) return true;
  throw new VerbsError(`the device did not accept ${memory.buffer.byteLength} B of context memory`, {
    code: 'EIO',
    verb: 'openDevice',
    expected: 'memory that the device reaches by DMA',
  });
}

/**
 * Enables or disables the device. While it is disabled, no packet arrives or leaves, and posted work completes as flushed. Called for
 * function 0.
 * @returns whether the device is enabled now
 */
export function setEnabled(device: DeviceFunction, enabled: boolean): boolean {
  device.controlPage!.write32(
    CONTROL_CONTROL_OFFSET,
    enabled ? CONTROL_CONTROL_ENABLE_MASK << CONTROL_CONTROL_ENABLE_SHIFT : 0,
  );
  return isEnabled(device);
}

/** Resets the whole device, which disables it. Called for function 0. @throws VerbsError ENODEV: it is gone; ETIMEDOUT */
export function resetDevice(device: DeviceFunction): void {
  device.controlPage!.write32(
    CONTROL_CONTROL_OFFSET,
    CONTROL_CONTROL_RESET_MASK << CONTROL_CONTROL_RESET_SHIFT,
  );
  waitForReset(device);
}

/** Resets the function: the device no longer accesses its memory. @throws VerbsError ENODEV: it is gone; ETIMEDOUT */
export function resetFunction(device: DeviceFunction): void {
  device.page.write32(
    UNDERLYING_FUNCTION_RESET_OFFSET,
    UNDERLYING_FUNCTION_RESET_RESET_MASK << UNDERLYING_FUNCTION_RESET_RESET_SHIFT,
  );
  waitForReset(device);
}

function waitForReset(device: DeviceFunction): void {
  const givenUp = performance.now() + resetTimeout;
  while (isResetInProgress(device)) {
    device.board.advance();
    if (performance.now() > givenUp) {
      throw new VerbsError(
        `the reset of underlying function ${device.underlyingFunction} does not complete`,
        {
          code: 'ETIMEDOUT',
          verb: 'close',
          expected: 'a device that answers; power it off and on',
        },
      );
    }
  }
}
