#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// How many data units have left each block: what was pushed into the links that it feeds. Read by the control
// registers data_units_….
class DataUnitCounts {
public:
  // One more place where data units of a block leave; `control_register`: the offset of its register.
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
