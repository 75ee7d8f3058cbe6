#pragma once

#include "driver/device_function.h"
#include "driver/management_queue.h"
#include "spec/parameters.h"
#include "spec/queues.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::driver {

// An event queue of a function: the device writes, the host reads by the phase bit. For one thread.
class EventQueue {
public:
  // Signals MSI-X vector `number`; 0 takes the asynchronous events. Gives 0, or what a verb gives.
  int begin(DeviceFunction& function, ManagementQueue& management, unsigned number, unsigned entries_log2);

  // Takes the oldest event that was not taken.
  std::optional<spec::EventQueueEntry> poll();

  // Asks for one interrupt: at the next event, or at once if one lies there that was not taken.
  void arm();

private:
  DeviceFunction* function_ = nullptr;
  unsigned number_ = 0;
  unsigned entries_log2_ = 0;
  DeviceMemory ring_;
  DeviceMemory head_;
  uint32_t taken_ = 0;
};

} // namespace fpga_verbs::driver
