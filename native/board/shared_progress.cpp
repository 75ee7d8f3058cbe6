#include "board/device_thread.h"
#include "board/progress.h"

#include <sched.h>

namespace fpga_verbs::board {

SharedProgress::SharedProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock,
                               Wakeups& wakeups)
    : wakeups_(wakeups), drive_(device, ring, clock, wakeups),
      thread_(start_device_thread(-1, [this] { drive_.run(); })) {}

SharedProgress::~SharedProgress() {
  wakeups_.stop();
  thread_.join();
}

void SharedProgress::posted() { drive_.drive(); }

bool SharedProgress::leave_command() { return drive_.leave_command(); }

void SharedProgress::make_room() {
  if (!drive_.drive())
    sched_yield(); // another thread has the device
}

bool SharedProgress::poll(bool has_arrived) {
  Neighbors& neighbors = Neighbors::here();
  neighbors.polls();
  const bool worked = neighbors.run(); // they may have had something for this board
  return drive_.poll(has_arrived) || worked;
}

void SharedProgress::attend(Attendance attendance) { drive_.attend(attendance); }

void SharedProgress::begin_exclusive() { drive_.begin_exclusive(); }

void SharedProgress::end_exclusive() { drive_.end_exclusive(); }

} // namespace fpga_verbs::board
