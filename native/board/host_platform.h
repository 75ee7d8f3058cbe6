#pragma once

#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// Atomics and waits of the protocol between threads on a real machine.
struct HostPlatform {
  template <class Value> using Atomic = std::atomic<Value>;

  static constexpr uint64_t for_ever = ~uint64_t{0};

  // Sleeps while the word has a value, at most so long: a futex. It may end at any time without a reason.
  static void wait(Atomic<uint32_t>& word, uint32_t value, uint64_t nanoseconds);
  // Wakes the thread that sleeps on the word.
  static void wake(Atomic<uint32_t>& word);

  // Waits for another thread a moment at a time: at first without giving up the CPU.
  class Spin {
  public:
    void wait();

  private:
    unsigned looks_ = 0;
  };

  // Tells a check of interleavings what the turn of a loop that begins depends on: `state` alone of what the
  // thread has read since before the loop. Nothing here.
  struct Loop {
    void again(uint64_t /*state*/) {}
  };
};

} // namespace fpga_verbs::board
