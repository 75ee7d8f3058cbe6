#pragma once

#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// Where one thread sleeps until another wakes it. The thread announces its sleep, looks once more for work,
// and sleeps or calls it off; who makes work looks for the announcement afterwards. While the thread is awake
// a wake() is one load.
class Sleeper {
public:
  static constexpr uint64_t forever = ~uint64_t{0};

  void announce() { asleep_.store(1, std::memory_order_seq_cst); }
  void call_off() { asleep_.store(0, std::memory_order_relaxed); }

  // Sleeps, after announce(), until woken or for `nanoseconds`.
  void sleep(uint64_t nanoseconds);

  void wake() {
    if (asleep_.load(std::memory_order_seq_cst) != 0)
      wake_thread();
  }

private:
  void wake_thread();

  alignas(64) std::atomic<uint32_t> asleep_{0};
};

} // namespace fpga_verbs::board
