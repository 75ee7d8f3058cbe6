#include "driver/board_regions.h"

#include "spec/registers.h"

#include <algorithm>

namespace fpga_verbs::driver {

namespace {

namespace identity = spec::identity;

constexpr unsigned identity_bar = 0;
constexpr uint32_t all_ones = ~uint32_t{0};

} // namespace

BoardRegions read_regions(board::BoardFunction& function) {
  const auto read = [&function](uint64_t offset) { return function.read32(identity_bar, offset); };
  const auto read64 = [&read](uint64_t offset) {
    const uint64_t low = read(offset);
    return low | uint64_t{read(offset + sizeof(uint32_t))} << 32;
  };
  BoardRegions regions;
  const uint32_t count = std::min(read(identity::regions), identity::region_count);
  for (uint32_t index = 0; index < count; ++index) {
    const uint32_t at = index * identity::region_stride;
    const identity::Region region{read(identity::region + at)};
    const auto type = static_cast<size_t>(region.type());
    if (type < regions.size())
      regions[type] = {.bar = region.bar(),
                       .offset = read64(identity::region_offset + at),
                       .bytes = read64(identity::region_size + at),
                       .stride = read(identity::region_page_stride + at),
                       .may_combine_writes = region.prefetchable() != 0};
  }
  return regions;
}

std::optional<unsigned> find_own_number(board::BoardFunction& function, const BoardRegions& regions) {
  const BoardRegion& pages = region_of(regions, spec::RegionType::underlying_function);
  const uint32_t functions = function.read32(identity_bar, identity::underlying_functions);
  for (unsigned number = 0; number < functions && functions != all_ones; ++number) {
    const uint64_t page = pages.offset + uint64_t{number} * pages.stride;
    const spec::underlying_function::Status status{
        function.read32(pages.bar, page + spec::underlying_function::status)};
    if (status.bits != all_ones && status.underlying_function() == number)
      return number;
  }
  return std::nullopt;
}

} // namespace fpga_verbs::driver
