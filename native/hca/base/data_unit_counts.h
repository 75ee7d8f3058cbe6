#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// The number of data units that have left each block: those pushed into the links that it feeds. The control
// registers data_units_… show it.
class DataUnitCounts {
public:
  // Adds an output of a block; `control_register`: the offset of its register.
  void add(uint32_t control_register, const uint64_t& count) {
    places_.push_back({control_register, &count});
  }

  // Nothing: no such register.
  std::optional<uint64_t> of(uint32_t control_register) const {
    std::optional<uint64_t> sum;
    for (const Place& place : places_)
      if (place.control_register == control_register)
        sum = sum.value_or(0) + *place.count;
    return sum;
  }

private:
  struct Place {
    uint32_t control_register;
    const uint64_t* count;
  };
  std::vector<Place> places_;
};

} // namespace fpga_verbs::hca
