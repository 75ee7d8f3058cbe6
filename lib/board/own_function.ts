import {
  RegionType,
  UNDERLYING_FUNCTION_STATUS_OFFSET,
  UNDERLYING_FUNCTION_STATUS_UNDERLYING_FUNCTION_MASK,
  UNDERLYING_FUNCTION_STATUS_UNDERLYING_FUNCTION_SHIFT,
} from '../spec/index.ts';
import type { BoardFunction } from './addon.ts';
import type { Region } from './regions.ts';

const allOnes = 0xffff_ffff;

/**
 * Finds the number of an open underlying function from the status register of its own page; the pages of other functions read all ones. It
 * tries the backend's number first. That number can be wrong only for a PCI function that is no virtual function on this machine: one in a
 * slot of its own, or a virtual function passed to a virtual machine.
 * @param regions of the board
 * @returns the backend's number if no page answers, as for a device that is gone
 */
export function readUnderlyingFunction(board: BoardFunction, regions: readonly Region[]): number {
  const { underlyingFunction } = board.facts();
  const region = regions.find(({ type }) => type === RegionType.underlyingFunction);
  if (region === undefined) return underlyingFunction;
  const others = Array.from({ length: region.pages }, (_, page) => page);
  const own = [underlyingFunction, ...others].find((page) => numberOn(board, region, page) === page);
  return own ?? underlyingFunction;
}

/** The status register on a page. */
function numberOn(
  board: BoardFunction,
  { bar, offset, pageStride }: Region,
  page: number,
): number | undefined {
  const status = board.read32(bar, offset + page * pageStride + UNDERLYING_FUNCTION_STATUS_OFFSET);
  if (status === allOnes) return undefined;
  return (
    (status >>> UNDERLYING_FUNCTION_STATUS_UNDERLYING_FUNCTION_SHIFT) &
    UNDERLYING_FUNCTION_STATUS_UNDERLYING_FUNCTION_MASK
  );
}
