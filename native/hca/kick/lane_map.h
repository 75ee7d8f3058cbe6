#pragma once

#include "hca/base/parameters.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

// Bits of the lanes before `end`, at most 64.
constexpr uint64_t lanes_below(unsigned end) { return end == 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1; }

// Transmit virtual lanes, one bit each: those of every function's levels, and those that all functions share
// (US8484392, TVL mapping table). A function's levels share a lane that belongs to both.
struct LaneMap {
  using Levels = std::array<uint64_t, spec::quality_of_service_levels>;

  std::array<Levels, spec::underlying_functions> functions{};
  uint64_t shared = 0;

  uint64_t lanes(unsigned underlying_function) const {
    return functions[underlying_function][0] | functions[underlying_function][1];
  }

  // Whether every level of the first `count` functions has a lane, its own or shared.
  bool serves(unsigned count) const {
    for (unsigned function = 0; function < count; ++function)
      for (const uint64_t own : functions[function])
        if ((own | shared) == 0)
          return false;
    return true;
  }

  bool operator==(const LaneMap&) const = default;

  // Initial division: functions get at most half of the lanes, for both of their levels; the rest is shared.
  static LaneMap initial(const HcaParameters& parameters);
};

inline LaneMap LaneMap::initial(const HcaParameters& parameters) {
  constexpr unsigned lanes_per_function = 4; // that its levels share, where the board has enough of them
  const unsigned functions = parameters.underlying_functions;
  const unsigned lanes = parameters.transmit_virtual_lanes;
  const unsigned each = std::min(lanes_per_function, lanes / (2 * functions));
  LaneMap map;
  for (unsigned function = 0; function < functions; ++function)
    map.functions[function].fill(lanes_below(each) << function * each);
  map.shared = lanes_below(lanes) & ~lanes_below(functions * each);
  return map;
}

} // namespace fpga_verbs::hca
