#pragma once

#include "board/board_clock.h"
#include "board/board_lock.h"
#include "board/device_side.h"

#include <cstdint>
#include <vector>

namespace fpga_verbs::board {

// The boards that are stepped together on one clock: a single board, or all stepped boards of a fabric. In
// each tick every board does at most one unit of work, in the order of creation. Its methods are called under
// its lock.
class StepGroup {
public:
  BoardLock& lock() { return lock_; }
  VirtualClock& clock() { return clock_; }

  void add(DeviceSide& device) { devices_.push_back(&device); }
  void remove(DeviceSide& device) { std::erase(devices_, &device); }

  // Runs one tick if any board has work; otherwise returns false. `passes_by` as in DeviceSide::work_one().
  bool step(bool passes_by);
  // Advances the clock to `time`, doing pending work and expiring timers at their time. False: that takes
  // more than `limit` ticks of work and waits.
  bool advance_to(uint64_t time, uint64_t limit);
  // Ends a tick.
  void tick() { clock_.advance_to(clock_.now() + 1); }

  // The clock tick at which a device has something to do although nothing arrives; no_deadline: none has.
  uint64_t next_deadline() const;

private:
  BoardLock lock_;
  VirtualClock clock_;
  std::vector<DeviceSide*> devices_;
};

} // namespace fpga_verbs::board
