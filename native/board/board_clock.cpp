#include "board/board_clock.h"

#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace fpga_verbs::board {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t second = 1'000'000'000;

uint64_t monotonic_raw() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<uint64_t>(time.tv_sec) * second + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t scale(uint64_t value, uint64_t numerator, uint64_t denominator) {
  return static_cast<uint64_t>(static_cast<Wide>(value) * numerator / denominator);
}

#if defined(__x86_64__)

bool counter_is_invariant() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned invariant_bit = 1u << 8; // leaf 0x80000007, EDX: invariant time stamp counter
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & invariant_bit) != 0;
}

// Nanoseconds per count of the time stamp counter, as a fraction of 2^32.
class CounterRate {
public:
  CounterRate() : usable_(counter_is_invariant()) {
    if (!usable_)
      return;
    constexpr uint64_t measured = 3'000'000; // ns
    const Sample begin = sample();
    Sample end = begin;
    while (end.time - begin.time < measured)
      end = sample();
    begin_ = begin;
    rate_ = scale(end.time - begin.time, uint64_t{1} << 32, end.count - begin.count);
  }
  bool usable() const { return usable_; }
  uint64_t rate() const { return rate_; }
  uint64_t now() const {
    const auto counted = static_cast<Wide>(__rdtsc() - begin_.count);
    return begin_.time + static_cast<uint64_t>(counted * rate_ >> 32);
  }

private:
  struct Sample {
    uint64_t time = 0;
    uint64_t count = 0;
  };

  // The tightest of several readings of both, so that an interruption between them does not falsify the rate.
  static Sample sample() {
    Sample best;
    uint64_t tightest = ~uint64_t{0};
    for (int i = 0; i < 8; ++i) {
      const uint64_t before = __rdtsc();
      const uint64_t time = monotonic_raw();
      const uint64_t width = __rdtsc() - before;
      if (width < tightest) {
        tightest = width;
        best = {time, before + width / 2};
      }
    }
    return best;
  }

  bool usable_;
  Sample begin_;
  uint64_t rate_ = 0;
};

const CounterRate& counter_rate() {
  static const CounterRate rate;
  return rate;
}

#endif

} // namespace

uint64_t HostTime::now() {
#if defined(__x86_64__)
  if (const CounterRate& rate = counter_rate(); rate.usable())
    return rate.now();
#endif
  return monotonic_raw();
}

const char* HostTime::source() {
#if defined(__x86_64__)
  if (counter_rate().usable())
    return "time stamp counter";
#endif
  return "CLOCK_MONOTONIC_RAW";
}

HostClock::HostClock(uint64_t frequency) : frequency_(frequency), begin_(HostTime::now()), rate_(0) {
#if defined(__x86_64__)
  if (const CounterRate& counter = counter_rate(); counter.usable()) {
    begin_ = __rdtsc();
    rate_ = counter.rate();
  }
#endif
}

uint64_t HostClock::nanoseconds_since_begin() const {
#if defined(__x86_64__)
  if (rate_ != 0)
    return scale(__rdtsc() - begin_, rate_, uint64_t{1} << 32);
#endif
  return monotonic_raw() - begin_;
}

uint64_t HostClock::now() const {
  const uint64_t elapsed = nanoseconds_since_begin();
  return frequency_ == second ? elapsed : scale(elapsed, frequency_, second);
}

uint64_t HostClock::nanoseconds(uint64_t ticks) const { return scale(ticks, second, frequency_) + 1; }

uint64_t HostClock::ticks(uint64_t nanoseconds) const { return scale(nanoseconds, frequency_, second) + 1; }

} // namespace fpga_verbs::board
