#pragma once

#include "board/dma_memory.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace fpga_verbs::board {

enum class DmaRefusal : uint8_t { none, not_mapped, no_right, injected };

// A page of host memory as a domain sees it. Only [begin, end) is mapped. This is stricter than an IOMMU,
// which maps whole pages, so an access beyond a buffer faults even if the buffer ends within a page.
struct IommuPage {
  uint8_t* memory = nullptr; // address of the page's byte 0
  uint16_t begin = 0;
  uint16_t end = 0; // up to 4096; 0: not mapped
  DmaRights rights = DmaRights::none;
};

// Tables of another owner, who may change them at any time.
class PageTables {
public:
  virtual ~PageTables() = default;
  virtual IommuPage find(uint64_t page) const = 0;
};

// The DMA addresses of one function: 48 bits, 4 KiB pages, in a radix table of four levels with a small
// translation cache. A block of 2 MiB or 1 GiB is one entry, so that mapping and unmapping change at most a
// few thousand entries for any amount of memory: they run under the board's lock, which all users share. Not
// thread-safe: under that lock.
class IommuDomain {
public:
  // `domain` selects an address range of its own, so that no domain maps an address of another.
  explicit IommuDomain(unsigned domain);
  ~IommuDomain();
  IommuDomain(const IommuDomain&) = delete;
  IommuDomain& operator=(const IommuDomain&) = delete;

  // Maps `bytes` (more than 0) at `memory`; the low 12 bits of the address are those of `memory`. Addresses
  // are reused last, so that a stale one faults. Empty: no room in the range.
  std::optional<uint64_t> map(void* memory, size_t bytes, DmaRights rights);

  // Maps `bytes` of memory at `address`, both whole pages. False: the address is beyond the table, or
  // overlaps another mapping.
  bool map_at(uint64_t address, void* memory, size_t bytes, DmaRights rights);

  // False: no mapping begins at `address`.
  bool unmap(uint64_t address);

  // Uses these tables from now on instead of its own, without caching them; null: its own.
  void follow(const PageTables* tables) {
    tables_ = tables;
    forget();
  }

  size_t mappings() const { return mappings_.size(); }

  // Entries set and cleared so far.
  uint64_t entries_changed() const { return entries_changed_; }

  // Host memory of [address, address + bytes), at least one byte, from the cache: contiguous and fully mapped
  // with `right`. Null: use translate().
  uint8_t* find(uint64_t address, size_t bytes, DmaRights right) const {
    const Area& area = cache_[address / area_bytes % cache_.size()];
    if (const uint64_t offset = address - area.address; offset < area.bytes) [[likely]]
      return find(area, offset, bytes, right);
    const Area& page = page_cache_[address / page_bytes % page_cache_.size()];
    const uint64_t offset = address - page.address;
    return offset < page.bytes ? find(page, offset, bytes, right) : nullptr;
  }

  // Host memory of [address, address + bytes), within one page and fully mapped with `right`; otherwise null
  // and the reason.
  uint8_t* translate(uint64_t address, size_t bytes, DmaRights right, DmaRefusal& refusal) {
    const Area* area = &cached(address);
    if (address - area->address >= area->bytes)
      area = &look_up(address / page_bytes);
    const uint64_t offset = address - area->address;
    if (offset > area->bytes || bytes > area->bytes - offset) {
      refusal = DmaRefusal::not_mapped;
      return nullptr;
    }
    if (!has_right(*area, right)) {
      refusal = DmaRefusal::no_right;
      return nullptr;
    }
    return area->memory + offset;
  }

  static constexpr uint64_t page_bytes = 4096;

private:
  static constexpr unsigned index_bits = 9;
  static constexpr size_t table_entries = size_t{1} << index_bits;

  // An entry of a table: empty, the table below it, or one block that covers its whole range.
  template <class Child> struct Entry {
    std::unique_ptr<Child> child;
    uint8_t* block = nullptr; // address of its byte 0
    DmaRights rights = DmaRights::none;
  };
  template <class Child> struct Table {
    static constexpr uint64_t pages = Child::pages * table_entries; // that it covers
    std::array<Entry<Child>, table_entries> entries{};
    size_t used = 0;
  };
  struct Leaf {
    static constexpr uint64_t pages = table_entries;
    std::array<IommuPage, table_entries> entries{};
    size_t used = 0;
  };
  using Level2 = Table<Leaf>;
  using Level3 = Table<Level2>;
  using Level4 = Table<Level3>;
  static constexpr uint64_t largest_block = Level2::pages; // 1 GiB

  // Consecutive whole pages.
  struct Run {
    uint64_t first = 0;
    uint64_t pages = 0;
    uint8_t* memory = nullptr; // address of the first one's byte 0
    DmaRights rights = DmaRights::none;
  };

  struct Mapping {
    uint64_t pages = 0;
    uint64_t address = 0;
  };
  // Addresses that are also contiguous in host memory: whole pages or a part of one.
  struct Area {
    uint64_t address = 0;
    uint64_t bytes = 0; // 0: none
    uint8_t* memory = nullptr;
    DmaRights rights = DmaRights::none;
  };
  // A cache entry serves addresses that differ only in the low bits: those of an area, or of a page if a
  // larger area is not contiguous.
  static constexpr uint64_t area_bytes = uint64_t{64} << 10;

  static bool has_right(const Area& area, DmaRights right) {
    return (static_cast<unsigned>(area.rights) & static_cast<unsigned>(right)) != 0;
  }
  // `offset`: within the area.
  static uint8_t* find(const Area& area, uint64_t offset, size_t bytes, DmaRights right) {
    return bytes <= area.bytes - offset && has_right(area, right) ? area.memory + offset : nullptr;
  }
  const Area& cached(uint64_t address) const {
    const Area& area = cache_[address / area_bytes % cache_.size()];
    return address - area.address < area.bytes ? area
                                               : page_cache_[address / page_bytes % page_cache_.size()];
  }
  void forget() {
    cache_.fill({});
    page_cache_.fill({});
  }
  const Area& look_up(uint64_t page);
  // The number of pages from `page` on that are contiguous with it, up to `most`.
  static uint64_t pages_together(const Leaf& leaf, uint64_t page, uint64_t most);
  template <class Child>
  static uint64_t pages_together(const Table<Child>& table, uint64_t page, uint64_t most);
  std::optional<uint64_t> find_room(uint64_t pages);
  static IommuPage find(const Leaf& leaf, uint64_t page) { return leaf.entries[page % table_entries]; }
  template <class Child> static IommuPage find(const Table<Child>& table, uint64_t page);
  void set(Leaf& leaf, const Run& run);
  template <class Child> void set(Table<Child>& table, const Run& run);
  void set_part(uint64_t page, const IommuPage& entry);
  void clear(Leaf& leaf, uint64_t first, uint64_t pages);
  template <class Child> void clear(Table<Child>& table, uint64_t first, uint64_t pages);

  uint64_t first_page_;
  uint64_t end_page_;
  uint64_t next_page_;                   // where the search for room begins
  std::map<uint64_t, Mapping> mappings_; // by first page
  Level4 root_;
  uint64_t entries_changed_ = 0;
  std::array<Area, 64> cache_;
  std::array<Area, 64> page_cache_;
  const PageTables* tables_ = nullptr;
  Area followed_; // what they said last
};

} // namespace fpga_verbs::board
