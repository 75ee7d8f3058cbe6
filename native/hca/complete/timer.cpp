#include "hca/complete/timer.h"

#include <algorithm>

namespace fpga_verbs::hca {

std::optional<Timer::Expired> Timer::take_expired(uint64_t now) {
  if (scan_at_ > now)
    return std::nullopt;
  while (scanned_ < pending_.size()) {
    Place& place = places_[pending_[scanned_]];
    if (place.deadline > now && place.deadline != no_deadline) {
      earliest_left_ = std::min(earliest_left_, place.deadline);
      ++scanned_;
      continue;
    }
    pending_[scanned_] = pending_.back();
    pending_.pop_back();
    place.pending = false;
    if (place.deadline == no_deadline)
      continue;
    place.deadline = no_deadline;
    return Expired{.underlying_function = place.underlying_function,
                   .queue_pair_number = place.queue_pair_number};
  }
  scanned_ = 0;
  scan_at_ = earliest_left_;
  earliest_left_ = no_deadline;
  return std::nullopt;
}

} // namespace fpga_verbs::hca
