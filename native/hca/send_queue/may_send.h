#pragma once

#include "hca/base/sequence_number.h"
#include "spec/contexts.h"
#include "spec/enums.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Whether the state of a queue pair lets this command of it be sent. In SQD those go on that were begun
// before, and may have to be sent again (InfiniBand volume 1, 10.3.1).
inline bool may_send(const spec::QueuePairControl& control, const spec::QueuePairRequester& requester,
                     uint32_t sequence_number) {
  return control.state() != spec::QueuePairState::send_queue_drained ||
         sequence_distance(requester.begun(), sequence_number) < 0;
}

} // namespace fpga_verbs::hca
