#include "board/iommu.h"

#include <algorithm>

namespace fpga_verbs::board {

namespace {

constexpr uint64_t range_bytes = uint64_t{1} << 40; // of a domain
constexpr uint64_t range_margin = uint64_t{1}
                                  << 32; // below it nothing is mapped: small numbers are not addresses

// Calls `part` for each entry of `pages_of_entry` pages that [first, first + pages) overlaps, with the
// overlap.
template <class Part>
void for_each_entry(uint64_t first, uint64_t pages, uint64_t pages_of_entry, const Part& part) {
  for (uint64_t done = 0; done < pages;) {
    const uint64_t page = first + done;
    const uint64_t here = std::min(pages - done, pages_of_entry - page % pages_of_entry);
    part(page / pages_of_entry, done, here);
    done += here;
  }
}

} // namespace

IommuDomain::IommuDomain(unsigned domain)
    : first_page_((domain * range_bytes + range_margin) / page_bytes),
      end_page_((domain + 1) * range_bytes / page_bytes), next_page_(first_page_) {}

IommuDomain::~IommuDomain() = default;

std::optional<uint64_t> IommuDomain::map(void* memory, size_t bytes, DmaRights rights) {
  auto* const begin = static_cast<uint8_t*>(memory);
  const uint64_t offset = reinterpret_cast<uintptr_t>(begin) % page_bytes;
  if (bytes == 0 || bytes > range_bytes)
    return std::nullopt;
  const uint64_t pages = (offset + bytes + page_bytes - 1) / page_bytes;
  const std::optional<uint64_t> first = find_room(pages);
  if (!first)
    return std::nullopt;
  const uint64_t address = *first * page_bytes + offset;
  // Only the first and the last page can belong partly to the caller.
  const uint64_t end = (offset + bytes - 1) % page_bytes + 1; // in the last page
  const uint64_t before = offset != 0 || (pages == 1 && end != page_bytes) ? 1 : 0;
  const uint64_t behind = pages > before && end != page_bytes ? 1 : 0;
  uint8_t* const aligned = begin - offset;
  if (before != 0)
    set_part(*first, {aligned, static_cast<uint16_t>(offset),
                      static_cast<uint16_t>(pages == 1 ? end : page_bytes), rights});
  if (const uint64_t whole = pages - before - behind; whole != 0)
    set(root_, {*first + before, whole, aligned + before * page_bytes, rights});
  if (behind != 0)
    set_part(*first + pages - 1, {aligned + (pages - 1) * page_bytes, 0, static_cast<uint16_t>(end), rights});
  forget(); // the addresses may have been asked for before they were mapped
  mappings_.emplace(*first, Mapping{pages, address});
  next_page_ = *first + pages;
  return address;
}

bool IommuDomain::map_at(uint64_t address, void* memory, size_t bytes, DmaRights rights) {
  constexpr uint64_t most_pages = uint64_t{1} << (4 * index_bits);
  const uint64_t first = address / page_bytes;
  const uint64_t pages = bytes / page_bytes;
  const auto next = mappings_.lower_bound(first);
  if (pages == 0 || first + pages > most_pages || (next != mappings_.end() && next->first < first + pages))
    return false;
  if (next != mappings_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.pages > first)
      return false;
  }
  auto* const begin = static_cast<uint8_t*>(memory);
  set(root_, {first, pages, begin, rights});
  forget();
  mappings_.emplace(first, Mapping{pages, address});
  return true;
}

bool IommuDomain::unmap(uint64_t address) {
  const auto found = mappings_.find(address / page_bytes);
  if (found == mappings_.end() || found->second.address != address)
    return false;
  clear(root_, found->first, found->second.pages);
  mappings_.erase(found);
  forget();
  return true;
}

const IommuDomain::Area& IommuDomain::look_up(uint64_t page) {
  const auto area_of = [page](const IommuPage& entry) {
    return Area{.address = page * page_bytes + entry.begin,
                .bytes = static_cast<uint64_t>(entry.end - entry.begin),
                .memory = entry.memory + entry.begin,
                .rights = entry.rights};
  };
  if (tables_ != nullptr) {
    followed_ = area_of(tables_->find(page));
    return followed_;
  }
  constexpr uint64_t most_pages = uint64_t{1} << (4 * index_bits);
  Area area = area_of(page < most_pages ? find(root_, page) : IommuPage{});
  constexpr uint64_t pages = area_bytes / page_bytes;
  if (area.bytes == page_bytes)
    area.bytes = pages_together(root_, page, pages - page % pages) * page_bytes;
  Area& kept = cache_[page / pages % cache_.size()];
  const bool is_in_the_way = kept.address / area_bytes == page / pages && kept.bytes >= area.bytes;
  Area& place = is_in_the_way ? page_cache_[page % page_cache_.size()] : kept;
  place = area;
  return place;
}

