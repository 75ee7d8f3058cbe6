#pragma once

#include "board/transaction.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace fpga_verbs::board {

// Records the transactions that reach the device while there is room; counts the rest.
class TransactionTrace {
public:
  // Restarts with room for `capacity` transactions.
  void start(size_t capacity) {
    transactions_.clear();
    capacity_ = capacity;
    on_ = true;
  }
  void stop() { on_ = false; }
  bool on() const { return on_; }

  void record(const Transaction& transaction) {
    if (transactions_.size() < capacity_)
      transactions_.push_back(transaction);
    else
      ++dropped_;
  }

  // Returns and clears the recorded transactions.
  std::vector<Transaction> take() { return std::exchange(transactions_, {}); }

  uint64_t dropped() const { return dropped_; }

private:
  std::vector<Transaction> transactions_;
  size_t capacity_ = 0;
  uint64_t dropped_ = 0;
  bool on_ = false;
};

} // namespace fpga_verbs::board
