#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

// The interface of queue_pair_fetch through which resource_manager controls and queries a queue pair's send
// queue.
class SendQueuePort {
public:
  virtual ~SendQueuePort() = default;

  // The queue pair has become RTS: schedules its pending commands. False: no credit now; call again.
  virtual bool resume(unsigned underlying_function, uint32_t queue_pair_number) = 0;

  // Whether a command of the queue pair waits there.
  virtual bool has_commands(uint32_t queue_pair_number) const = 0;
};

} // namespace fpga_verbs::hca
