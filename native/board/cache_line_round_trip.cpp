#include "board/cache_line_round_trip.h"

#include "board/board_clock.h"
#include "board/device_thread.h"

#include <atomic>
#include <cstdint>
#include <sched.h>

namespace fpga_verbs::board {

namespace {

struct alignas(64) Line {
  std::atomic<uint64_t> turn{0}; // even: the measuring thread's, odd: the other's
};

// Spins and yields now and then, so that two threads on one CPU finish too.
void wait_for(const std::atomic<uint64_t>& turn, uint64_t value) {
  constexpr unsigned looks_before_yield = 10'000;
  for (unsigned looks = 1; turn.load(std::memory_order_acquire) != value; ++looks)
    if (looks % looks_before_yield == 0)
      sched_yield();
}

} // namespace

std::vector<double> cache_line_round_trip(size_t iterations, int cpu, int other_cpu) {
  const size_t warm_up = iterations / 10;
  const size_t trips = warm_up + iterations;
  Line line;
  std::thread other = start_device_thread(other_cpu, [&line, trips] {
    for (uint64_t trip = 0; trip < trips; ++trip) {
      wait_for(line.turn, 2 * trip + 1);
      line.turn.store(2 * trip + 2, std::memory_order_release);
    }
  });
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  pin_to_cpu(cpu);
  std::vector<double> nanoseconds;
  nanoseconds.reserve(iterations);
  for (uint64_t trip = 0; trip < trips; ++trip) {
    const uint64_t begin = HostTime::now();
    line.turn.store(2 * trip + 1, std::memory_order_release);
    wait_for(line.turn, 2 * trip + 2);
    const uint64_t end = HostTime::now();
    if (trip >= warm_up)
      nanoseconds.push_back(static_cast<double>(end - begin));
  }
  sched_setaffinity(0, sizeof before, &before);
  other.join();
  return nanoseconds;
}

} // namespace fpga_verbs::board
