#pragma once

#include "hca/base/parameters.h"
#include "hca/memory/access_rights.h"
#include "hca/memory/context_memory.h"
#include "hca/memory/key_table.h"
#include "hca/memory/run_allocator.h"
#include "spec/contexts.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::hca {

// The reason why an access with a key is refused.
enum class AccessFault : uint8_t {
  none,
  unknown_key,   // no key, another variant of it, another function's, or one that is being taken back
  other_domain,  // of another protection domain, or a window of another queue pair
  missing_right, // the key does not allow it
  out_of_bounds,
  unreachable, // a page that is not mapped, or context memory that could not be reached
};

// An access to memory named by a key.
struct KeyAccess {
  unsigned underlying_function = 0;
  uint32_t protection_domain = 0;
  uint32_t key = 0;
  uint64_t address = 0;
  uint64_t length = 0;            // bytes
  uint32_t rights = 0;            // of access_flag, a bit each; all are asked for
  uint32_t queue_pair_number = 0; // of a peer's access; windows of type 2 belong to one
  bool begun = false; // it counts as in flight: a key that is being taken back is still good for it
};

// Contiguous bytes at a DMA address.
struct MemoryPiece {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// Keys and page tables in context memory: translate a key and address, or a position in a queue, to a DMA
// address (US6725296, queue page table). A table is a run of entries, named by the index of its first one; a
// small direct-mapped cache holds lines of eight.
class MemoryTranslation {
public:
  MemoryTranslation(const HcaParameters& parameters, ContextMemory& context_memory);

  // Allocates a table of `pages` (more than 0) entries for a function; nothing: no run of context memory is
  // long enough. The entries are undefined until all are written; writing removes them from the cache.
  std::optional<uint32_t> create_table(unsigned underlying_function, uint32_t pages);

  // Writes entries from `first` on. False: context memory is unreachable.
  bool write_entries(uint32_t table, uint32_t first, std::span<const spec::PageTableEntry> entries);

  void destroy_table(uint32_t table);

  // DMA address of byte `offset` of a table's memory, in the domain of the table's function; nothing: no such
  // table, beyond its end, not mapped, or context memory is unreachable.
  std::optional<uint64_t> translate(uint32_t table, uint64_t offset) {
    const std::optional<uint64_t> page = page_address(table, offset / spec::page_bytes);
    return page ? std::optional(*page + offset % spec::page_bytes) : std::nullopt;
  }

  KeyTable& keys() { return keys_; }
  void on_quiet(Waker quiet) { keys_.on_quiet(quiet); }
  void on_idle(Waker idle) { keys_.on_idle(idle); }

  // Whether the key permits the access; an access of 0 bytes is always permitted, with any key.
  AccessFault check(const KeyAccess& access);

  // Location of the byte `address` of an existing key's memory, and the number of contiguous bytes from
  // there; nothing: not mapped, or context memory is unreachable.
  std::optional<MemoryPiece> locate(unsigned underlying_function, uint32_t key, uint64_t address);

  // DMA address of a permitted, contiguous access, if remember() has cached one like it; nothing: use check()
  // and locate().
  std::optional<uint64_t> find_granted(const KeyAccess& access) const {
    const Grant& grant = grants_[grant_of(access.key)];
    const uint64_t offset = access.address - grant.address;
    // Avoids a sum of two 64-bit numbers that could overflow; an access of 0 bytes is never cached.
    if (grant.version != keys_.version() || grant.key != access.key ||
        grant.underlying_function != access.underlying_function ||
        grant.protection_domain != access.protection_domain || grant.rights != access.rights ||
        (grant.queue_pair_number != access.queue_pair_number && !grant.any_queue_pair) ||
        offset >= grant.bytes || access.length - 1 >= grant.bytes - offset)
      return std::nullopt;
    return grant.dma_address + offset;
  }
  // Caches a permitted access whose first byte is mapped: find_granted() then finds accesses with the same
  // right to memory contiguous with it, until a key or a table changes.
  void remember(const KeyAccess& access);

  // Entries of the longest table that could be created.
  uint32_t longest_table() const { return runs_.longest() * line_entries; }

  // Removes all keys and tables of a function, or of the device.
  void reset_function(unsigned underlying_function);
  void reset();

  // For tests: number of free entries, and whether tables and runs agree.
  uint32_t entries_free() const { return runs_.units_free() * line_entries; }
  const char* verify() const;

private:
  static constexpr uint32_t line_entries = 8; // 64 B: what one DMA reads
  static constexpr uint32_t cache_lines = 128;
  static constexpr uint32_t no_line = ~uint32_t{0};

  // A table that begins at a line; 0 pages: none.
  struct Table {
    uint32_t pages : 24 = 0;
    uint32_t underlying_function : 8 = 0;
  };
  struct CachedLine {
    uint32_t line = no_line;
    std::array<spec::PageTableEntry, line_entries> entries{};
  };

  // A permitted access, and the contiguous memory around it within the key's bounds.
  struct Grant {
    uint64_t version = 0; // of the keys; 0: none was
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint64_t dma_address = 0;
    uint32_t key = 0;
    uint32_t protection_domain = 0;
    uint32_t rights = 0; // that were asked for
    uint32_t queue_pair_number = 0;
    unsigned underlying_function = 0;
    bool any_queue_pair = false; // it is no window

    void take(const Grant& next);
  };
  static constexpr size_t grants = 16;
  static constexpr size_t grant_of(uint32_t key) { return KeyTable::index_of(key) % grants; }

  static AccessFault check_window(const spec::MemoryKeyEntry& window, const KeyAccess& access);
  // Number of pages of a table; 0: there is none.
  uint32_t pages(uint32_t table) const {
    return table % line_entries == 0 && table / line_entries < tables_.size()
               ? tables_[table / line_entries].pages
               : 0;
  }
  std::optional<uint64_t> page_address(uint32_t table, uint64_t page) {
    if (page >= pages(table))
      return std::nullopt;
    const uint32_t index = table + static_cast<uint32_t>(page);
    const CachedLine* const line = cached(index / line_entries);
    if (line == nullptr || line->entries[index % line_entries].valid() == 0)
      return std::nullopt;
    return line->entries[index % line_entries].page() * spec::page_bytes;
  }
  // Null: context memory is unreachable.
  const CachedLine* cached(uint32_t line) {
    const CachedLine& place = cache_[line % cache_lines];
    return place.line == line ? &place : fetch(line);
  }
  const CachedLine* fetch(uint32_t line);
  void forget_lines(uint32_t first, uint32_t lines);

  ContextMemory& context_memory_;
  RunAllocator runs_; // in lines
  std::vector<Table> tables_;
  std::array<CachedLine, cache_lines> cache_{};
  std::array<Grant, grants> grants_{}; // by the low bits of the key's index
  KeyTable keys_;
};

} // namespace fpga_verbs::hca
