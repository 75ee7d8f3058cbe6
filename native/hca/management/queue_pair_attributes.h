#pragma once

#include "hca/base/parameters.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "spec/contexts.h"
#include "spec/mailboxes.h"
#include "spec/queues.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// The attributes of queue pairs for modify_queue_pair and query_queue_pair.

// Checks a modification: the state, attributes that the transition requires or does not allow, and ranges.
// Returns the error answer, or none.
std::optional<spec::ManagementCompletion> check_attributes(const spec::QueuePairControl& control,
                                                           const spec::QueuePairAttributes& input,
                                                           const HcaParameters& parameters);

// Copies the attributes of the mask, except the state, into the context parts that hold them.
void apply_attributes(const spec::QueuePairAttributes& input, QueuePairParts& queue_pair);

// All attributes, the queue positions, and the number of data units that refer to the queue pair.
spec::QueuePairAttributes attributes_of(const QueuePairParts& queue_pair, uint32_t in_flight);

// Keeps only the attributes of the queue pair's creation, in RESET.
void clear_attributes(spec::QueuePairControl& control);

} // namespace fpga_verbs::hca
