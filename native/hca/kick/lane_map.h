#pragma once

#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

// Transmit virtual lanes, a bit each: those of every function's levels, and those that all functions share
// (US8484392, TVL mapping table). A lane of both levels is shared by them.
struct LaneMap {
  using Levels = std::array<uint64_t, spec::quality_of_service_levels>;

  std::array<Levels, spec::underlying_functions> functions{};
  uint64_t shared = 0;

  uint64_t lanes(unsigned underlying_function) const {
    return functions[underlying_function][0] | functions[underlying_function][1];
  }

  // Whether every level of the first `count` functions has a lane, of its own or shared.
  bool serves(unsigned count) const {
    for (unsigned function = 0; function < count; ++function)
      for (const uint64_t own : functions[function])
        if ((own | shared) == 0)
          return false;
    return true;
  }

  bool operator==(const LaneMap&) const = default;
};

} // namespace fpga_verbs::hca
