#pragma once

#include "board/device.h"
#include "board/transaction.h"

#include <cstdint>
#include <deque>
#include <optional>

namespace fpga_verbs::board {

// Writes that a fault holds back, each until a number of later writes have arrived or a time has passed. A
// delayed write also holds back those behind it; later writes overtake a reordered one.
class HeldWrites {
public:
  bool any() const { return !held_.empty(); }

  // Whether a write that arrives now must wait behind a delayed one.
  bool blocks() const { return blocking_ != 0; }

  // `transactions` and `ticks`: 0 stands for no such limit; one of them is given.
  void hold(const Transaction& transaction, bool in_order, uint64_t transactions, uint64_t ticks,
            uint64_t now);

  // Queues a write behind the delayed ones.
  void follow(const Transaction& transaction) { held_.push_back({transaction, 0, 0, false}); }

  // Counts the arrival of a later write.
  void count_arrival();

  // Takes the next write that is due at `now`, or with `all` simply the next one; none: there is none.
  std::optional<Transaction> take_due(uint64_t now, bool all);

  uint64_t next_deadline() const { return held_.empty() ? no_deadline : earliest(); }

private:
  struct Held {
    Transaction transaction;
    uint64_t transactions_left = 0; // 0: not counted
    uint64_t deadline = 0;          // no_deadline: not timed; 0: due
    bool in_order = false;
  };

  uint64_t earliest() const;

  std::deque<Held> held_;
  uint64_t blocking_ = 0; // of them in order
};

} // namespace fpga_verbs::board
