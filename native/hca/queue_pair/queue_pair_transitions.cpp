#include "hca/queue_pair/queue_pair_transitions.h"

#include <algorithm>
#include <array>

namespace fpga_verbs::hca {

namespace {

using enum spec::QueuePairAttribute;
using spec::QueuePairState;
using spec::ServiceType;

struct Row {
  QueuePairState from;
  QueuePairState to;
  QueuePairTransition transition;
};

constexpr auto reset = QueuePairState::reset;
constexpr auto init = QueuePairState::init;
constexpr auto rtr = QueuePairState::ready_to_receive;
constexpr auto rts = QueuePairState::ready_to_send;
constexpr auto sqd = QueuePairState::send_queue_drained;
constexpr auto sqe = QueuePairState::send_queue_error;

// Every row may name the new state and the one believed current; the check of a mask adds them. Alternate
// paths, path migration and rate limits do not exist here, so no row lets them be given.

constexpr std::array reliable_connection{
    Row{reset, init, {.required = {partition_key_index, port, access_flags}, .optional = {}}},
    Row{init, init, {.required = {}, .optional = {partition_key_index, port, access_flags}}},
    Row{init,
        rtr,
        {.required = {address_vector, path_mtu, destination_queue_pair, receive_psn,
                      max_destination_read_atomic, min_receiver_not_ready_timer},
         .optional = {access_flags, partition_key_index}}},
    Row{rtr,
        rts,
        {.required = {timeout, retry_count, receiver_not_ready_retry, send_psn, max_read_atomic},
         .optional = {access_flags, min_receiver_not_ready_timer}}},
    Row{rts, rts, {.required = {}, .optional = {access_flags, min_receiver_not_ready_timer}}},
    Row{rts, sqd, {.required = {}, .optional = {drained_event}}},
    Row{sqd,
        sqd,
        {.required = {},
         .optional = {address_vector, partition_key_index, port, timeout, retry_count,
                      receiver_not_ready_retry, max_read_atomic, max_destination_read_atomic, access_flags,
                      min_receiver_not_ready_timer}}},
    Row{sqd, rts, {.required = {}, .optional = {access_flags, min_receiver_not_ready_timer}}},
};

constexpr std::array unreliable_connection{
    Row{reset, init, {.required = {partition_key_index, port, access_flags}, .optional = {}}},
    Row{init, init, {.required = {}, .optional = {partition_key_index, port, access_flags}}},
    Row{init,
        rtr,
        {.required = {address_vector, path_mtu, destination_queue_pair, receive_psn},
         .optional = {access_flags, partition_key_index}}},
    Row{rtr, rts, {.required = {send_psn}, .optional = {access_flags}}},
    Row{rts, rts, {.required = {}, .optional = {access_flags}}},
    Row{rts, sqd, {.required = {}, .optional = {drained_event}}},
    Row{sqd, sqd, {.required = {}, .optional = {address_vector, partition_key_index, access_flags}}},
    Row{sqd, rts, {.required = {}, .optional = {access_flags}}},
    Row{sqe, rts, {.required = {}, .optional = {access_flags}}},
};

constexpr std::array unreliable_datagram{
    Row{reset, init, {.required = {partition_key_index, port, queue_key}, .optional = {}}},
    Row{init, init, {.required = {}, .optional = {partition_key_index, port, queue_key}}},
    Row{init, rtr, {.required = {}, .optional = {partition_key_index, queue_key}}},
    Row{rtr, rts, {.required = {send_psn}, .optional = {queue_key}}},
    Row{rts, rts, {.required = {}, .optional = {queue_key}}},
    Row{rts, sqd, {.required = {}, .optional = {drained_event}}},
    Row{sqd, sqd, {.required = {}, .optional = {partition_key_index, queue_key}}},
    Row{sqd, rts, {.required = {}, .optional = {queue_key}}},
    Row{sqe, rts, {.required = {}, .optional = {queue_key}}},
};

// Any state → RESET, any state → ERR.
constexpr QueuePairTransition bare{};

const QueuePairTransition* find_row(const auto& rows, QueuePairState from, QueuePairState to) {
  const auto row = std::ranges::find_if(
      rows, [&](const Row& candidate) { return candidate.from == from && candidate.to == to; });
  return row != rows.end() ? &row->transition : nullptr;
}

} // namespace

const QueuePairTransition* find_transition(ServiceType service_type, QueuePairState from, QueuePairState to) {
  if (to == QueuePairState::reset || to == QueuePairState::error)
    return &bare;
  switch (service_type) {
  case ServiceType::reliable_connection:
    return find_row(reliable_connection, from, to);
  case ServiceType::unreliable_connection:
    return find_row(unreliable_connection, from, to);
  case ServiceType::unreliable_datagram:
    return find_row(unreliable_datagram, from, to);
  case ServiceType::reliable_datagram:
    break;
  }
  return nullptr;
}

} // namespace fpga_verbs::hca
