#pragma once

#include "hca/base/clock.h"

#include <cstdint>

namespace fpga_verbs::board {

// Host time in nanoseconds: the time stamp counter if it is invariant, otherwise CLOCK_MONOTONIC_RAW.
// Calibrated once per process against CLOCK_MONOTONIC_RAW, to about 10 parts per million.
class HostTime {
public:
  static uint64_t now();
  static const char* source(); // "time stamp counter" or "CLOCK_MONOTONIC_RAW"
};

// A device clock that follows host time, 0 at construction.
class HostClock final : public hca::Clock {
public:
  // `frequency` in hertz, 1 to 2^32.
  explicit HostClock(uint64_t frequency);
  uint64_t now() const override;
  // Duration of `ticks` in nanoseconds of host time, rounded up.
  uint64_t nanoseconds(uint64_t ticks) const;
  // The inverse, also rounded up.
  uint64_t ticks(uint64_t nanoseconds) const;

private:
  uint64_t nanoseconds_since_begin() const;

  uint64_t frequency_;
  uint64_t begin_; // counts of the time stamp counter where that is used, else nanoseconds
  uint64_t rate_;  // nanoseconds per count, as a fraction of 2^32; 0: the counter is not used
};

// A device clock that moves only on request.
class VirtualClock final : public hca::Clock {
public:
  uint64_t now() const override { return now_; }
  void advance_to(uint64_t now) { now_ = now; }

private:
  uint64_t now_ = 0;
};

} // namespace fpga_verbs::board
