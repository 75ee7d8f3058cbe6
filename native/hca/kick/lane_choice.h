#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace fpga_verbs::hca {

// Loads are told apart by their highest bit, up to this one: the RTL then chooses among a few sets of lanes.
constexpr int load_classes = 5;
constexpr int load_class(uint32_t load) {
  return std::min(static_cast<int>(std::bit_width(load)), load_classes);
}

// The lane for a queue pair that is on none (US8484392, TVL mapping table): the lowest idle lane of the
// level's own, otherwise the lowest idle shared one, otherwise the least loaded of all, the lowest among
// equals. At least one lane must exist. load(lane): commands kicked and not finished.
template <class Load>
constexpr unsigned least_loaded_lane(uint64_t own, uint64_t shared, uint64_t idle, const Load& load) {
  const auto lowest = [](uint64_t lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); };
  if ((own & idle) != 0)
    return lowest(own & idle);
  if ((shared & idle) != 0)
    return lowest(shared & idle);
  uint64_t rest = own | shared;
  unsigned least = lowest(rest);
  for (; rest != 0; rest &= rest - 1)
    if (load_class(load(lowest(rest))) < load_class(load(least)))
      least = lowest(rest);
  return least;
}

} // namespace fpga_verbs::hca
