#pragma once

#include "hca/base/clock.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The last sampled time of a clock, for uses that tolerate an old time: reading the clock costs as much as a
// step of the device.
class SampledClock final : public Clock {
public:
  explicit SampledClock(const Clock& clock) : clock_(clock), now_(clock.now()) {}
  void sample() { now_ = clock_.now(); }
  uint64_t now() const override { return now_; }

private:
  const Clock& clock_;
  uint64_t now_;
};

} // namespace fpga_verbs::hca
