#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace fpga_verbs::bench {

// manager_port's list of queue pairs that became quiet, as a read of the RTL finds it: each index once, with
// the last number.
class QuietFollow {
public:
  // A power of two.
  explicit QuietFollow(uint32_t contexts) : index_mask_(contexts - 1) {}

  // A queue pair becomes quiet in this clock.
  void arrive(uint32_t number, uint64_t clock) { arrived_.push_back({.number = number, .clock = clock}); }

  // In the first clock of an answer: the RTL has read its registers in the clock before.
  void see_read(uint64_t now) {
    while (!arrived_.empty() && arrived_.front().clock + 2 <= now)
      enter();
    has_settled_ = !listed_.empty() && listed_.front().clock + 4 <= now;
  }
  // The first one has been in the list for so long that the read must find it.
  bool has_settled() const { return has_settled_; }
  bool is_empty() const { return listed_.empty(); }
  uint32_t take() {
    const uint32_t number = listed_.front().number;
    listed_.pop_front();
    return number;
  }

private:
  struct Quiet {
    uint32_t number = 0;
    uint64_t clock = 0;
  };

  void enter() {
    const Quiet quiet = arrived_.front();
    arrived_.pop_front();
    const auto found = std::ranges::find_if(
        listed_, [&](const Quiet& each) { return ((each.number ^ quiet.number) & index_mask_) == 0; });
    if (found == listed_.end())
      listed_.push_back(quiet);
    else
      found->number = quiet.number;
  }

  uint32_t index_mask_;
  std::deque<Quiet> arrived_; // not in the list yet
  std::deque<Quiet> listed_;
  bool has_settled_ = false;
};

} // namespace fpga_verbs::bench
