import { ManagementOpcode, PAGE_BYTES, PAGE_TABLE_ENTRY_BYTES, encode } from '../spec/index.ts';
import type { ManagementQueue } from './management_queue.ts';
import type { ProtectionDomain } from './protection_domain.ts';

/** Memory that the device reaches at consecutive DMA addresses. */
export interface DmaRange {
  readonly address: bigint;
  /** Bytes, 1 to 2^48. */
  readonly length: number;
}

const smallestPageLog2 = 12;
const largestPageLog2 = 31;

/**
 * A memory region of a function: a key, and the bytes that it names. Keys name bytes by their DMA address, as a process has no
 * other address for them here.
 */
export class MemoryRegion {
  /** L_Key and R_Key. */
  readonly key: number;
  private readonly management: ManagementQueue;

  /**
   * @param accessFlags bits of AccessFlag
   * @throws VerbsError EINVAL: rights that contradict each other; ENOMEM: no key, or no room for a page table, is left
   */
  constructor(
    management: ManagementQueue,
    protectionDomain: ProtectionDomain,
    range: DmaRange,
    accessFlags: number,
  ) {
    this.management = management;
    const { pageLog2, pages, firstPage, offset } = pagesOf(range);
    this.key = management.execute({
      verb: 'registerMemory',
      opcode: ManagementOpcode.registerMemory,
      inputFormat: 'register_memory_input',
      input: [
        encode('register_memory_input', {
          access_flags: accessFlags,
          page_log2: pageLog2,
          protection_domain: protectionDomain.number,
          base: range.address,
          length: BigInt(range.length),
          pages,
          first_page_offset: offset,
        }),
        pageListOf(firstPage, pageLog2, pages),
      ],
    }).number;
  }

  /** Takes the key back. It answers when no access with it is in flight any more: the memory may go then. */
  deregister(): void {
    this.management.execute({
      verb: 'deregisterMemory',
      opcode: ManagementOpcode.deregisterMemory,
      object: this.key,
    });
  }
}

/** The smallest page that holds a range whole, so that its list is short; the largest ones where none does. */
function pagesOf({ address, length }: DmaRange): {
  pageLog2: number;
  pages: number;
  firstPage: bigint;
  offset: number;
} {
  const last = address + BigInt(length) - 1n;
  let pageLog2 = smallestPageLog2;
  const pageOf = (at: bigint): bigint => at >> BigInt(pageLog2);
  while (pageLog2 < largestPageLog2 && pageOf(address) !== pageOf(last)) pageLog2 += 1;
  const firstPage = pageOf(address);
  return {
    pageLog2,
    pages: Number(pageOf(last) - firstPage) + 1,
    firstPage,
    offset: Number(address - (firstPage << BigInt(pageLog2))),
  };
}

/** Page list of a mailbox: a page_table_entry each, whose page numbers count pages of 4 KiB. */
function pageListOf(firstPage: bigint, pageLog2: number, pages: number): Uint8Array {
  const list = new Uint8Array(pages * PAGE_TABLE_ENTRY_BYTES);
  for (let page = 0; page < pages; page++) {
    const address = (firstPage + BigInt(page)) << BigInt(pageLog2);
    list.set(
      encode('page_table_entry', { page: address / BigInt(PAGE_BYTES), valid: 1 }),
      page * PAGE_TABLE_ENTRY_BYTES,
    );
  }
  return list;
}
