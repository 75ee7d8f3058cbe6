#include "hca/complete/timer.h"

#include <algorithm>

namespace fpga_verbs::hca {

void Timer::set(unsigned underlying_function, uint32_t queue_pair_number, uint64_t deadline) {
  const uint32_t index = index_of(queue_pair_number);
  Place& place = places_[index];
  if (!place.pending)
    pending_.push_back(index);
  place = {.deadline = deadline,
           .queue_pair_number = queue_pair_number,
           .underlying_function = static_cast<uint8_t>(underlying_function),
           .pending = true};
  scan_at_ = std::min(scan_at_, deadline);
  earliest_left_ = std::min(earliest_left_, deadline);
}

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
