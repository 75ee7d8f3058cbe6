#include "board/device_thread.h"
#include "board/progress.h"

namespace fpga_verbs::board {

OwnProgress::OwnProgress(DeviceSide& device, TransactionRing& ring, const HostClock& clock, Wakeups& wakeups,
                         int cpu, uint64_t sleep_after)
    : wakeups_(wakeups), drive_(device, ring, clock, wakeups, sleep_after),
      thread_(start_device_thread(cpu, [this] { drive_.run(); })) {}

OwnProgress::~OwnProgress() {
  wakeups_.stop();
  thread_.join();
}

bool OwnProgress::poll(bool has_arrived) {
  drive_.poll(has_arrived);
  return false;
}

void OwnProgress::approach() {
  wakeups_.wake();
  thread_local HostPlatform::Spin spin;
  spin.wait();
}

} // namespace fpga_verbs::board
