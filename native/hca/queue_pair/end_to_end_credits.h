#pragma once

#include "hca/base/packet_sequence_number.h"
#include "hca/queue_pair/queue_pair_parts.h"

#include <bit>
#include <cstdint>

namespace fpga_verbs::hca {

// End-to-end flow control of a reliable connection (InfiniBand volume 1, 9.7.7.2). The responder's ACKs carry
// a credit count: receive work requests posted beyond those that the messages counted by the MSN have taken.
// The requester may send messages that need one up to SSN = MSN + credits.

inline constexpr uint32_t most_credits = 32768;
inline constexpr uint32_t no_credit_count = 31;

// Credits of a 5-bit code: 0, 1, 2, 3, 4, 6, 8, 12, ... 32768.
constexpr uint32_t credits_of(uint32_t code) { return code < 2 ? code : (2 + (code & 1)) << (code / 2 - 1); }

// The code of so many credits, rounded down.
constexpr uint32_t credit_code_of(uint32_t credits) {
  if (credits < 2)
    return credits;
  if (credits >= most_credits)
    return no_credit_count - 1;
  const auto width = static_cast<uint32_t>(std::bit_width(credits));
  return 2 * (width - 1) + ((credits >> (width - 2)) & 1);
}

static_assert(credits_of(5) == 6 && credits_of(29) == 24576 && credits_of(30) == most_credits);
static_assert(credit_code_of(24575) == 28 && credit_code_of(24576) == 29 && credit_code_of(65535) == 30);

// Receive work requests that the device knows of. A lower bound: more may be posted since descriptor_fetch
// read the tail, or since the last doorbell.
inline uint32_t receives_known(const ReceiveQueueState& receive_queue) {
  return static_cast<uint16_t>(receive_queue.receive_tail() - receive_queue.receive_head());
}

// The last SSN for which the responder has a receive work request. The SEND that is being received has taken
// its own, but the MSN does not count it yet.
inline uint32_t credit_limit_of(const QueuePairParts& queue_pair) {
  const TransportResponder& responder = queue_pair.transport().responder();
  const uint32_t open = responder.current_message() == spec::ReceiveMessage::send ? 1 : 0;
  return psn_add(responder.message_sequence_number(), receives_known(queue_pair.responder) + open);
}

// Whether ACKs carry a credit count: none comes from a shared receive queue.
inline bool gives_credits(const QueuePairParts& queue_pair) {
  return queue_pair.transport().path().end_to_end_credits() && queue_pair.control.shared_receive_queue() == 0;
}

// Whether the peer has used all that ACKs have allowed, and may get more.
inline bool owes_credits(const QueuePairParts& queue_pair) {
  const TransportResponder& responder = queue_pair.transport().responder();
  return gives_credits(queue_pair) && receives_known(queue_pair.responder) != 0 &&
         psn_distance(responder.advertised_limit(), responder.message_sequence_number()) >= 0;
}

// Whether the next message, if it needs a receive work request, exceeds what the peer allows.
inline bool exceeds_credits(const TransportRequester& requester, const TransportCompletion& completion) {
  return completion.credit_state() != spec::CreditState::unlimited &&
         psn_distance(requester.send_sequence_number(), completion.message_limit()) <= 0;
}

} // namespace fpga_verbs::hca
