#include "pci/address_allocator.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fpga_verbs::pci {

AddressAllocator::AddressAllocator(std::vector<AddressRange> ranges, uint64_t page_bytes)
    : ranges_(std::move(ranges)), page_bytes_(page_bytes) {}

bool AddressAllocator::take(uint64_t address, uint64_t bytes) {
  if (address < page_bytes_ || bytes == 0 || address + (bytes - 1) < address)
    return false;
  const uint64_t last = address + (bytes - 1);
  const bool possible = std::ranges::any_of(ranges_, [address, last](const AddressRange& range) {
    return address >= range.first && last <= range.last;
  });
  const auto next = taken_.lower_bound(address);
  if (!possible || (next != taken_.end() && next->first <= last))
    return false;
  if (next != taken_.begin()) {
    const auto before = std::prev(next);
    if (before->first + (before->second - 1) >= address)
      return false;
  }
  taken_.emplace(address, bytes);
  return true;
}

std::optional<uint64_t> AddressAllocator::take_any(uint64_t bytes) {
  std::optional<uint64_t> address = find(next_, bytes);
  if (!address)
    address = find(0, bytes);
  if (!address || !take(*address, bytes))
    return std::nullopt;
  next_ = *address + bytes;
  return address;
}

uint64_t AddressAllocator::give_back(uint64_t address) {
  const auto found = taken_.find(address);
  if (found == taken_.end())
    return 0;
  const uint64_t bytes = found->second;
  taken_.erase(found);
  return bytes;
}

// The first free range at `from` or above.
std::optional<uint64_t> AddressAllocator::find(uint64_t from, uint64_t bytes) const {
  for (const AddressRange& range : ranges_) {
    uint64_t at = std::max({range.first, from, page_bytes_});
    auto next = taken_.upper_bound(at);
    if (next != taken_.begin())
      at = std::max(at, std::prev(next)->first + std::prev(next)->second);
    for (; at <= range.last && range.last - at >= bytes - 1; ++next) {
      if (next == taken_.end() || next->first - at >= bytes)
        return at;
      at = next->first + next->second;
    }
  }
  return std::nullopt;
}

} // namespace fpga_verbs::pci
