#pragma once

#include "hca/memory/memory_translation.h"
#include "spec/enums.h"

namespace fpga_verbs::hca {

// The NAK for a failed access, caused by the peer or by this side (InfiniBand volume 1, 9.7.5.2.8).
constexpr spec::Syndrome syndrome_of(AccessFault fault) {
  return fault == AccessFault::unreachable ? spec::Syndrome::remote_operational_error
                                           : spec::Syndrome::remote_access_error;
}

// The event that a responder's queue pair raises when it enters ERR after this NAK.
constexpr spec::EventType event_of(spec::Syndrome syndrome) {
  switch (syndrome) {
  case spec::Syndrome::invalid_request:
    return spec::EventType::queue_pair_request_error;
  case spec::Syndrome::remote_access_error:
    return spec::EventType::queue_pair_access_error;
  default:
    return spec::EventType::queue_pair_fatal;
  }
}

// Kinds of syndromes of an AETH.
constexpr bool is_negative(uint8_t syndrome) {
  return syndrome >= static_cast<uint8_t>(spec::Syndrome::sequence_error);
}
constexpr bool is_receiver_not_ready(uint8_t syndrome) {
  return !is_negative(syndrome) && syndrome >= static_cast<uint8_t>(spec::Syndrome::receiver_not_ready);
}

// Whether the queue pair enters ERR after this NAK.
constexpr bool is_fatal(uint8_t syndrome) {
  return syndrome >= static_cast<uint8_t>(spec::Syndrome::invalid_request);
}

} // namespace fpga_verbs::hca
