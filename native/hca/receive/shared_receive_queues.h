#pragma once

#include "hca/base/block.h"
#include "hca/base/numbered_objects.h"
#include "spec/enums.h"
#include "spec/parameters.h"

#include <cstdint>
#include <deque>
#include <optional>

namespace fpga_verbs::hca {

// A receive queue that several queue pairs share (InfiniBand volume 1, 10.2.9). resource_manager creates,
// changes and destroys it; descriptor_fetch advances head, tail, prefetched, limit and failure as it takes
// from it.
struct SharedReceiveQueue {
  uint32_t protection_domain = 0; // of the memory that its work requests name
  uint32_t queue_log2 = 0;        // with the three that follow it grows while the queue is in use
  uint32_t queue_pages = 0;       // page table of the references
  uint32_t entry_pages = 0;       // page table of the entries
  uint32_t entry_bytes = 0;
  uint64_t tail_address = 0;
  uint32_t queue_pairs = 0; // that receive from it
  uint16_t head = 0;
  uint16_t tail = 0;
  uint8_t prefetched = 0;
  uint16_t limit = 0; // raises an event when fewer are left; 0: no
  spec::Refusal failure = spec::Refusal::none;
};

class SharedReceiveQueues : public NumberedObjects<SharedReceiveQueue> {
public:
  SharedReceiveQueues() : NumberedObjects(spec::shared_receive_queues) {}

  struct Named {
    unsigned underlying_function = 0;
    uint32_t number = 0;
  };

  // Sets the limit and wakes descriptor_fetch, which checks whether fewer are already left.
  void arm(unsigned underlying_function, uint32_t number, uint16_t limit) {
    find(underlying_function, number)->limit = limit;
    armed_.push_back({.underlying_function = underlying_function, .number = number});
    armed_waker_.wake();
  }
  // A queue whose limit was set; it may be gone by now.
  std::optional<Named> take_armed() {
    if (armed_.empty())
      return std::nullopt;
    const Named named = armed_.front();
    armed_.pop_front();
    return named;
  }
  bool any_armed() const { return !armed_.empty(); }
  void on_armed(Waker armed) { armed_waker_ = armed; }

private:
  std::deque<Named> armed_; // a management command each, at most
  Waker armed_waker_;
};

} // namespace fpga_verbs::hca
