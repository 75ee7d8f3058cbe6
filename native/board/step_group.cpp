#include "board/step_group.h"

#include <algorithm>

namespace fpga_verbs::board {

bool StepGroup::step(bool passes_by) {
  bool worked = false;
  for (DeviceSide* const device : devices_)
    worked = device->work_one(passes_by) || worked;
  if (worked)
    tick();
  return worked;
}

bool StepGroup::advance_to(uint64_t time, uint64_t limit) {
  for (uint64_t taken = 0; clock_.now() < time; ++taken) {
    if (taken == limit)
      return false;
    if (!step(true))
      clock_.advance_to(std::min(time, std::max(next_deadline(), clock_.now() + 1)));
  }
  return true;
}

uint64_t StepGroup::next_deadline() const {
  uint64_t deadline = no_deadline;
  for (const DeviceSide* const device : devices_)
    deadline = std::min(deadline, device->next_deadline());
  return deadline;
}

} // namespace fpga_verbs::board
