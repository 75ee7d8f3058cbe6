#pragma once

#include "board/host_platform.h"

#include <atomic>

namespace fpga_verbs::board {

// The lock of a board: tried, never waited for in the kernel. Both operations are exchanges, so a caller that
// misses the lock has published its writes to the holder, which checks for them after unlocking.
template <class Platform> class BasicBoardLock {
public:
  bool try_lock() { return !held_.exchange(true, std::memory_order_acq_rel); }
  void unlock() { held_.exchange(false, std::memory_order_acq_rel); }

  // Spins until the holder is done.
  void lock() {
    for (typename Platform::Spin spin; !try_lock();)
      spin.wait();
  }

private:
  alignas(64) typename Platform::template Atomic<bool> held_{false};
};

using BoardLock = BasicBoardLock<HostPlatform>;

} // namespace fpga_verbs::board
