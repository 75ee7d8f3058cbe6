#pragma once

#include <algorithm>
#include <cstdint>

namespace fpga_verbs::board {

// When to poll an entry first that the device is about to write. Polling takes ownership of the cache line,
// and the device must get it back before it can write. The first poll is therefore delayed until three of
// four entries have arrived by then. The delay adapts: it grows by `later` after each poll that came too
// early and shrinks by `sooner` after each other one, up to a limit at which a poll is cheap by comparison.
class PollPace {
public:
  // Nanoseconds from the request to the first poll.
  uint64_t delay() const { return delay_; }

  // Records whether the first poll found the entry.
  void looked(bool found) {
    delay_ = found ? delay_ - std::min(delay_, sooner) : std::min(delay_ + later, longest);
  }

private:
  static constexpr uint64_t later = 6; // nanoseconds
  static constexpr uint64_t sooner = 2;
  static constexpr uint64_t longest = 2000;

  uint64_t delay_ = 0;
};

} // namespace fpga_verbs::board
