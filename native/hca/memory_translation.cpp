#include "hca/memory_translation.h"

#include "spec/parameters.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace fpga_verbs::hca {

MemoryTranslation::MemoryTranslation(const HcaParameters& parameters, ContextMemory& context_memory)
    : context_memory_(context_memory), runs_(parameters.page_table_entries / line_entries),
      tables_(runs_.units()) {}

std::optional<uint32_t> MemoryTranslation::create_table(unsigned underlying_function, uint32_t pages) {
  if (pages == 0 || pages > longest_table())
    return std::nullopt;
  const std::optional<uint32_t> line = runs_.allocate((pages + line_entries - 1) / line_entries);
  if (!line)
    return std::nullopt;
  tables_[*line] = {.pages = pages & 0xffffff, .underlying_function = underlying_function & 0xff};
  return *line * line_entries;
}

uint32_t MemoryTranslation::pages(uint32_t table) const {
  return table % line_entries == 0 && table / line_entries < tables_.size()
             ? tables_[table / line_entries].pages
             : 0;
}

bool MemoryTranslation::write_entries(uint32_t table, uint32_t first,
                                      std::span<const spec::PageTableEntry> entries) {
  assert(first + entries.size() <= pages(table));
  const uint32_t begin = table + first;
  const uint32_t end = begin + static_cast<uint32_t>(entries.size());
  forget_lines(begin / line_entries, (end + line_entries - 1) / line_entries - begin / line_entries);
  return context_memory_.write_page_table(begin, entries) == DmaStatus::ok;
}

void MemoryTranslation::destroy_table(uint32_t table) {
  assert(pages(table) != 0);
  const uint32_t line = table / line_entries;
  tables_[line] = {};
  runs_.free(line);
}

std::optional<uint64_t> MemoryTranslation::translate(uint32_t table, uint64_t offset) {
  const uint64_t page = offset / spec::page_bytes;
  if (page >= pages(table))
    return std::nullopt;
  const uint32_t index = table + static_cast<uint32_t>(page);
  const CachedLine* line = cached(index / line_entries);
  if (line == nullptr)
    return std::nullopt;
  const spec::PageTableEntry& entry = line->entries[index % line_entries];
  if (entry.valid() == 0)
    return std::nullopt;
  return entry.page() * spec::page_bytes + offset % spec::page_bytes;
}

const MemoryTranslation::CachedLine* MemoryTranslation::cached(uint32_t line) {
  CachedLine& place = cache_[line % cache_lines];
  if (place.line == line)
    return &place;
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
  for (uint32_t line = 0; line < tables_.size(); ++line)
    if (tables_[line].pages != 0 && tables_[line].underlying_function == underlying_function)
      destroy_table(line * line_entries);
}

void MemoryTranslation::reset() {
  runs_.reset();
  std::ranges::fill(tables_, Table{});
  cache_.fill({});
}

bool MemoryTranslation::verify() const {
  uint32_t used = 0;
  for (const Table& table : tables_)
    if (table.pages != 0)
      used += std::bit_ceil((table.pages + line_entries - 1) / line_entries);
  return used + runs_.units_free() == runs_.units();
}

} // namespace fpga_verbs::hca
