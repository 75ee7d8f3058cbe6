#include "pci/vfio_domain.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <utility>

namespace fpga_verbs::pci {

VfioDomain::VfioDomain() : page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

VfioDomain::~VfioDomain() { close_device(); }

void VfioDomain::close_device() {
  if (device_ >= 0)
    close(std::exchange(device_, -1));
}

void VfioDomain::set_ranges(const std::vector<AddressRange>& ranges, unsigned address_bits) {
  constexpr unsigned widest = 64;
  const uint64_t last = address_bits >= widest ? ~uint64_t{0} : (uint64_t{1} << address_bits) - 1;
  std::vector<AddressRange> said;
  for (const AddressRange& range : ranges)
    if (range.first <= last)
      said.push_back({range.first, std::min(range.last, last)});
  addresses_.emplace(said, page_bytes_);
}

std::optional<uint64_t> VfioDomain::map(void* memory, size_t bytes, board::DmaRights rights) {
  const auto virtual_address = reinterpret_cast<uintptr_t>(memory);
  const uint64_t in_page = virtual_address % page_bytes_;
  const uint64_t begin = virtual_address - in_page;
  const uint64_t whole = (in_page + bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
  uint64_t address = begin;
  if (!addresses_->take(begin, whole)) {
    const std::optional<uint64_t> other = addresses_->take_any(whole);
    if (!other) {
      errno = ENOSPC;
      return std::nullopt;
    }
    address = *other;
  }
  if (map_pages(begin, address, whole, rights))
    return address + in_page;
  const int reason = errno;
  addresses_->give_back(address);
  errno = reason;
  return std::nullopt;
}

bool VfioDomain::unmap(uint64_t address) {
  const uint64_t begin = address - address % page_bytes_;
  const uint64_t bytes = addresses_->give_back(begin);
  return bytes != 0 && unmap_pages(begin, bytes);
}

} // namespace fpga_verbs::pci
