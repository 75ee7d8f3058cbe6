#pragma once

#include "spec/contexts.h"

#include <cstdint>

namespace fpga_verbs::hca {

// The interface of queue_pair_state_cache for the check of a command's segment 0.
class QueuePairPort {
public:
  virtual ~QueuePairPort() = default;

  // Control part of the function's queue pair with this number (index and generation); nullptr: there is
  // none. Valid until the next call.
  virtual const spec::QueuePairControl* find_control(unsigned underlying_function,
                                                     uint32_t queue_pair_number) = 0;
};

} // namespace fpga_verbs::hca
