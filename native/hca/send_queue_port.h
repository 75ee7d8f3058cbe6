#pragma once

#include <cstdint>

namespace fpga_verbs::hca {

// Where resource_manager tells that a queue pair's send queue goes on: queue_pair_fetch.
class SendQueuePort {
public:
  virtual ~SendQueuePort() = default;

  // The queue pair has become RTS: what it owes is scheduled. False: no credit now; call again.
  virtual bool resume(unsigned underlying_function, uint32_t queue_pair_number) = 0;
};

} // namespace fpga_verbs::hca
