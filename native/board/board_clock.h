#pragma once

#include "hca/base/clock.h"

#include <cstdint>

namespace fpga_verbs::board {

// Host time in nanoseconds: the time stamp counter where it is invariant, else CLOCK_MONOTONIC_RAW. Measured
// once per process against CLOCK_MONOTONIC_RAW, to about 10 parts per million.
class HostTime {
public:
  static uint64_t now();
  static const char* source(); // "time stamp counter" or "CLOCK_MONOTONIC_RAW"
};

// A device clock in host time, from 0 at its making.
class HostClock final : public hca::Clock {
public:
  // `frequency` in hertz, 1 to 2^32.
  explicit HostClock(uint64_t frequency);
  uint64_t now() const override;
  // Nanoseconds of host time that `ticks` last, rounded up.
  uint64_t nanoseconds(uint64_t ticks) const;
  // The other way round, rounded up too.
  uint64_t ticks(uint64_t nanoseconds) const;

private:
  uint64_t nanoseconds_since_begin() const;

  uint64_t frequency_;
  uint64_t begin_; // counts of the time stamp counter where that is used, else nanoseconds
  uint64_t rate_;  // nanoseconds per count, as a fraction of 2^32; 0: the counter is not used
};

// A device clock that stands still until it is told to move.
class VirtualClock final : public hca::Clock {
public:
  uint64_t now() const override { return now_; }
  void advance_to(uint64_t now) { now_ = now; }

private:
  uint64_t now_ = 0;
};

} // namespace fpga_verbs::board
