import { PAGE_BYTES, WORK_QUEUE_ENTRY_ALIGNMENT } from '../spec/index.ts';

/** Places of the entries of a work queue in its entry area: aligned, none across a page. */
export interface EntryPlaces {
  /** Where the entry of each slot begins, bytes. */
  readonly places: Uint32Array;
  /** Bytes of the area, whole pages. */
  readonly areaBytes: number;
}

/** @param largest bytes of the largest entry, at most a page */
export function placeEntries(entries: number, largest: number): EntryPlaces {
  const entryBytes = Math.ceil(largest / WORK_QUEUE_ENTRY_ALIGNMENT) * WORK_QUEUE_ENTRY_ALIGNMENT;
  const entriesPerPage = Math.floor(PAGE_BYTES / entryBytes);
  const places = Uint32Array.from(
    { length: entries },
    (_, slot) => Math.floor(slot / entriesPerPage) * PAGE_BYTES + (slot % entriesPerPage) * entryBytes,
  );
  return { places, areaBytes: Math.ceil(entries / entriesPerPage) * PAGE_BYTES };
}
