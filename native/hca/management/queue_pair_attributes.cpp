#include "hca/management/queue_pair_attributes.h"

#include "hca/management/check_address_vector.h"
#include "hca/management/management_answer.h"
#include "hca/queue_pair/address_vector.h"
#include "hca/queue_pair/queue_pair_transitions.h"

#include <bit>
#include <cstring>

namespace fpga_verbs::hca {

namespace {

using spec::ManagementStatus;
using spec::QueuePairAttribute;
using spec::QueuePairState;

// Valid in every mask: the new state, and the state that the caller assumes.
constexpr QueuePairAttributeSet states{QueuePairAttribute::state, QueuePairAttribute::current_state};

constexpr QueuePairAttributeSet all{QueuePairAttribute::state,
                                    QueuePairAttribute::current_state,
                                    QueuePairAttribute::access_flags,
                                    QueuePairAttribute::partition_key_index,
                                    QueuePairAttribute::port,
                                    QueuePairAttribute::queue_key,
                                    QueuePairAttribute::address_vector,
                                    QueuePairAttribute::path_mtu,
                                    QueuePairAttribute::timeout,
                                    QueuePairAttribute::retry_count,
                                    QueuePairAttribute::receiver_not_ready_retry,
                                    QueuePairAttribute::receive_psn,
                                    QueuePairAttribute::max_read_atomic,
                                    QueuePairAttribute::min_receiver_not_ready_timer,
                                    QueuePairAttribute::send_psn,
                                    QueuePairAttribute::max_destination_read_atomic,
                                    QueuePairAttribute::destination_queue_pair,
                                    QueuePairAttribute::end_to_end_credits};

std::optional<spec::ManagementCompletion> check_values(const spec::QueuePairAttributes& input,
                                                       const HcaParameters& parameters) {
  using F = spec::QueuePairAttributes;
  const QueuePairAttributeSet given(input.attribute_mask());
  if (given.has(QueuePairAttribute::port) && (input.port() < 1 || input.port() > parameters.ports))
    return bad_input(F::port_bit);
  if (given.has(QueuePairAttribute::partition_key_index) &&
      input.partition_key_index() >= spec::partition_key_table_entries)
    return bad_input(F::partition_key_index_bit);
  if (given.has(QueuePairAttribute::path_mtu) &&
      (input.path_mtu() < spec::PathMtu::mtu_256 || input.path_mtu() > spec::PathMtu::mtu_4096))
    return bad_input(F::path_mtu_bit);
  if (given.has(QueuePairAttribute::max_read_atomic) && input.max_read_atomic() > spec::read_atomic_maximum)
    return bad_input(F::max_read_atomic_bit);
  if (given.has(QueuePairAttribute::max_destination_read_atomic) &&
      input.max_destination_read_atomic() > spec::read_atomic_maximum)
    return bad_input(F::max_destination_read_atomic_bit);
  if (given.has(QueuePairAttribute::address_vector))
    return check_address_vector(read_address_vector(input.address_vector()),
                                uint64_t{F::address_vector_byte} * 8, parameters);
  return std::nullopt;
}

} // namespace

std::optional<spec::ManagementCompletion> check_attributes(const spec::QueuePairControl& control,
                                                           const spec::QueuePairAttributes& input,
                                                           const HcaParameters& parameters) {
  if (!input.reserved_is_zero())
    return bad_input(reserved_field);
  const QueuePairAttributeSet given(input.attribute_mask());
  const QueuePairState from = control.state();
  if (given.has(QueuePairAttribute::current_state) && input.current_state() != from)
    return answer_with(ManagementStatus::bad_state);
  const QueuePairState to = given.has(QueuePairAttribute::state) ? input.state() : from;
  const std::optional<TransitionAttributes> transition = find_transition(control.service_type(), from, to);
  if (!transition)
    return answer_with(ManagementStatus::bad_state);
  const uint32_t allowed = transition->required.mask() | transition->optional.mask() | states.mask();
  if ((given.mask() & ~allowed) != 0)
    return bad_attributes(ManagementStatus::attribute_not_allowed, given.mask() & ~allowed);
  if ((transition->required.mask() & ~given.mask()) != 0)
    return bad_attributes(ManagementStatus::missing_attribute, transition->required.mask() & ~given.mask());
  return check_values(input, parameters);
}

void apply_attributes(const spec::QueuePairAttributes& input, QueuePairParts& queue_pair) {
  const TransportContext transport = queue_pair.transport();
  const QueuePairAttributeSet given(input.attribute_mask());
  spec::QueuePairControl& control = queue_pair.control;
  if (given.has(QueuePairAttribute::access_flags))
    control.set_access_flags(input.access_flags());
  if (given.has(QueuePairAttribute::partition_key_index))
    control.set_partition_key_index(input.partition_key_index());
  if (given.has(QueuePairAttribute::port))
    control.set_port(input.port());
  if (given.has(QueuePairAttribute::queue_key))
    control.set_queue_key(input.queue_key());
  if (given.has(QueuePairAttribute::address_vector))
    control.set_address_vector(input.address_vector());
  if (given.has(QueuePairAttribute::path_mtu))
    control.set_path_mtu(input.path_mtu());
  // The port limits the length of a datagram.
  if (control.service_type() == spec::ServiceType::unreliable_datagram)
    control.set_path_mtu(spec::PathMtu::mtu_4096);
  if (given.has(QueuePairAttribute::timeout))
    control.set_timeout(input.timeout());
  if (given.has(QueuePairAttribute::retry_count)) {
    control.set_retry_count(input.retry_count());
    transport.completion().set_retry_count(input.retry_count());
  }
  if (given.has(QueuePairAttribute::receiver_not_ready_retry)) {
    control.set_receiver_not_ready_retry(input.receiver_not_ready_retry());
    transport.completion().set_receiver_not_ready_retry(input.receiver_not_ready_retry());
  }
  if (given.has(QueuePairAttribute::receive_psn))
    transport.responder().set_expected_psn(input.receive_psn());
  if (given.has(QueuePairAttribute::end_to_end_credits)) {
    control.set_end_to_end_credits(input.end_to_end_credits());
    transport.completion().set_credit_state(input.end_to_end_credits() != 0 ? spec::CreditState::limited
                                                                            : spec::CreditState::unlimited);
  }
  if (given.has(QueuePairAttribute::max_read_atomic))
    control.set_max_read_atomic(input.max_read_atomic());
  if (given.has(QueuePairAttribute::min_receiver_not_ready_timer))
    control.set_min_receiver_not_ready_timer(input.min_receiver_not_ready_timer());
  if (given.has(QueuePairAttribute::send_psn)) {
    transport.requester().set_next_psn(input.send_psn());
    transport.requester().set_built_psn(input.send_psn());
    transport.completion().set_unacknowledged_psn(input.send_psn());
    transport.completion().set_message_psn(input.send_psn());
  }
  if (given.has(QueuePairAttribute::max_destination_read_atomic))
    control.set_max_destination_read_atomic(input.max_destination_read_atomic());
  if (given.has(QueuePairAttribute::destination_queue_pair))
    control.set_destination_queue_pair(input.destination_queue_pair());
}

spec::QueuePairAttributes attributes_of(const QueuePairParts& queue_pair, uint32_t in_flight) {
  const spec::QueuePairControl& control = queue_pair.control;
  spec::QueuePairAttributes attributes;
  attributes.set_attribute_mask(all.mask());
  attributes.set_state(control.state());
  attributes.set_current_state(control.state());
  attributes.set_path_mtu(control.path_mtu());
  attributes.set_drained_event(control.drained_event());
  attributes.set_port(control.port());
  attributes.set_partition_key_index(control.partition_key_index());
  attributes.set_access_flags(control.access_flags());
  attributes.set_destination_queue_pair(control.destination_queue_pair());
  attributes.set_min_receiver_not_ready_timer(control.min_receiver_not_ready_timer());
  attributes.set_receive_psn(queue_pair.transport().responder().expected_psn());
  attributes.set_timeout(control.timeout());
  attributes.set_send_psn(queue_pair.transport().requester().next_psn());
  attributes.set_max_read_atomic(control.max_read_atomic());
  attributes.set_max_destination_read_atomic(control.max_destination_read_atomic());
  attributes.set_retry_count(control.retry_count());
  attributes.set_receiver_not_ready_retry(control.receiver_not_ready_retry());
  attributes.set_end_to_end_credits(control.end_to_end_credits());
  attributes.set_queue_key(control.queue_key());
  attributes.set_next(queue_pair.requester.next());
  attributes.set_posted(queue_pair.requester.posted());
  attributes.set_acknowledged(queue_pair.completion.acknowledged());
  attributes.set_in_flight(in_flight);
  attributes.set_user_handle(control.user_handle());
  attributes.set_send_completion_queue(control.send_completion_queue());
  attributes.set_receive_completion_queue(control.receive_completion_queue());
  attributes.set_virtual_queue_pair(control.virtual_queue_pair());
  attributes.set_address_vector(control.address_vector());
  return attributes;
}

void clear_attributes(spec::QueuePairControl& control) {
  control.set_state(QueuePairState::reset);
  control.set_destroying(0);
  control.set_draining(0);
  control.set_drained_event(0);
  control.set_access_flags(0);
  control.set_partition_key_index(0);
  control.set_port(0);
  control.set_queue_key(0);
  control.set_path_mtu(spec::PathMtu{});
  control.set_destination_queue_pair(0);
  control.set_max_read_atomic(0);
  control.set_max_destination_read_atomic(0);
  control.set_send_error(0);
  control.set_retry_count(0);
  control.set_receiver_not_ready_retry(0);
  control.set_end_to_end_credits(0);
  control.set_timeout(0);
  control.set_min_receiver_not_ready_timer(0);
  constexpr spec::AddressVector none{};
  const auto* bytes = reinterpret_cast<const uint8_t*>(&none);
  control.set_address_vector(std::span<const uint8_t, spec::AddressVector::bytes>(bytes, sizeof none));
}

} // namespace fpga_verbs::hca
