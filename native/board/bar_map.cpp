#include "board/bar_map.h"

#include "spec/registers.h"

#include <algorithm>
#include <bit>

namespace fpga_verbs::board {

using spec::RegionType;
namespace identity = spec::identity;

BarMap::BarMap(Device& device) {
  const auto read = [&device](uint32_t offset) { return device.read(RegionType::identity, 0, offset); };
  const auto read_wide = [&read](uint32_t offset) {
    const uint64_t low = read(offset);
    return low | uint64_t{read(offset + 4)} << 32;
  };
  const uint32_t count = std::min(read(identity::regions), identity::region_count);
  for (uint32_t i = 0; i < count; ++i) {
    const identity::Region entry{read(identity::region + i * identity::region_stride)};
    if (entry.prefetchable() != 0)
      prefetchable_bars_ |= uint64_t{1} << entry.bar();
    const uint32_t stride = read(identity::region_page_stride + i * identity::region_page_stride_stride);
    regions_.push_back({entry.type(), entry.bar(), static_cast<unsigned>(std::countr_zero(stride)),
                        read_wide(identity::region_offset + i * identity::region_offset_stride),
                        read_wide(identity::region_size + i * identity::region_size_stride),
                        uint64_t{stride} - 1});
  }
  // Checks the most frequently written regions first.
  std::partition(regions_.begin(), regions_.end(),
                 [](const Region& region) { return region.type == RegionType::virtual_collect_buffer; });
}

} // namespace fpga_verbs::board
