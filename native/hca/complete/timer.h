#pragma once

#include "hca/base/parameters.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// One timer for each queue pair that waits for an acknowledgment or for an RNR delay. A scanner checks the
// pending timers when the earliest known deadline has arrived; a deadline that has moved back meanwhile costs
// one visit.
class Timer {
public:
  static constexpr uint64_t no_deadline = ~uint64_t{0};

  struct Expired {
    unsigned underlying_function = 0;
    uint32_t queue_pair_number = 0;
  };

  explicit Timer(const HcaParameters& parameters) : places_(parameters.queue_pairs) {}

  // Restarts or stops a queue pair's timer.
  void set(unsigned underlying_function, uint32_t queue_pair_number, uint64_t deadline) {
    const uint32_t index = index_of(queue_pair_number);
    Place& place = places_[index];
    if (!place.pending) [[unlikely]]
      pending_.push_back(index);
    place = {.deadline = deadline,
             .queue_pair_number = queue_pair_number,
             .underlying_function = static_cast<uint8_t>(underlying_function),
             .pending = true};
    scan_at_ = std::min(scan_at_, deadline);
    earliest_left_ = std::min(earliest_left_, deadline);
  }
  void clear(uint32_t queue_pair_number) { places_[index_of(queue_pair_number)].deadline = no_deadline; }
  bool is_set(uint32_t queue_pair_number) const {
    return places_[index_of(queue_pair_number)].deadline != no_deadline;
  }

  // Clock tick of the next scan; no_deadline: no timer is pending.
  uint64_t next_deadline() const { return scan_at_; }

  // Returns the next queue pair with a deadline not after `now` and stops its timer. Nothing: none is left.
  std::optional<Expired> take_expired(uint64_t now);

private:
  static constexpr uint32_t index_of(uint32_t queue_pair_number) {
    return queue_pair_number & ((1u << spec::queue_pair_index_bits) - 1);
  }

  struct Place {
    uint64_t deadline = no_deadline;
    uint32_t queue_pair_number = 0;
    uint8_t underlying_function = 0;
    bool pending = false;
  };

  std::vector<Place> places_;     // by queue pair index
  std::vector<uint32_t> pending_; // indices, each once, some stopped since
  size_t scanned_ = 0;            // of pending_, in the scan that is under way
  uint64_t scan_at_ = no_deadline;
  uint64_t earliest_left_ = no_deadline; // of those that the scan has passed
};

} // namespace fpga_verbs::hca
