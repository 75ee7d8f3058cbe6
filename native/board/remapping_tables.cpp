#include "board/remapping_tables.h"

#include <atomic>

namespace fpga_verbs::board {

namespace {

constexpr uint64_t entry_bytes = 16; // of root and context tables
constexpr uint64_t present = 1;
constexpr uint64_t table_address = 0x000f'ffff'ffff'f000;

// Fields of a context entry: translation type (low half, 3:2) and number of levels (high half, 2:0).
constexpr unsigned translation_type_at = 2;
constexpr uint64_t translation_type_mask = 3;
constexpr uint64_t translate_untranslated = 0;
constexpr uint64_t pass_through = 2;
constexpr uint64_t address_width_mask = 7;
constexpr unsigned least_levels = 2; // address width 0
constexpr unsigned most_levels = 4;

// Bits of a second-level entry: permissions, and large page instead of a table.
constexpr uint64_t rights_mask = 3; // bit 0 read, bit 1 write, as in DmaRights
constexpr uint64_t large_page = 1 << 7;
constexpr unsigned index_bits = 9;
constexpr uint64_t index_mask = (1 << index_bits) - 1;
constexpr unsigned largest_page_level = 3; // 1 GiB

} // namespace

IommuPage RemappingTables::find(uint64_t page) const {
  const Context entry = context();
  if ((entry.low & present) == 0)
    return {};
  const uint64_t type = entry.low >> translation_type_at & translation_type_mask;
  if (type == pass_through)
    return page_at(page * IommuDomain::page_bytes, DmaRights::read_write);
  const unsigned levels = static_cast<unsigned>(entry.high & address_width_mask) + least_levels;
  if (type != translate_untranslated || levels > most_levels || page >> (levels * index_bits) != 0)
    return {};
  uint64_t table = entry.low & table_address;
  uint64_t rights = rights_mask; // those of all levels
  for (unsigned level = levels;; --level) {
    const unsigned below = (level - 1) * index_bits;
    const uint64_t found = load(table + (page >> below & index_mask) * sizeof(uint64_t));
    rights &= found;
    if (rights == 0)
      return {};
    table = found & table_address;
    const bool is_large = level > 1 && level <= largest_page_level && (found & large_page) != 0;
    if (level > 1 && !is_large)
      continue;
    const uint64_t pages_inside = (uint64_t{1} << below) - 1;
    const uint64_t first = table / IommuDomain::page_bytes & ~pages_inside;
    return page_at((first | (page & pages_inside)) * IommuDomain::page_bytes, static_cast<DmaRights>(rights));
  }
}

RemappingTables::Context RemappingTables::context() const {
  const uint64_t bus = root_.source_id >> 8;
  const uint64_t root = load((root_.root_table & table_address) + bus * entry_bytes);
  if ((root & present) == 0)
    return {};
  const uint64_t place = (root & table_address) + (root_.source_id & 0xffU) * entry_bytes;
  return {load(place), load(place + sizeof(uint64_t))};
}

uint64_t RemappingTables::load(uint64_t address) const {
  if (address > bytes_ - sizeof(uint64_t))
    return 0;
  return std::atomic_ref(*reinterpret_cast<uint64_t*>(memory_ + address)).load(std::memory_order_acquire);
}

IommuPage RemappingTables::page_at(uint64_t address, DmaRights rights) const {
  if (address > bytes_ - IommuDomain::page_bytes)
    return {};
  return {memory_ + address, 0, static_cast<uint16_t>(IommuDomain::page_bytes), rights};
}

} // namespace fpga_verbs::board
