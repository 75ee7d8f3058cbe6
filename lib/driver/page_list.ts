import type { DmaMemory } from '../board/addon.ts';
import { PAGE_BYTES, PAGE_TABLE_ENTRY_BYTES, encode } from '../spec/index.ts';

/** The pages of a memory as a mailbox lists them: a page_table_entry each. */
export function pageList(memory: DmaMemory): Uint8Array {
  const pages = memory.buffer.byteLength / PAGE_BYTES;
  const first = memory.address / BigInt(PAGE_BYTES);
  const list = new Uint8Array(pages * PAGE_TABLE_ENTRY_BYTES);
  for (let page = 0; page < pages; page++) {
    list.set(
      encode('page_table_entry', { page: first + BigInt(page), valid: 1 }),
      page * PAGE_TABLE_ENTRY_BYTES,
    );
  }
  return list;
}
