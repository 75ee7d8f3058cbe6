#pragma once

#include <algorithm>
#include <cstdint>

namespace fpga_verbs::board {

// When to look first at an entry that the device is about to write. A reader of a cache line takes it
// over, and the device has to get it back before it can write: so the look is put off until three entries of
// four have come. It follows them: by `later` after each that had not, by `sooner` back after each that had,
// up to a delay that a look costs little beside.
class PollPace {
public:
  // From the request to the first look, in nanoseconds.
  uint64_t delay() const { return delay_; }

  // Whether the first look found the entry.
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
