#pragma once

#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/lists/scrubbed_queue.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "spec/enums.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// The scrubber of all linked list queues, which detects and corrects bit errors in their data memory
// (US8804752, scrubber) and receives the errors that the queues report. It steps while no block is ready and
// checks one entry of each queue in a step. It runs only from a flipped bit until it has checked every entry,
// because it would find nothing otherwise.
//
// An uncorrectable data unit puts its queue pair in the error state, with the events memory_error and
// queue_pair_fatal, so that its blocks flush it instead of executing it.
class Scrubber {
public:
  // The queue of a block; null: RTL, which has its own scrubber.
  struct Place {
    spec::ListBlock block;
    ScrubbedQueue* queue;
  };

  Scrubber(Counters& counters, QueuePairStateCache& queue_pairs, EventPort& events,
           const std::vector<Place>& places);
  Scrubber(const Scrubber&) = delete;
  Scrubber& operator=(const Scrubber&) = delete;

  bool has_work() const { return left_ != 0; }
  // Call only if has_work().
  void step();

  // For faults: the number of data units in all queues; the function of a data unit, by its rank; and a flip
  // of one or two random bits in a word of a data unit. A data unit with a flipped bit gets no second single
  // flip.
  size_t held() const;
  unsigned owner_of_held(size_t rank) const;
  void flip_held(size_t rank, uint64_t random, unsigned bits);

private:
  // The errors that the queue of one block reports.
  class Report final : public BitErrorPort {
  public:
    Report(Scrubber& scrubber, spec::ListBlock block) : scrubber_(scrubber), block_(block) {}
    void corrected(unsigned underlying_function) override;
    void lost(const LostDataUnit& unit) override;

  private:
    Scrubber& scrubber_;
    spec::ListBlock block_;
  };

  struct Held {
    ScrubbedQueue& queue;
    size_t rank; // in that queue
  };
  Held find_held(size_t rank) const;

  Counters& counters_;
  QueuePairStateCache& queue_pairs_;
  EventPort& events_;
  std::vector<ScrubbedQueue*> queues_;
  std::vector<Report> reports_;
  size_t most_entries_ = 0;
  size_t left_ = 0; // steps until every entry is checked
};

} // namespace fpga_verbs::hca
