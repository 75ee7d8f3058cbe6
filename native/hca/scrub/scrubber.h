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

// The scrubber of all linked list queues (US8804752, scrubber: detects and corrects bit errors in the data
// memory), and where they report bit errors. It steps while no block is ready. In a step it checks one entry
// of each queue. Without a flipped bit that would find nothing, so it only runs from a flip until it has
// checked every entry.
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

  // For faults: the number of data units in all queues, the function of one of them by its rank, and flipping
  // one or two stored bits of it, in the same word, as `random` chooses. A data unit that has a flipped bit
  // gets no other single one.
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
