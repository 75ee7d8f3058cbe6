#pragma once

#include <atomic>
#include <cstdint>

namespace fpga_verbs::board {

// Atomics and waits of the thread protocol on a real machine.
struct HostPlatform {
  template <class Value> using Atomic = std::atomic<Value>;

  static constexpr uint64_t for_ever = ~uint64_t{0};

  // Sleeps on a futex while the word has a value, up to a timeout. May wake spuriously.
  static void wait(Atomic<uint32_t>& word, uint32_t value, uint64_t nanoseconds);
  // Wakes the thread that sleeps on the word.
  static void wake(Atomic<uint32_t>& word);

  // Waits for another thread in short steps; the first ones do not yield the CPU.
  class Spin {
  public:
    void wait();

  private:
    unsigned looks_ = 0;
  };

  // For the interleavings check: tells it that the next iteration of a loop depends only on `state`, of all
  // that the thread has read since before the loop. No effect here.
  struct Loop {
    void again(uint64_t /*state*/) {}
  };
};

} // namespace fpga_verbs::board
