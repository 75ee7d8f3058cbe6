import { PAGE_BYTES, WORK_QUEUE_ENTRY_ALIGNMENT } from '../spec/index.ts';

/** Places of the entries of a work queue in its entry area: aligned, none crosses a page. */
export interface EntryPlaces {
  /** Offset of the entry of each slot, bytes. */
  readonly places: Uint32Array;
  /** Length of the area in bytes, whole pages. */
  readonly areaBytes: number;
}

/** @param largest length of the largest entry in bytes, at most a page */
export function placeEntries(entries: number, largest: number): EntryPlaces {
  const entryBytes = Math.ceil(largest / WORK_QUEUE_ENTRY_ALIGNMENT) * WORK_QUEUE_ENTRY_ALIGNMENT;
  const entriesPerPage = Math.floor(PAGE_BYTES / entryBytes);
  const places = Uint32Array.from(
    { length: entries },
    (_, slot) => Math.floor(slot / entriesPerPage) * PAGE_BYTES + (slot % entriesPerPage) * entryBytes,
  );
  return { places, areaBytes: Math.ceil(entries / entriesPerPage) * PAGE_BYTES };
}
