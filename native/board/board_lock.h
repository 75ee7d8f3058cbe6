#pragma once

#include <atomic>

namespace fpga_verbs::board {

// The lock of a board: tried, never waited for in the kernel. Both operations exchange, so that whoever
// misses it has published what it wrote to the holder, who looks for it after unlocking.
class BoardLock {
public:
  bool try_lock() { return !held_.exchange(true, std::memory_order_acq_rel); }
  void unlock() { held_.exchange(false, std::memory_order_acq_rel); }

private:
  alignas(64) std::atomic<bool> held_{false};
};

} // namespace fpga_verbs::board
