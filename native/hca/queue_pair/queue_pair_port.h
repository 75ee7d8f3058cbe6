#pragma once

#include "spec/contexts.h"

#include <cstdint>

namespace fpga_verbs::hca {

// queue_pair_state_cache, as the check of a command's segment 0 uses it.
class QueuePairPort {
public:
  virtual ~QueuePairPort() = default;

  // Control part of the queue pair that the function owns under this number (index and generation); nullptr
  // when there is none. Good until the next call.
  virtual const spec::QueuePairControl* find_control(unsigned underlying_function,
                                                     uint32_t queue_pair_number) = 0;
};

} // namespace fpga_verbs::hca
