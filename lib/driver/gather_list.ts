import type { GatherEntry } from './command.ts';

/**
 * Refuses what is no list of slices of memory regions, before anything of it is encoded.
 * @param attribute `gather` or `scatter`
 * @throws TypeError an entry is no slice; RangeError: its length has more than 32 bits
 */
export function checkGatherList(attribute: string, list: readonly GatherEntry[]): void {
  for (let index = 0; index < list.length; index++) {
    const { addressLow, addressHigh, length, localKey }: Partial<GatherEntry> = list[index] ?? {};
    const isSlice =
      typeof addressLow === 'number' && typeof addressHigh === 'number' && typeof localKey === 'number';
    if (!isSlice) {
      throw new TypeError(
        `${attribute}[${index}] is no slice of a memory region; region.slice() gives one, and ${attribute} is a list of them`,
      );
    }
    if (length! >>> 0 !== length) {
      throw new RangeError(`${attribute}[${index}] has ${length} B; a slice in a list has at most 2^32 - 1`);
    }
  }
}
