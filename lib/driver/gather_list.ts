import { bits, isUint32, wrongRange, wrongType } from './arguments.ts';
import type { GatherEntry } from './command.ts';

/** As Array.isArray, which would make a read-only list one of any. */
const isArray: (value: unknown) => boolean = Array.isArray;

/**
 * Refuses a list that is not one of slices of memory regions, before any of it is encoded.
 * @param path `gather`, `scatter` or `bind.memory`
 * @throws TypeError: no array, or an entry is no slice; RangeError: a length has more than 32 bits
 */
export function checkGatherList(path: string, list: readonly GatherEntry[]): void {
  if (!isArray(list)) throw wrongType(path, 'an array of slices of memory regions', list);
  for (let index = 0; index < list.length; index++) {
    const entry: GatherEntry | undefined = list[index];
    const { addressLow, addressHigh, length, localKey }: Partial<GatherEntry> = entry ?? {};
    const isSlice =
      typeof addressLow === 'number' && typeof addressHigh === 'number' && typeof localKey === 'number';
    if (!isSlice) {
      const expected = 'a slice of a memory region, as region.slice() gives it';
      throw wrongType(`${path}[${index}]`, expected, entry);
    }
    if (!isUint32(length!)) throw wrongRange(`${path}[${index}].length`, `${bits(32)} B`, length);
  }
}
