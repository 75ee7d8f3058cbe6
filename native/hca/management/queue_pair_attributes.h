#pragma once

#include "hca/base/parameters.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "spec/contexts.h"
#include "spec/mailboxes.h"
#include "spec/queues.h"

#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// The attributes of queue pairs that modify_queue_pair sets and query_queue_pair shows.

// The refusal of a modification, for the state, attributes that the transition asks for or does not allow, or
// values out of range.
std::optional<spec::ManagementCompletion> check_attributes(const spec::QueuePairControl& control,
                                                           const spec::QueuePairAttributes& input,
                                                           const HcaParameters& parameters);

// Puts the attributes of the mask, but for the state, into the parts that they belong to.
void apply_attributes(const spec::QueuePairAttributes& input, QueuePairParts& queue_pair);

// All attributes, the positions of the queue, and how many data units refer to it.
spec::QueuePairAttributes attributes_of(const QueuePairParts& queue_pair, uint32_t in_flight);

// Leaves what the queue pair was created with, in RESET.
void clear_attributes(spec::QueuePairControl& control);

} // namespace fpga_verbs::hca
