#pragma once

#include <atomic>
#include <sched.h>

namespace fpga_verbs::link {

// A lock for a few stores: an exchange and a store, inline. A thread that misses it lets others run until it
// is free. For std::scoped_lock.
class ShortLock {
public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      sched_yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

private:
  std::atomic<bool> held_{false};
};

} // namespace fpga_verbs::link
