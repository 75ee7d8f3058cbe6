#pragma once

#include "hca/base/bit_mask.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fpga_verbs::hca {

// Deadlines of numbered objects, clock ticks, one each. One scanner goes over those that are set when the
// earliest that it knows of has come; one that was cleared meanwhile costs one visit.
class Deadlines {
public:
  static constexpr uint64_t never = ~uint64_t{0};

  explicit Deadlines(size_t size) : set_(size), times_(size, never) {}

  void set(size_t number, uint64_t time) {
    earliest_ = set_.any() ? std::min(earliest_, time) : time;
    set_.set(number);
    times_[number] = time;
    earliest_left_ = std::min(earliest_left_, time);
  }
  void clear(size_t number) { set_.clear(number); }
  bool is_set(size_t number) const { return set_.test(number); }
  uint64_t time(size_t number) const { return times_[number]; }

  // When take_due() has something to do, or has to look; never: none is set.
  uint64_t next() const { return set_.any() ? earliest_ : never; }

  // An object whose deadline has come; it is cleared. BitMask::none: there is none.
  size_t take_due(uint64_t now) {
    if (next() > now)
      return BitMask::none;
    for (size_t number = next_one(); number != BitMask::none; number = next_one()) {
      scanned_ = number + 1;
      if (times_[number] <= now) {
        set_.clear(number);
        return number;
      }
      earliest_left_ = std::min(earliest_left_, times_[number]);
    }
    scanned_ = 0;
    earliest_ = earliest_left_;
    earliest_left_ = never;
    return BitMask::none;
  }

private:
  // Of those that the scan has not passed.
  size_t next_one() const {
    if (scanned_ == 0)
      return set_.find_first();
    const size_t next = set_.find_next(scanned_ - 1);
    return next >= scanned_ ? next : BitMask::none;
  }

  BitMask set_;
  std::vector<uint64_t> times_;
  uint64_t earliest_ = never;
  size_t scanned_ = 0;             // numbers below it, in the scan that is under way
  uint64_t earliest_left_ = never; // of those
};

} // namespace fpga_verbs::hca
