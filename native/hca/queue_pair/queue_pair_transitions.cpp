#include "hca/queue_pair/queue_pair_transitions.h"

#include "spec/queue_pair_transitions.h"

namespace fpga_verbs::hca {

std::optional<TransitionAttributes> find_transition(spec::ServiceType service_type, spec::QueuePairState from,
                                                    spec::QueuePairState to) {
  // Valid from any state, without attributes; a connection may get another peer-visible number.
  if (to == spec::QueuePairState::reset && service_type != spec::ServiceType::unreliable_datagram)
    return TransitionAttributes{.required = {}, .optional = {spec::QueuePairAttribute::new_number}};
  if (to == spec::QueuePairState::reset || to == spec::QueuePairState::error)
    return TransitionAttributes{};
  for (const spec::QueuePairTransition& row : spec::queue_pair_transitions)
    if (row.service == service_type && row.from == from && row.to == to)
      return TransitionAttributes{QueuePairAttributeSet(row.required), QueuePairAttributeSet(row.optional)};
  return std::nullopt;
}

} // namespace fpga_verbs::hca
