#pragma once

#include "hca/base/packet_sequence_number.h"
#include "hca/queue_pair/address_vector.h"
#include "spec/contexts.h"

#include <cstdint>

namespace fpga_verbs::hca {

// A transport context: all that belongs to a connection, and nothing of the queues whose work it carries. Its
// parts have one writer each, as those of the queue pair context in which they lie: that of an RC or UC queue
// pair has one context, its own; of a UD queue pair the PSNs and the MTU are used alone. Blocks that work on
// a connection name these types only, and so do not depend on whose context it is.

// The peer, the way to it, and its limits. For reading: resource_manager writes them when it connects.
class TransportPath {
public:
  explicit TransportPath(const spec::QueuePairControl& control) : control_(control) {}

  // The number that the peer knows, and the peer's.
  uint32_t number() const { return control_.virtual_queue_pair(); }
  uint32_t peer_number() const { return control_.destination_queue_pair(); }
  spec::AddressVector address_vector() const { return read_address_vector(control_.address_vector()); }
  uint32_t mtu_bytes() const { return path_mtu_bytes(static_cast<uint32_t>(control_.path_mtu())); }
  // READs and atomics that may be outstanding, as initiator and as responder.
  uint32_t initiator_depth() const { return control_.max_read_atomic(); }
  uint32_t responder_resources() const { return control_.max_destination_read_atomic(); }
  uint32_t retry_count() const { return control_.retry_count(); }
  // 7: without end.
  uint32_t receiver_not_ready_retry() const { return control_.receiver_not_ready_retry(); }
  // The local ACK timeout as an exponent; 0: none.
  uint32_t timeout() const { return control_.timeout(); }
  // The code of the time that an RNR NAK asks for.
  uint8_t receiver_not_ready_timer() const {
    return static_cast<uint8_t>(control_.min_receiver_not_ready_timer());
  }
  // ACKs carry credits, and requests obey those of the peer.
  bool end_to_end_credits() const { return control_.end_to_end_credits() != 0; }

private:
  const spec::QueuePairControl& control_;
};

// Requests that are sent: PSNs and what is outstanding. Written by queue_pair_fetch, except built_psn, which
// is packet_builder's.
class TransportRequester : protected spec::QueuePairRequester {
public:
  TransportRequester() = default;
  explicit TransportRequester(const spec::QueuePairRequester& part) : spec::QueuePairRequester(part) {}

  using spec::QueuePairRequester::built_psn;
  using spec::QueuePairRequester::next_psn;
  using spec::QueuePairRequester::read_atomic_issued;
  using spec::QueuePairRequester::resume_packets;
  using spec::QueuePairRequester::retry_epoch;
  using spec::QueuePairRequester::send_sequence_number;
  using spec::QueuePairRequester::set_built_psn;
  using spec::QueuePairRequester::set_next_psn;
  using spec::QueuePairRequester::set_read_atomic_issued;
  using spec::QueuePairRequester::set_resume_packets;
  using spec::QueuePairRequester::set_retry_epoch;
  using spec::QueuePairRequester::set_send_sequence_number;
};

// How far the peer has acknowledged, retries, and the error of the connection. Written by completion.
class TransportCompletion : protected spec::QueuePairCompletion {
public:
  TransportCompletion() = default;
  explicit TransportCompletion(const spec::QueuePairCompletion& part) : spec::QueuePairCompletion(part) {}

  using spec::QueuePairCompletion::credit_state;
  using spec::QueuePairCompletion::failure;
  using spec::QueuePairCompletion::gap_known;
  using spec::QueuePairCompletion::message_limit;
  using spec::QueuePairCompletion::message_psn;
  using spec::QueuePairCompletion::read_atomic_answered;
  using spec::QueuePairCompletion::receiver_not_ready_retry;
  using spec::QueuePairCompletion::receiver_not_ready_wait;
  using spec::QueuePairCompletion::resumed;
  using spec::QueuePairCompletion::retry_count;
  using spec::QueuePairCompletion::retry_epoch;
  using spec::QueuePairCompletion::set_credit_state;
  using spec::QueuePairCompletion::set_failure;
  using spec::QueuePairCompletion::set_gap_known;
  using spec::QueuePairCompletion::set_message_limit;
  using spec::QueuePairCompletion::set_message_psn;
  using spec::QueuePairCompletion::set_read_atomic_answered;
  using spec::QueuePairCompletion::set_receiver_not_ready_retry;
  using spec::QueuePairCompletion::set_receiver_not_ready_wait;
  using spec::QueuePairCompletion::set_resumed;
  using spec::QueuePairCompletion::set_retry_count;
  using spec::QueuePairCompletion::set_retry_epoch;
  using spec::QueuePairCompletion::set_unacknowledged_psn;
  using spec::QueuePairCompletion::unacknowledged_psn;
};

// Requests that come: the PSN expected, the message that has begun, READs and atomics. Written by receive,
// except what response answers (advertised_limit, answers_ended, read_atomic_head, repeated_reads_answered)
// and what dma_validation refuses (message_refused).
class TransportResponder : protected spec::QueuePairResponder {
public:
  TransportResponder() = default;
  explicit TransportResponder(const spec::QueuePairResponder& part) : spec::QueuePairResponder(part) {}

  using spec::QueuePairResponder::advertised_limit;
  using spec::QueuePairResponder::answers_ended;
  using spec::QueuePairResponder::communication_established;
  using spec::QueuePairResponder::current_address;
  using spec::QueuePairResponder::current_key;
  using spec::QueuePairResponder::current_length;
  using spec::QueuePairResponder::current_message;
  using spec::QueuePairResponder::current_offset;
  using spec::QueuePairResponder::expected_psn;
  using spec::QueuePairResponder::message_refused;
  using spec::QueuePairResponder::message_sequence_number;
  using spec::QueuePairResponder::nak_sent;
  using spec::QueuePairResponder::read_atomic_head;
  using spec::QueuePairResponder::read_atomic_kept;
  using spec::QueuePairResponder::read_atomic_tail;
  using spec::QueuePairResponder::repeated_reads_accepted;
  using spec::QueuePairResponder::repeated_reads_answered;
  using spec::QueuePairResponder::set_advertised_limit;
  using spec::QueuePairResponder::set_answers_ended;
  using spec::QueuePairResponder::set_communication_established;
  using spec::QueuePairResponder::set_current_address;
  using spec::QueuePairResponder::set_current_key;
  using spec::QueuePairResponder::set_current_length;
  using spec::QueuePairResponder::set_current_message;
  using spec::QueuePairResponder::set_current_offset;
  using spec::QueuePairResponder::set_expected_psn;
  using spec::QueuePairResponder::set_message_refused;
  using spec::QueuePairResponder::set_message_sequence_number;
  using spec::QueuePairResponder::set_nak_sent;
  using spec::QueuePairResponder::set_read_atomic_head;
  using spec::QueuePairResponder::set_read_atomic_kept;
  using spec::QueuePairResponder::set_read_atomic_tail;
  using spec::QueuePairResponder::set_repeated_reads_accepted;
  using spec::QueuePairResponder::set_repeated_reads_answered;
};

} // namespace fpga_verbs::hca
