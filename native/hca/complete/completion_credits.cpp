// End-to-end flow control of a requester (InfiniBand volume 1, 9.7.7.2).
#include "hca/complete/completion.h"
#include "hca/complete/response_checks.h"

namespace fpga_verbs::hca {

using spec::CreditState;

// The AETH of an ACK, or of an answer with data, limits what may be sent. The limit never falls: the device
// rounds credits down, and a receive work request that is posted stays so.
void Completion::take_credits(const Subject& subject, const wire::ParsedPacket& answer) {
  constexpr uint8_t value_bits = 0x1f;
  if (!answer.traits().has(spec::ExtendedHeader::acknowledge) ||
      acknowledge_kind_of(answer.fields.syndrome) != AcknowledgeKind::acknowledged)
    return;
  const uint32_t code = answer.fields.syndrome & value_bits;
  if (code == no_credit_count) {
    subject.part().set_credit_state(CreditState::unlimited);
    return;
  }
  const uint32_t messages = answer.fields.message_sequence_number;
  // The peer has not completed more messages than were sent.
  if (psn_distance(messages, subject.transport().requester().send_sequence_number()) < 0)
    return;
  const uint32_t limit = psn_add(messages, credits_of(code));
  const bool begins = subject.part().credit_state() == CreditState::unlimited;
  if (begins)
    subject.part().set_credit_state(CreditState::limited);
  if (begins || psn_distance(subject.part().message_limit(), limit) > 0)
    subject.part().set_message_limit(limit);
}

// An ACK of what was acknowledged last says that the peer has posted receives.
void Completion::take_unsolicited(const Subject& subject, const wire::ParsedPacket& answer) {
  take_credits(subject, answer);
  if (subject.exceeds_limit())
    return;
  if (subject.part().credit_state() == CreditState::waiting)
    end_wait(subject);
  if (subject.is_held_for_credits())
    notify(links_.progress_notices, subject, spec::QueuePairNoticeKind::resume);
}

// At the limit, with nothing outstanding, no ACK will come by itself: credits of an unsolicited ACK are
// awaited for the time of the local ACK timeout. It may be lost; then one message asks.
void Completion::wait_for_credits(const Subject& subject) {
  const bool waits = subject.path().timeout() != 0 && !has_outstanding(subject) && subject.exceeds_limit();
  subject.part().set_credit_state(waits ? CreditState::waiting : CreditState::limited);
#ifndef FPGA_VERBS_MUTANT_WAIT_FOR_CREDITS_WITHOUT_END
  if (waits)
    start_timer(subject);
#endif
}

// No credits came: the message that is held goes, and asks.
void Completion::ask_for_credits(const Subject& subject) {
  end_wait(subject);
  notify(links_.progress_notices, subject, spec::QueuePairNoticeKind::resume);
}

// The timer now belongs to what was sent meanwhile because it needs no credits.
void Completion::end_wait(const Subject& subject) {
  subject.part().set_credit_state(CreditState::limited);
  timer_.clear(subject.number);
  if (has_outstanding(subject))
    start_timer(subject);
}

// Whether what is held for credits stays so: they have not come, and it is not the message that asks.
bool Completion::lacks_credits(const Subject& subject) const {
  return subject.is_held_for_credits() && subject.exceeds_limit() &&
         (subject.part().credit_state() == CreditState::waiting || has_outstanding(subject));
}

} // namespace fpga_verbs::hca
