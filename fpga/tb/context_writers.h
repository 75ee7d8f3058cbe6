#pragma once

#include "spec/contexts.h"

#include <cstdint>

namespace fpga_verbs::bench {

// The fields of each writer. Parts is a struct with at least the writer's part of a context.
template <class Parts> void set_fetch(Parts& to, const spec::QueuePairRequester& from) {
  const uint32_t built_psn = static_cast<uint32_t>(to.requester.built_psn());
  to.requester = from;
  to.requester.set_built_psn(built_psn);
}
template <class Parts> void set_builder(Parts& to, const spec::QueuePairRequester& from) {
  to.requester.set_built_psn(from.built_psn());
}
template <class Parts> void set_response(Parts& to, const spec::QueuePairResponder& from) {
  to.responder.set_advertised_limit(from.advertised_limit());
  to.responder.set_answers_ended(from.answers_ended());
  to.responder.set_read_atomic_head(from.read_atomic_head());
  to.responder.set_repeated_reads_answered(from.repeated_reads_answered());
}
template <class Parts> void set_validation(Parts& to, const spec::QueuePairResponder& from) {
  to.responder.set_message_refused(from.message_refused());
  to.responder.set_completed(from.completed());
  to.responder.set_receive_open(from.receive_open());
  to.responder.set_last_entry_reached(from.last_entry_reached());
}
template <class Parts> void set_descriptor(Parts& to, const spec::QueuePairResponder& from) {
  to.responder.set_receive_head(from.receive_head());
  to.responder.set_receive_tail(from.receive_tail());
  to.responder.set_receive_entry_offset(from.receive_entry_offset());
  to.responder.set_receive_entry_length(from.receive_entry_length());
  to.responder.set_receive_prefetched(from.receive_prefetched());
  to.responder.set_receive_entry_number(from.receive_entry_number());
}
template <class Parts> void set_receive(Parts& to, const spec::QueuePairResponder& from) {
  const Parts before = to;
  to.responder = from;
  set_response(to, before.responder);
  set_validation(to, before.responder);
  set_descriptor(to, before.responder);
}

} // namespace fpga_verbs::bench
