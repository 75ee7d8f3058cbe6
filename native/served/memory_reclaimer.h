#pragma once

#include "link/sealed_memory.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace fpga_verbs::served {

// Returns memory to the system on a separate thread, because large memory takes long.
class MemoryReclaimer {
public:
  // The number of pieces in progress, counted for the client that owned them.
  using Pending = std::shared_ptr<std::atomic<unsigned>>;

  // `event`: an eventfd, which outlives this object, signaled for each memory returned.
  explicit MemoryReclaimer(int event);
  // Returns all remaining memory.
  ~MemoryReclaimer();
  MemoryReclaimer(const MemoryReclaimer&) = delete;
  MemoryReclaimer& operator=(const MemoryReclaimer&) = delete;

  // Increments `pending` now, and decrements it when the memory is returned.
  void take(link::SealedMemory memory, const Pending& pending);

private:
  struct Item {
    link::SealedMemory memory;
    Pending pending;
  };

  void run();

  int event_;
  std::mutex mutex_; // of the next two
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool stop_ = false;
  std::thread thread_;
};

} // namespace fpga_verbs::served