uint64_t IommuDomain::pages_together(const Leaf& leaf, uint64_t page, uint64_t most) {
  const uint64_t first = page % table_entries;
  const uint64_t end = std::min<uint64_t>(table_entries, first + most);
  uint64_t next = first + 1;
  for (; next < end; ++next) {
    const IommuPage& before = leaf.entries[next - 1];
    const IommuPage& entry = leaf.entries[next];
    if (entry.memory != before.memory + page_bytes || entry.begin != 0 || entry.end != page_bytes ||
        entry.rights != before.rights)
      break;
  }
  return next - first;
}

template <class Child>
uint64_t IommuDomain::pages_together(const Table<Child>& table, uint64_t page, uint64_t most) {
  const Entry<Child>& entry = table.entries[page / Child::pages % table_entries];
  return entry.child != nullptr ? pages_together(*entry.child, page, most)
                                : std::min(most, Child::pages - page % Child::pages);
}

// Next fit: from the last mapping to the end of the range, then from its start.
std::optional<uint64_t> IommuDomain::find_room(uint64_t pages) {
  for (const auto& [from, to] : {std::pair{next_page_, end_page_}, std::pair{first_page_, end_page_}}) {
    uint64_t candidate = from;
    auto after = mappings_.lower_bound(from);
    if (after != mappings_.begin()) {
      const auto before = std::prev(after);
      candidate = std::max(candidate, before->first + before->second.pages);
    }
    for (; after != mappings_.end() && candidate + pages > after->first; ++after)
      candidate = after->first + after->second.pages;
    if (candidate + pages <= to)
      return candidate;
  }
  return std::nullopt;
}

template <class Child> IommuPage IommuDomain::find(const Table<Child>& table, uint64_t page) {
  const Entry<Child>& entry = table.entries[page / Child::pages % table_entries];
  if (entry.child != nullptr)
    return find(*entry.child, page);
  if (entry.block == nullptr)
    return {};
  return {entry.block + page % Child::pages * page_bytes, 0, static_cast<uint16_t>(page_bytes), entry.rights};
}

void IommuDomain::set(Leaf& leaf, const Run& run) {
  for (uint64_t i = 0; i < run.pages; ++i)
    leaf.entries[(run.first + i) % table_entries] = {run.memory + i * page_bytes, 0,
                                                     static_cast<uint16_t>(page_bytes), run.rights};
  leaf.used += run.pages;
  entries_changed_ += run.pages;
}

template <class Child> void IommuDomain::set(Table<Child>& table, const Run& run) {
  for_each_entry(run.first, run.pages, Child::pages, [&](uint64_t number, uint64_t done, uint64_t pages) {
    Entry<Child>& entry = table.entries[number % table_entries];
    uint8_t* const memory = run.memory + done * page_bytes;
    if (entry.child == nullptr)
      ++table.used;
    if (pages == Child::pages && pages <= largest_block) {
      entry.block = memory;
      entry.rights = run.rights;
      ++entries_changed_;
      return;
    }
    if (entry.child == nullptr)
      entry.child = std::make_unique<Child>();
    set(*entry.child, {run.first + done, pages, memory, run.rights});
  });
}

void IommuDomain::set_part(uint64_t page, const IommuPage& part) {
  set(root_, {page, 1, part.memory, part.rights});
  Leaf& leaf = *root_.entries[page / Level3::pages]
                    .child->entries[page / Level2::pages % table_entries]
                    .child->entries[page / Leaf::pages % table_entries]
                    .child;
  leaf.entries[page % table_entries] = part;
}

void IommuDomain::clear(Leaf& leaf, uint64_t first, uint64_t pages) {
  for (uint64_t i = 0; i < pages; ++i)
    leaf.entries[(first + i) % table_entries] = {};
  leaf.used -= pages;
  entries_changed_ += pages;
}

// Unmaps existing mappings. A table is freed with its last entry, so repeated mapping and unmapping takes no
// memory.
template <class Child> void IommuDomain::clear(Table<Child>& table, uint64_t first, uint64_t pages) {
  for_each_entry(first, pages, Child::pages, [&](uint64_t number, uint64_t done, uint64_t part) {
    Entry<Child>& entry = table.entries[number % table_entries];
    if (entry.child == nullptr)
      ++entries_changed_;
    else
      clear(*entry.child, first + done, part);
    if (entry.child == nullptr || entry.child->used == 0) {
      entry = {};
      --table.used;
    }
  });
}

} // namespace fpga_verbs::board
