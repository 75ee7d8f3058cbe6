#include "board/bar_map.h"

#include "spec/registers.h"

#include <algorithm>
#include <bit>

namespace fpga_verbs::board {

using spec::RegionType;
namespace identity = spec::identity;

namespace {

bool reaches(unsigned underlying_function, RegionType type, uint64_t page) {
  switch (type) {
  case RegionType::identity:
  case RegionType::virtual_collect_buffer: // the device knows whose they are
    return true;
  case RegionType::control:
    return underlying_function == 0;
  case RegionType::underlying_function:
    return page == underlying_function;
  case RegionType::none:
  case RegionType::msix:
    break;
  }
  return false;
}

} // namespace

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
    regions_.push_back({entry.type(), entry.bar(),
                        static_cast<unsigned>(std::countr_zero(
                            read(identity::region_page_stride + i * identity::region_page_stride_stride))),
                        read_wide(identity::region_offset + i * identity::region_offset_stride),
                        read_wide(identity::region_size + i * identity::region_size_stride)});
  }
  // What is written most is looked at first.
  std::partition(regions_.begin(), regions_.end(),
                 [](const Region& region) { return region.type == RegionType::virtual_collect_buffer; });
}

std::optional<BarMap::Place> BarMap::find(unsigned underlying_function, unsigned bar, uint64_t offset,
                                          size_t bytes) const {
  for (const Region& region : regions_) {
    if (region.bar != bar || offset < region.offset || offset - region.offset >= region.size)
      continue;
    const uint64_t inside = offset - region.offset;
    const uint64_t page = inside >> region.stride_log2;
    const uint64_t in_page = inside - (page << region.stride_log2);
    if (in_page + bytes > uint64_t{1} << region.stride_log2 ||
        !reaches(underlying_function, region.type, page))
      return std::nullopt;
    const uint64_t number = region.type == RegionType::identity ? underlying_function : page;
    return Place{region.type, static_cast<uint16_t>(number), static_cast<uint32_t>(in_page)};
  }
  return std::nullopt;
}

} // namespace fpga_verbs::board
