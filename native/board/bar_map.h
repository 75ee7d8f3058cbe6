#pragma once

#include "board/device.h"
#include "spec/enums.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::board {

// Which page of which region an address in a function's BAR is, as the device's region table says. A function
// reaches the identity, its own register page and, as far as the device lets it, VCBs; function 0 the control
// registers too.
class BarMap {
public:
  struct Place {
    spec::RegionType region = spec::RegionType::none;
    uint16_t page = 0;   // function, or VCB
    uint32_t offset = 0; // bytes in the page
  };

  explicit BarMap(Device& device);

  // Where an access of `bytes` at `offset` goes; none: the function has nothing there.
  std::optional<Place> find(unsigned underlying_function, unsigned bar, uint64_t offset, size_t bytes) const;

  // Whether a BAR may be mapped write-combining.
  bool prefetchable(unsigned bar) const { return (prefetchable_bars_ >> bar & 1) != 0; }

private:
  struct Region {
    spec::RegionType type = spec::RegionType::none;
    unsigned bar = 0;
    unsigned stride_log2 = 0; // distance between pages, a power of two
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  std::vector<Region> regions_;
  uint64_t prefetchable_bars_ = 0; // bit per BAR
};

} // namespace fpga_verbs::board
