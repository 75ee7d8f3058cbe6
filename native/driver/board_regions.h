#pragma once

#include "board/board.h"
#include "spec/enums.h"

#include <array>
#include <cstdint>
#include <optional>

namespace fpga_verbs::driver {

// Where a region of the BARs lies: the region table at the start of BAR 0 says so.
struct BoardRegion {
  unsigned bar = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // 0: the board has no such region
  uint32_t stride = 0; // from the start of a page to the next
  bool may_combine_writes = false;
};
using BoardRegions = std::array<BoardRegion, 8>; // by spec::RegionType

inline const BoardRegion& region_of(const BoardRegions& regions, spec::RegionType type) {
  return regions[static_cast<size_t>(type)];
}

BoardRegions read_regions(board::BoardFunction& function);

// The number of an open underlying function: its own register page alone can be read. Nothing: none can.
std::optional<unsigned> find_own_number(board::BoardFunction& function, const BoardRegions& regions);

} // namespace fpga_verbs::driver
