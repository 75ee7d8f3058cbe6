#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace fpga_verbs::rtl {

// What the RTL of all boards of this process has done.
struct RtlCounters {
  uint64_t clocks = 0;           // of every virtual_kick
  uint64_t kicks_taken = 0;      // by virtual_kick
  uint64_t commands_started = 0; // of these; the others were refused, or their queue pair was gone
  uint64_t start_clocks = 0;     // from the clock in which a kick is taken to its start, of all that started
  uint64_t least_start_clocks = ~uint64_t{0};
  uint64_t most_start_clocks = 0;

  void add(const RtlCounters& other) {
    clocks += other.clocks;
    kicks_taken += other.kicks_taken;
    commands_started += other.commands_started;
    start_clocks += other.start_clocks;
    least_start_clocks = std::min(least_start_clocks, other.least_start_clocks);
    most_start_clocks = std::max(most_start_clocks, other.most_start_clocks);
  }
};

// The sum over the boards; each adds its own now and then, under no lock but the sum's. Thread-safe.
class RtlCountersSum {
public:
  static RtlCountersSum& of_process() {
    static RtlCountersSum sum;
    return sum;
  }

  void add(const RtlCounters& counters) {
    const std::scoped_lock lock(mutex_);
    sum_.add(counters);
  }
  RtlCounters get() {
    const std::scoped_lock lock(mutex_);
    return sum_;
  }

private:
  std::mutex mutex_;
  RtlCounters sum_;
};

} // namespace fpga_verbs::rtl
