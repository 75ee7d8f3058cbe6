#include "board/progress.h"

#include <algorithm>
#include <sched.h>
#include <utility>

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
  end_of_play();
  if (device_.deliver_one())
    tick();
}

uint64_t SteppedProgress::step(uint64_t count) {
  const Exclusive exclusive(*this);
  end_of_play();
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
  played_ = true;
  return device_.play(transaction);
}

void SteppedProgress::end_of_play() {
  if (std::exchange(played_, false))
    tick();
}

void SteppedProgress::advance_held_to(uint64_t time) {
  if (clock_.now() < time)
    end_of_play();
  while (clock_.now() < time) {
    if (device_.work_one())
      tick();
    else
      clock_.advance_to(std::min(time, std::max(device_.next_deadline(), clock_.now() + 1)));
  }
}

} // namespace fpga_verbs::board
