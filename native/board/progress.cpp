#include "board/progress.h"

#include <utility>

namespace fpga_verbs::board {

uint32_t Progress::wait_for(const ReadAnswer& answer) {
  posted();
  uint64_t value = 0;
  while (((value = answer.load(std::memory_order_acquire)) & read_answered) == 0)
    approach();
  return static_cast<uint32_t>(value);
}

SteppedProgress::SteppedProgress(DeviceSide& device, Wakeups& wakeups, std::shared_ptr<StepGroup> group)
    : device_(device), wakeups_(wakeups), group_(std::move(group)) {
  const Exclusive exclusive(*this);
  group_->add(device_);
}

SteppedProgress::~SteppedProgress() {
  const Exclusive exclusive(*this);
  group_->remove(device_);
}

void SteppedProgress::begin_exclusive() { group_->lock().lock(); }

bool SteppedProgress::poll(bool has_arrived) {
  if (has_arrived)
    wakeups_.note([] {}); // the next step sees to it
  return step(1) == 1;
}

void SteppedProgress::approach() {
  const Exclusive exclusive(*this);
  end_of_play();
  if (device_.deliver_one())
    group_->tick();
}

uint64_t SteppedProgress::work(uint64_t count, bool passes_by) {
  const Exclusive exclusive(*this);
  end_of_play();
  for (uint64_t done = 0; done < count; ++done)
    if (!group_->step(passes_by))
      return done;
  return count;
}

bool SteppedProgress::advance_to(uint64_t time, uint64_t limit) {
  const Exclusive exclusive(*this);
  return advance_held_to(time, limit);
}

void SteppedProgress::let_time_pass() {
  const Exclusive exclusive(*this);
  end_of_play();
  if (group_->step(true))
    return;
  const uint64_t deadline = group_->next_deadline();
  if (deadline != no_deadline)
    group_->advance_to(deadline, no_limit);
}

bool SteppedProgress::play(const Transaction& transaction) {
  const Exclusive exclusive(*this);
  advance_held_to(transaction.time, no_limit);
  played_ = true;
  return device_.play(transaction);
}

void SteppedProgress::end_of_play() {
  if (std::exchange(played_, false))
    group_->tick();
}

bool SteppedProgress::advance_held_to(uint64_t time, uint64_t limit) {
  if (group_->clock().now() < time)
    end_of_play();
  return group_->advance_to(time, limit);
}

} // namespace fpga_verbs::board
