#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

// The device clock: free-running, in ticks of HcaParameters::clock_frequency.
class Clock {
public:
  virtual ~Clock() = default;
  virtual uint64_t now() const = 0;
};

} // namespace fpga_verbs::hca
