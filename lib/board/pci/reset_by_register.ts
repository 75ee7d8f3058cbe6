import {
  CONTROL_CONTROL_OFFSET,
  CONTROL_CONTROL_RESET_MASK,
  CONTROL_CONTROL_RESET_SHIFT,
  RegionType,
} from '../../spec/index.ts';
import type { BoardFunction } from '../addon.ts';
import { readRegions } from '../regions.ts';

/** Milliseconds within which a reset is done, and more than the 100 that a device has for it. */
const timeout = 1000;

/**
 * Resets a device by its control register, where the kernel cannot reset its function: it forgets what an application that was killed
 * has made in it.
 * @param probe function 0 of a board that is known to be ours, which no other process has open
 * @throws Error: the reset does not end
 */
export function resetByRegister(probe: BoardFunction): void {
  const control = readRegions(probe).find(({ type }) => type === RegionType.control);
  if (control === undefined) return;
  const offset = control.offset + CONTROL_CONTROL_OFFSET;
  const reset = CONTROL_CONTROL_RESET_MASK << CONTROL_CONTROL_RESET_SHIFT;
  probe.write32(control.bar, offset, reset);
  const givenUp = performance.now() + timeout;
  while ((probe.read32(control.bar, offset) & reset) !== 0) {
    probe.advance();
    if (performance.now() > givenUp)
      throw new Error('the reset by its control register does not complete; expected: power off and on');
  }
}
