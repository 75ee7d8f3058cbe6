#pragma once

#include "hca/base/clock.h"

#include <cstdint>

namespace fpga_verbs::bench {

// A clock that a bench sets.
class SetClock final : public hca::Clock {
public:
  uint64_t now() const override { return now_; }
  void pass(uint64_t ticks) { now_ += ticks; }

private:
  uint64_t now_ = 1;
};

} // namespace fpga_verbs::bench
