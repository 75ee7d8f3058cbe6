#pragma once

#include "driver/management_queue.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace fpga_verbs::driver {

class QueuePair;
class QueuePairTable;

// A completion, with what the program called its work request.
struct Completion {
  spec::CompletionQueueEntry entry;
  uint64_t id = 0;
  bool is_receive() const { return entry.work_queue() != 0; }
};

// A completion queue in host memory: the device writes entries, the host sees them by their phase and tells
// by a record in memory how far it has read (US6725296). Thread-safe; take() asks for the lock to be held.
class CompletionQueue {
public:
  CompletionQueue(DeviceFunction& function, ManagementQueue& management, const QueuePairTable& queue_pairs)
      : function_(function), management_(management), queue_pairs_(queue_pairs) {}
  ~CompletionQueue();

  // Each gives 0, or what a verb gives. `event_queue` gets the events that are asked for.
  int create(uint32_t entries, unsigned event_queue);
  // To a power of two of entries, at least as many. EINVAL too: more lie here than that.
  int resize(uint32_t entries);
  // From now on an event that is asked for comes at this completion since, or so many microseconds after the
  // first; with either of them 0 at the first.
  int moderate(uint16_t count, uint16_t period);
  int destroy();

  uint32_t number() const { return number_; }
  uint32_t entries() const { return uint32_t{1} << entries_log2_; } // no resize() meanwhile

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  // Takes the oldest completion, with the lock held, and tells the device at publish(). False: none is
  // there.
  bool take(Completion& completion);
  void publish() { head_.record().store(taken_, std::memory_order_release); }
  // Lets the device work, where polling drives it. Not held.
  bool advance() { return function_.backend().advance(); }

  // Takes up to `wanted` completions; never waits. fill(index, completion) for each; gives their number.
  template <class Fill> unsigned poll(unsigned wanted, Fill&& fill) {
    const unsigned count = take_all(wanted, fill);
    return count != 0 || wanted == 0 || !advance() ? count : take_all(wanted, fill);
  }

  // Asks for one event: at the next completion that comes, as those that lie here already are the caller's to
  // take (InfiniBand volume 1, 11.4.2.2). `solicited`: only one that the peer asked an event for, or a
  // failure.
  void arm(bool solicited);
  // The event was taken from the event queue: from now on another can be asked for.
  void event_taken() { events_taken_.fetch_add(1, std::memory_order_seq_cst); }

  // Completions of a queue pair that lie here are dropped: it was reset, or is gone. Its receives of a
  // shared queue are given back to that.
  void forget(QueuePair& queue_pair);

  // Nothing comes any more: EOVERFLOW, the device had more completions than there is room for; EIO, it is
  // gone. The first reason stays.
  void fail(int error) {
    int none = 0;
    failure_.compare_exchange_strong(none, error, std::memory_order_relaxed);
  }
  // That; 0: it works.
  int failure() const { return failure_.load(std::memory_order_relaxed); }
  // As explain().
  int explain_failure() const;

private:
  template <class Fill> unsigned take_all(unsigned wanted, Fill& fill) {
    const std::scoped_lock lock(mutex_);
    Completion completion;
    unsigned count = 0;
    const uint32_t before = taken_;
    while (count < wanted && take(completion))
      fill(count++, completion);
    if (taken_ != before)
      publish();
    return count;
  }
  static size_t place_in(uint32_t index, unsigned entries_log2) {
    return (index & ((uint32_t{1} << entries_log2) - 1)) * sizeof(spec::CompletionQueueEntry);
  }
  static uint32_t phase_of(uint32_t index, unsigned entries_log2) { return ~(index >> entries_log2) & 1; }
  size_t place_of(uint32_t index) const { return place_in(index, entries_log2_); }
  bool is_written(uint32_t index) const { return last_of(index).phase() == phase_of(index, entries_log2_); }
  // EINVAL: more completions lie here than would fit.
  int check_held(uint32_t size) const;
  // Whether the device has written over it, as where more came than there is room for.
  bool is_overwritten(uint32_t index) const;
  // Its last DWORD, which has phase and running number.
  spec::CompletionQueueEntry last_of(uint32_t index) const {
    constexpr size_t before = sizeof(spec::CompletionQueueEntry) - sizeof(uint32_t);
    spec::CompletionQueueEntry last;
    last.dwords.back() = ring_.record(place_of(index) + before).load(std::memory_order_acquire);
    return last;
  }

  DeviceFunction& function_;
  ManagementQueue& management_;
  const QueuePairTable& queue_pairs_;
  unsigned entries_log2_ = 0;
  DeviceMemory ring_;
  DeviceMemory head_;
  uint32_t number_ = 0;
  std::mutex mutex_;
  uint32_t taken_ = 0;
  uint32_t seen_ = 0; // entries that lay here when it was armed last, and those before them
  std::atomic<uint32_t> events_taken_{0};
  std::atomic<int> failure_{0};
};

} // namespace fpga_verbs::driver
