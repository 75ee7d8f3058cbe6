#pragma once

#include "link/sealed_memory.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace fpga_verbs::served {

// Gives memory back to the system on a thread of its own, which takes a while where there is much of it.
class MemoryReclaimer {
public:
  // Pieces on their way, of the client that gave them.
  using Pending = std::shared_ptr<std::atomic<unsigned>>;

  // `event`: an eventfd, which outlives it, that tells of each memory that is given back.
  explicit MemoryReclaimer(int event);
  // All that it has is given back then.
  ~MemoryReclaimer();
  MemoryReclaimer(const MemoryReclaimer&) = delete;
  MemoryReclaimer& operator=(const MemoryReclaimer&) = delete;

  // `pending` is counted up now, and down when the memory is given back.
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
