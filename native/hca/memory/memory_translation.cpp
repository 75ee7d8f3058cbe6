#include "hca/memory/memory_translation.h"

#include "spec/parameters.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace fpga_verbs::hca {

MemoryTranslation::MemoryTranslation(const HcaParameters& parameters, ContextMemory& context_memory)
    : context_memory_(context_memory), runs_(parameters.page_table_entries / line_entries),
      tables_(runs_.units()), keys_(parameters, context_memory) {}

std::optional<uint32_t> MemoryTranslation::create_table(unsigned underlying_function, uint32_t pages) {
  if (pages == 0 || pages > longest_table())
    return std::nullopt;
  const std::optional<uint32_t> line = runs_.allocate((pages + line_entries - 1) / line_entries);
  if (!line)
    return std::nullopt;
  tables_[*line] = {.pages = pages & 0xffffff, .underlying_function = underlying_function & 0xff};
  return *line * line_entries;
}

bool MemoryTranslation::write_entries(uint32_t table, uint32_t first,
                                      std::span<const spec::PageTableEntry> entries) {
  assert(first + entries.size() <= pages(table));
  const uint32_t begin = table + first;
  const uint32_t end = begin + static_cast<uint32_t>(entries.size());
  keys_.change();
  forget_lines(begin / line_entries, (end + line_entries - 1) / line_entries - begin / line_entries);
  return context_memory_.write_page_table(begin, entries) == DmaStatus::ok;
}

void MemoryTranslation::destroy_table(uint32_t table) {
  assert(pages(table) != 0);
  const uint32_t line = table / line_entries;
  keys_.change();
  tables_[line] = {};
  runs_.free(line);
}

// The fault of an access through a window, apart from rights and bounds.
AccessFault MemoryTranslation::check_window(const spec::MemoryKeyEntry& window, const KeyAccess& access) {
  if (window.parent() == 0)
    return AccessFault::unknown_key;
#ifndef FPGA_VERBS_MUTANT_WINDOW_OF_ANOTHER_QUEUE_PAIR
  if (window.window_type() == window_type_2 && window.bound_queue_pair() != access.queue_pair_number)
    return AccessFault::other_domain;
#endif
  // Only peers may use this key.
  return (access.rights & remote_rights) == 0 ? AccessFault::missing_right : AccessFault::none;
}

AccessFault MemoryTranslation::check(const KeyAccess& access) {
  if (access.length == 0)
    return AccessFault::none;
  if (!keys_.exists(access.underlying_function, access.key) ||
      ((keys_.is_quiesced(access.key) || keys_.is_awaited(access.key)) && !access.begun))
    return AccessFault::unknown_key;
  const spec::MemoryKeyEntry* entry = keys_.find(access.underlying_function, access.key);
  if (entry == nullptr)
    return AccessFault::unreachable;
#ifndef FPGA_VERBS_MUTANT_REMOTE_KEY_OF_ANOTHER_DOMAIN_ACCEPTED
  if (entry->protection_domain() != access.protection_domain)
    return AccessFault::other_domain;
#endif
  if (entry->is_window() != 0)
    if (const AccessFault fault = check_window(*entry, access); fault != AccessFault::none)
      return fault;
  if ((access.rights & ~entry->access_flags()) != 0)
    return AccessFault::missing_right;
  // Avoids a sum of two 64-bit numbers, which could overflow.
  const uint64_t offset = access.address - entry->base();
#ifdef FPGA_VERBS_MUTANT_BOUNDS_OFF_BY_ONE
  const uint64_t limit = entry->length() + 1;
#else
  const uint64_t limit = entry->length();
#endif
  if (access.address < entry->base() || offset > limit || access.length > limit - offset)
    return AccessFault::out_of_bounds;
  return AccessFault::none;
}

std::optional<MemoryPiece> MemoryTranslation::locate(unsigned underlying_function, uint32_t key,
                                                     uint64_t address) {
  const spec::MemoryKeyEntry* entry = keys_.find(underlying_function, key);
  if (entry == nullptr)
    return std::nullopt;
  const uint64_t place = address - entry->base() + entry->region_offset() + entry->first_page_offset();
  const uint64_t page_bytes = uint64_t{1} << entry->page_log2();
  const uint64_t in_page = place & (page_bytes - 1);
  const std::optional<uint64_t> page = page_address(entry->page_table(), place >> entry->page_log2());
  if (!page)
    return std::nullopt;
  return MemoryPiece{.address = *page + in_page, .bytes = page_bytes - in_page};
}

