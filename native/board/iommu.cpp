#include "board/iommu.h"

#include <algorithm>

namespace fpga_verbs::board {

namespace {

constexpr uint64_t range_bytes = uint64_t{1} << 40; // of a domain
constexpr uint64_t range_margin = uint64_t{1}
                                  << 32; // below it nothing is mapped: small numbers are not addresses

size_t index_at(uint64_t page, unsigned level) { return page >> (9 * (level - 1)) & 0x1ff; }

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
  for (uint64_t i = 0; i < pages; ++i) {
    const uint64_t from = i == 0 ? offset : 0;
    const uint64_t to = std::min(offset + bytes - i * page_bytes, page_bytes);
    set(*first + i,
        {begin - offset + i * page_bytes, static_cast<uint16_t>(from), static_cast<uint16_t>(to), rights});
  }
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
  for (uint64_t i = 0; i < pages; ++i)
    set(first + i, {begin + i * page_bytes, 0, static_cast<uint16_t>(page_bytes), rights});
  mappings_.emplace(first, Mapping{pages, address});
  return true;
}

bool IommuDomain::unmap(uint64_t address) {
  const auto found = mappings_.find(address / page_bytes);
  if (found == mappings_.end() || found->second.address != address)
    return false;
  for (uint64_t i = 0; i < found->second.pages; ++i)
    clear(found->first + i);
  mappings_.erase(found);
  cache_.fill({});
  return true;
}

const IommuPage& IommuDomain::look_up(uint64_t page, CachedPage& cached) {
  if (tables_ != nullptr) {
    followed_ = tables_->find(page);
    return followed_;
  }
  cached = {page, find(page)};
  return cached.entry;
}

// Next fit: from the last mapping to the end of the range, then from its begin.
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

IommuPage IommuDomain::find(uint64_t page) const {
  if (page >> (4 * index_bits) != 0)
    return {};
  const Level3* const level3 = root_.children[index_at(page, 4)].get();
  const Level2* const level2 = level3 == nullptr ? nullptr : level3->children[index_at(page, 3)].get();
  const Leaf* const leaf = level2 == nullptr ? nullptr : level2->children[index_at(page, 2)].get();
  return leaf == nullptr ? IommuPage{} : leaf->pages[index_at(page, 1)];
}

void IommuDomain::set(uint64_t page, const IommuPage& entry) {
  const auto child = [](auto& table, size_t index) -> auto& {
    auto& place = table.children[index];
    if (place == nullptr) {
      place = std::make_unique<std::decay_t<decltype(*place)>>();
      ++table.used;
    }
    return *place;
  };
  Leaf& leaf = child(child(child(root_, index_at(page, 4)), index_at(page, 3)), index_at(page, 2));
  leaf.pages[index_at(page, 1)] = entry;
  ++leaf.used;
  // The address may have been asked for before it was mapped.
  cache_[page % cache_.size()] = {};
}

// Tables go with their last entry, so that mapping and unmapping for ever takes no memory.
void IommuDomain::clear(uint64_t page) {
  auto& level3 = *root_.children[index_at(page, 4)];
  auto& level2 = *level3.children[index_at(page, 3)];
  Leaf& leaf = *level2.children[index_at(page, 2)];
  leaf.pages[index_at(page, 1)] = {};
  if (--leaf.used != 0)
    return;
  level2.children[index_at(page, 2)].reset();
  if (--level2.used != 0)
    return;
  level3.children[index_at(page, 3)].reset();
  if (--level3.used == 0) {
    root_.children[index_at(page, 4)].reset();
    --root_.used;
  }
}

} // namespace fpga_verbs::board
