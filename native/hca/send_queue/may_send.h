#pragma once

#include "hca/base/sequence_number.h"
#include "hca/queue_pair/queue_pair_parts.h"
#include "spec/enums.h"

#include <cstdint>

namespace fpga_verbs::hca {

// Whether the state of a queue pair permits sending this command. In SQD, commands that started earlier
// continue and may be retransmitted (InfiniBand volume 1, 10.3.1).
inline bool may_send(const spec::QueuePairControl& control, const SendQueueState& requester,
                     uint32_t sequence_number) {
  return control.state() != spec::QueuePairState::send_queue_drained ||
         sequence_distance(requester.begun(), sequence_number) < 0;
}

} // namespace fpga_verbs::hca
