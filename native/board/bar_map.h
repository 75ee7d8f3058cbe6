#pragma once

#include "board/device.h"
#include "spec/enums.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::board {

// Maps an address in a function's BAR to a page of a region, according to the device's region table. A
// function reaches the identity, its own register page and, as far as the device permits, VCBs; function 0
// also reaches the control registers.
class BarMap {
public:
  struct Place {
    spec::RegionType region = spec::RegionType::none; // none: there is no such place
    uint16_t page = 0;                                // function, or VCB
    uint32_t offset = 0;                              // bytes in the page

    explicit operator bool() const { return region != spec::RegionType::none; }
  };

  explicit BarMap(Device& device);

  // The target of an access of `bytes` at `offset`; no place: the function may not access it.
  Place find(unsigned underlying_function, unsigned bar, uint64_t offset, size_t bytes) const {
    for (const Region& region : regions_) {
      if (region.bar != bar || offset - region.offset >= region.size)
        continue;
      const uint64_t inside = offset - region.offset;
      const uint64_t page = inside >> region.stride_log2;
      const uint64_t in_page = inside & region.last_in_page;
      if (in_page + bytes > region.last_in_page + 1 || !reaches(underlying_function, region.type, page))
        return {};
      const uint64_t number = region.type == spec::RegionType::identity ? underlying_function : page;
      return Place{region.type, static_cast<uint16_t>(number), static_cast<uint32_t>(in_page)};
    }
    return {};
  }

  // Whether a BAR may be mapped write-combining.
  bool prefetchable(unsigned bar) const { return (prefetchable_bars_ >> bar & 1) != 0; }

private:
  struct Region {
    spec::RegionType type = spec::RegionType::none;
    unsigned bar = 0;
    unsigned stride_log2 = 0; // distance between pages, a power of two
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t last_in_page = 0; // offset of a page's last byte
  };

  static bool reaches(unsigned underlying_function, spec::RegionType type, uint64_t page) {
    if (type == spec::RegionType::virtual_collect_buffer) [[likely]]
      return true; // the device knows whose they are
    switch (type) {
    case spec::RegionType::identity:
      return true;
    case spec::RegionType::control:
      return underlying_function == 0;
    case spec::RegionType::underlying_function:
      return page == underlying_function;
    case spec::RegionType::none:
    case spec::RegionType::virtual_collect_buffer:
    case spec::RegionType::msix:
      break;
    }
    return false;
  }

  std::vector<Region> regions_;
  uint64_t prefetchable_bars_ = 0; // bit per BAR
};

} // namespace fpga_verbs::board
