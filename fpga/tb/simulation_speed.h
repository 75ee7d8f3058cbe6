#pragma once

#include "bench.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace fpga_verbs::bench {

// CPU time of this process. Unit: seconds.
inline double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Runs a busy block for the given clocks; prints the work done and the CPU time. The constructor of Busy
// resets the block; its step() advances one clock and returns the units of work done. Argument: clocks.
template <class Busy> int measure(int count, char** arguments) {
  if (count != 2) {
    std::printf("usage: %s CLOCKS\n", arguments[0]);
    return 2;
  }
  constexpr uint32_t warm_up = 2000;
  const uint64_t clocks = std::strtoull(arguments[1], nullptr, 0);
  Busy busy;
  for (uint32_t clock = 0; clock < warm_up; ++clock)
    busy.step();
  uint64_t done = 0;
  const double begin = cpu_seconds();
  for (uint64_t clock = 0; clock < clocks; ++clock)
    done += busy.step();
  std::printf("%llu clocks, %llu done, %.6f s\n", static_cast<unsigned long long>(clocks),
              static_cast<unsigned long long>(done), cpu_seconds() - begin);
  return 0;
}

} // namespace fpga_verbs::bench
