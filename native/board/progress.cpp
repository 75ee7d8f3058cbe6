#include "board/progress.h"

#include <algorithm>
#include <sched.h>

namespace fpga_verbs::board {

uint32_t Progress::wait_for(const ReadAnswer& answer) {
  posted();
  uint64_t value = 0;
  while (((value = answer.load(std::memory_order_acquire)) & read_answered) == 0)
    approach();
  return static_cast<uint32_t>(value);
}

void SteppedProgress::begin_exclusive() {
  while (!lock_.try_lock())
    sched_yield();
}

void SteppedProgress::approach() {
  const Exclusive exclusive(*this);
  if (device_.deliver_one())
    tick();
}

uint64_t SteppedProgress::step(uint64_t count) {
  const Exclusive exclusive(*this);
  for (uint64_t done = 0; done < count; ++done) {
    if (!device_.work_one())
      return done;
    tick();
  }
  return count;
}

void SteppedProgress::advance_to(uint64_t time) {
  const Exclusive exclusive(*this);
  advance_held_to(time);
}

bool SteppedProgress::play(const Transaction& transaction) {
  const Exclusive exclusive(*this);
  advance_held_to(transaction.time);
  const bool same = device_.play(transaction);
  tick();
  return same;
}

void SteppedProgress::advance_held_to(uint64_t time) {
  while (clock_.now() < time) {
    if (device_.work_one())
      tick();
    else
      clock_.advance_to(std::min(time, std::max(device_.next_deadline(), clock_.now() + 1)));
  }
}

} // namespace fpga_verbs::board
