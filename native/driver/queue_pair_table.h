#pragma once

#include "spec/parameters.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace fpga_verbs::driver {

class QueuePair;

// The queue pairs that exist, by number: completions and events name them. Thread-safe; a visit holds
// the mutex, so that none goes meanwhile.
class QueuePairTable {
public:
  // The caller checks the number: an index is used again.
  QueuePair* at(uint32_t number) const { return slots_[number % slots].load(std::memory_order_acquire); }
  QueuePair* find(uint32_t number) const; // null: there is none of this number

  void put(uint32_t number, QueuePair* queue_pair) {
    const std::scoped_lock lock(mutex_);
    slots_[number % slots].store(queue_pair, std::memory_order_release);
  }

  template <class Visit> void visit(Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    for (uint32_t index = 0; index < slots; ++index)
      if (QueuePair* const queue_pair = at(index))
        visit(*queue_pair);
  }
  // The queue pair of this number, if there is one.
  template <class Visit> void visit_one(uint32_t number, Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    if (QueuePair* const queue_pair = find(number))
      visit(*queue_pair);
  }

private:
  static constexpr uint32_t slots = 1u << spec::queue_pair_index_bits;

  std::mutex mutex_;
  std::unique_ptr<std::atomic<QueuePair*>[]> slots_{new std::atomic<QueuePair*>[slots]()};
};

} // namespace fpga_verbs::driver
