// In place of board/board_clock.cpp: time advances only when the program reads the clock, so that every run
// does the same however slow the tool is that counts its instructions.
#include "board/board_clock.h"

#include <atomic>

namespace fpga_verbs::board {

namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t nanoseconds_of_a_look = 100;
std::atomic<uint64_t> looks{0};

uint64_t scale(uint64_t value, uint64_t numerator, uint64_t denominator) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Wide>(value) * numerator / denominator);
}

} // namespace

uint64_t HostTime::now() { return looks.fetch_add(1, std::memory_order_relaxed) * nanoseconds_of_a_look; }

const char* HostTime::source() { return "looks at it"; }

HostClock::HostClock(uint64_t frequency) : frequency_(frequency), begin_(0), rate_(0) {}

// As in HostClock of a board: no division if a tick is a nanosecond.
uint64_t HostClock::now() const {
  const uint64_t elapsed = HostTime::now();
  return frequency_ == second ? elapsed : scale(elapsed, frequency_, second);
}

uint64_t HostClock::nanoseconds(uint64_t ticks) const { return scale(ticks, second, frequency_) + 1; }

uint64_t HostClock::ticks(uint64_t nanoseconds) const { return scale(nanoseconds, frequency_, second) + 1; }

} // namespace fpga_verbs::board
