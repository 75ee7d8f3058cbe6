import {
  GATHER_ENTRY_ADDRESS_HIGH_BYTE,
  GATHER_ENTRY_ADDRESS_LOW_BYTE,
  GATHER_ENTRY_BYTES,
  GATHER_ENTRY_LENGTH_BYTE,
  GATHER_ENTRY_LOCAL_KEY_BYTE,
} from '../spec/index.ts';
import { bits, isUint32, wrongRange, wrongType } from './arguments.ts';
import type { GatherEntry } from './command.ts';
import { dword } from './dword.ts';

// V8 folds a module's own constants where they are used, and loads an imported or exported one at every use.
const isDword = isUint32;
const hasNumbers = (entry: GatherEntry | null | undefined): entry is GatherEntry =>
  entry !== undefined &&
  entry !== null &&
  typeof entry.addressLow === 'number' &&
  typeof entry.addressHigh === 'number' &&
  typeof entry.localKey === 'number';

/**
 * Refuses a list that is no array.
 * @param path `gather` or `scatter`
 * @throws TypeError
 */
export function checkList(path: string, list: readonly GatherEntry[]): void {
  if (!Array.isArray(list)) throw wrongType(path, 'an array of slices of memory regions', list);
}

/**
 * Refuses a value that is no slice of a memory region.
 * @param path `gather`, `scatter` or `bind.memory`
 * @param index of the entry in its list; undefined: there is no list
 * @throws TypeError: no slice; RangeError: its length has more than 32 bits
 */
export function checkSlice(path: string, index: number | undefined, entry: GatherEntry | undefined): void {
  const isSlice = hasNumbers(entry);
  if (isSlice && isDword(entry.length)) return;
  const place = index === undefined ? path : `${path}[${index}]`;
  if (isSlice) throw wrongRange(`${place}.length`, `${bits(32)} B`, entry.length);
  throw wrongType(place, 'a slice of a memory region, as region.slice() gives it', entry);
}

/**
 * Encodes a gather or scatter list, and refuses an entry as {@link checkSlice} does, after those before it are encoded.
 * @param dwords the memory of work queue entries
 * @param first where the list begins in it, DWORDs
 */
export function encodeGatherList(
  dwords: Uint32Array,
  first: number,
  path: string,
  list: readonly GatherEntry[],
): void {
  let at = first;
  for (let index = 0; index < list.length; index++) {
    const entry = list[index]!;
    if (!hasNumbers(entry) || !isDword(entry.length)) checkSlice(path, index, entry);
    dwords[at + GATHER_ENTRY_ADDRESS_LOW_BYTE / dword] = entry.addressLow;
    dwords[at + GATHER_ENTRY_ADDRESS_HIGH_BYTE / dword] = entry.addressHigh;
    dwords[at + GATHER_ENTRY_LENGTH_BYTE / dword] = entry.length;
    dwords[at + GATHER_ENTRY_LOCAL_KEY_BYTE / dword] = entry.localKey;
    at += GATHER_ENTRY_BYTES / dword;
  }
}
