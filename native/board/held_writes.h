#pragma once

#include "board/device.h"
#include "board/transaction.h"

#include <cstdint>
#include <deque>
#include <optional>

namespace fpga_verbs::board {

// Writes that a fault holds back: each until so many later ones have arrived or so much time has passed. A
// delayed one holds those behind it too; a reordered one is passed by them.
class HeldWrites {
public:
  bool any() const { return !held_.empty(); }

  // Whether a write that arrives now has to wait behind a delayed one.
  bool blocks() const { return blocking_ != 0; }

  // `transactions` and `ticks`: 0 stands for no such limit; one of them is given.
  void hold(const Transaction& transaction, bool in_order, uint64_t transactions, uint64_t ticks,
            uint64_t now);

  // Puts a write behind the delayed ones.
  void follow(const Transaction& transaction) { held_.push_back({transaction, 0, 0, false}); }

  // Another write has arrived.
  void count_arrival();

  // The next one that is due at `now`, or with `all` the next one; none: nothing is.
  std::optional<Transaction> take_due(uint64_t now, bool all);

  uint64_t next_deadline() const;

private:
  struct Held {
    Transaction transaction;
    uint64_t transactions_left = 0; // 0: not counted
    uint64_t deadline = 0;          // no_deadline: not timed; 0: due
    bool in_order = false;
  };

  std::deque<Held> held_;
  uint64_t blocking_ = 0; // of them in order
};

} // namespace fpga_verbs::board
