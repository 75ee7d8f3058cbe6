#include "board/held_writes.h"

#include <algorithm>

namespace fpga_verbs::board {

void HeldWrites::hold(const Transaction& transaction, bool in_order, uint64_t transactions, uint64_t ticks,
                      uint64_t now) {
  held_.push_back({transaction, transactions, ticks == 0 ? no_deadline : now + ticks, in_order});
  blocking_ += in_order ? 1 : 0;
}

void HeldWrites::count_arrival() {
  for (Held& held : held_)
    if (held.transactions_left != 0 && --held.transactions_left == 0)
      held.deadline = 0;
}

std::optional<Transaction> HeldWrites::take_due(uint64_t now, bool all) {
  bool behind = false; // a delayed one that is not due stands before
  for (auto held = held_.begin(); held != held_.end(); ++held) {
    const bool follower = !held->in_order && held->transactions_left == 0 && held->deadline == 0;
    if (all || (held->deadline <= now && !(behind && (held->in_order || follower)))) {
      const Transaction transaction = held->transaction;
      blocking_ -= held->in_order ? 1 : 0;
      held_.erase(held);
      return transaction;
    }
    behind = behind || held->in_order;
  }
  return std::nullopt;
}

uint64_t HeldWrites::earliest() const {
  uint64_t next = no_deadline;
  for (const Held& held : held_)
    if (held.deadline != 0)
      next = std::min(next, held.deadline);
  return next;
}

} // namespace fpga_verbs::board
