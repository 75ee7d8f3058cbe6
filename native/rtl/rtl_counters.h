#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace fpga_verbs::rtl {

// Counts of the work of the RTL of all boards of this process.
struct RtlCounters {
  uint64_t clocks = 0;           // of every virtual_kick
  uint64_t kicks_taken = 0;      // by virtual_kick
  uint64_t commands_started = 0; // of these; the others were refused, or their queue pair was gone
  uint64_t commands_dropped = 0; // by virtual_kick, before they were started
  uint64_t start_clocks = 0;     // from the clock in which a kick is taken to its start, of all that started
  uint64_t least_start_clocks = ~uint64_t{0};
  uint64_t most_start_clocks = 0;
  uint64_t collect_buffer_clocks = 0; // of every collect_buffer
  uint64_t beats_taken = 0;           // by collect_buffer
  uint64_t beats_stored = 0;          // of commands that were fetched
  uint64_t commands_collected = 0;    // in a PCB, and kicked
  uint64_t kick_clocks = 0;           // from the clock in which the first beat is taken to the kick
  uint64_t least_kick_clocks = ~uint64_t{0};
  uint64_t most_kick_clocks = 0;

  // A command that collect_buffer kicks.
  void kick(uint64_t clocks_to_it) {
    ++commands_collected;
    kick_clocks += clocks_to_it;
    least_kick_clocks = std::min(least_kick_clocks, clocks_to_it);
    most_kick_clocks = std::max(most_kick_clocks, clocks_to_it);
  }

  void add(const RtlCounters& other) {
    clocks += other.clocks;
    kicks_taken += other.kicks_taken;
    commands_started += other.commands_started;
    commands_dropped += other.commands_dropped;
    start_clocks += other.start_clocks;
    least_start_clocks = std::min(least_start_clocks, other.least_start_clocks);
    most_start_clocks = std::max(most_start_clocks, other.most_start_clocks);
    collect_buffer_clocks += other.collect_buffer_clocks;
    beats_taken += other.beats_taken;
    beats_stored += other.beats_stored;
    commands_collected += other.commands_collected;
    kick_clocks += other.kick_clocks;
    least_kick_clocks = std::min(least_kick_clocks, other.least_kick_clocks);
    most_kick_clocks = std::max(most_kick_clocks, other.most_kick_clocks);
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