void MemoryTranslation::remember(const KeyAccess& access) {
  // An access that has started continues with a key that accepts no new ones.
  if (access.length == 0 || keys_.is_quiesced(access.key) || keys_.is_awaited(access.key))
    return;
  const spec::MemoryKeyEntry* const entry = keys_.find(access.underlying_function, access.key);
  if (entry == nullptr)
    return;
  const uint64_t offset = access.address - entry->base();
  const uint64_t left = entry->length() - offset;
  const uint64_t page_bytes = uint64_t{1} << entry->page_log2();
  const uint64_t place = offset + entry->region_offset() + entry->first_page_offset();
  const uint64_t page = place >> entry->page_log2();
  const bool is_window = entry->is_window() != 0;
  const std::optional<uint64_t> dma_page = page_address(entry->page_table(), page);
  if (!dma_page)
    return;
  // Following pages, contiguous in virtual and DMA addresses, as far as this and the next line of the table
  // show.
  const uint32_t first = entry->page_table() + static_cast<uint32_t>(page);
  const uint32_t end = std::min(first / line_entries * line_entries + 2 * line_entries,
                                entry->page_table() + pages(entry->page_table()));
  const CachedLine* line = cached(first / line_entries);
  uint64_t pages_bytes = page_bytes;
  for (uint32_t index = first + 1; index < end && pages_bytes < left; ++index, pages_bytes += page_bytes) {
    if (index % line_entries == 0)
      line = cached(index / line_entries);
    if (line == nullptr)
      break;
    const spec::PageTableEntry& next = line->entries[index % line_entries];
    if (next.valid() == 0 || next.page() * spec::page_bytes != *dma_page + pages_bytes)
      break;
  }
  const uint64_t in_page = place & (page_bytes - 1);
  const uint64_t before = std::min(in_page, offset);
  grants_[grant_of(access.key)].take({.version = keys_.version(),
                                      .address = access.address - before,
                                      .bytes = before + std::min(pages_bytes - in_page, left),
                                      .dma_address = *dma_page + in_page - before,
                                      .key = access.key,
                                      .protection_domain = access.protection_domain,
                                      .rights = access.rights,
                                      .queue_pair_number = access.queue_pair_number,
                                      .underlying_function = access.underlying_function,
                                      .any_queue_pair = !is_window});
}

// Memory behind that of the grant, for the same accesses, extends it: in the end it covers all of a region
// that is contiguous.
void MemoryTranslation::Grant::take(const Grant& next) {
  const uint64_t offset = next.address - address;
  if (version != next.version || key != next.key || underlying_function != next.underlying_function ||
      protection_domain != next.protection_domain || rights != next.rights ||
      queue_pair_number != next.queue_pair_number || offset > bytes ||
      next.dma_address != dma_address + offset) {
    *this = next;
    return;
  }
  bytes = std::max(bytes, offset + next.bytes);
}

const MemoryTranslation::CachedLine* MemoryTranslation::fetch(uint32_t line) {
  CachedLine& place = cache_[line % cache_lines];
  place.line = no_line;
  if (context_memory_.read_page_table(line * line_entries, place.entries) == DmaStatus::fault)
    return nullptr;
  place.line = line;
  return &place;
}

void MemoryTranslation::forget_lines(uint32_t first, uint32_t lines) {
  if (lines >= cache_lines) {
    cache_.fill({});
    return;
  }
  for (uint32_t line = first; line < first + lines; ++line)
    if (cache_[line % cache_lines].line == line)
      cache_[line % cache_lines].line = no_line;
}

void MemoryTranslation::reset_function(unsigned underlying_function) {
  keys_.reset_function(underlying_function);
  for (uint32_t line = 0; line < tables_.size(); ++line)
    if (tables_[line].pages != 0 && tables_[line].underlying_function == underlying_function)
      destroy_table(line * line_entries);
}

void MemoryTranslation::reset() {
  keys_.reset();
  runs_.reset();
  std::ranges::fill(tables_, Table{});
  cache_.fill({});
}

const char* MemoryTranslation::verify() const {
  uint32_t used = 0;
  for (const Table& table : tables_)
    if (table.pages != 0)
      used += std::bit_ceil((table.pages + line_entries - 1) / line_entries);
  return used + runs_.units_free() == runs_.units() && keys_.verify()
             ? nullptr
             : "memory_translation: tables and runs are inconsistent";
}

} // namespace fpga_verbs::hca
