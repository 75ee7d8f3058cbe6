#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

// The device clock: free-running, in ticks of HcaParameters::clock_frequency.
class Clock {
public:
  virtual ~Clock() = default;
  virtual uint64_t now() const = 0;
};

// The time of the last reading of a clock, for what may be that much early: looking costs as much as a
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
