// Completion repeats requests after a timeout, a gap, or an RNR NAK.
#include "hca/base/transport_timers.h"
#include "hca/complete/completion.h"

namespace fpga_verbs::hca {

using spec::CompletionStatus;
using spec::CreditState;
using spec::QueuePairNoticeKind;

// Sends again from the oldest unacknowledged PSN, as often as the queue pair allows.
void Completion::retry(const Subject& subject) {
  if (subject.part().retry_count() == 0) {
    fail_oldest(subject, CompletionStatus::retry_exceeded_error);
    return;
  }
  subject.part().set_retry_count(subject.part().retry_count() - 1);
  go_back(subject);
}

// A NAK, or an answer beyond a missing one, reports a gap. An answer that was in flight when the send queue
// went back reports it again, and is no reason to go back once more. If the packet is lost again, the timer
// detects that.
void Completion::retry_gap(const Subject& subject) {
  if (subject.part().gap_known() != 0)
    return;
  subject.part().set_gap_known(1);
  retry(subject);
}

void Completion::wait_until_ready(const Subject& subject, uint8_t timer_code) {
  constexpr uint32_t forever = 7;
  if (subject.path().receiver_not_ready_retry() != forever) {
    if (subject.part().receiver_not_ready_retry() == 0) {
      fail_oldest(subject, CompletionStatus::receiver_not_ready_retry_exceeded_error);
      return;
    }
    subject.part().set_receiver_not_ready_retry(subject.part().receiver_not_ready_retry() - 1);
  }
  // The packet was there: only what is lost from now on counts as a retry.
  subject.part().set_retry_count(subject.path().retry_count());
  subject.part().set_gap_known(0);
  subject.part().set_receiver_not_ready_wait(1);
  go_back(subject);
  timer_.set(subject.underlying_function, subject.number,
             clock_.now() + receiver_not_ready_ticks(timer_code, clock_frequency_));
}

// The device finds again the failure of a message after the oldest one.
void Completion::go_back(const Subject& subject) {
  blocks_.queue_pairs.set_send_error(subject.underlying_function, subject.number, false);
  subject.part().set_retry_epoch(subject.part().retry_epoch() + 1);
  subject.part().set_resumed(1);
  if (subject.part().credit_state() == CreditState::waiting) // what goes out again has no timer
    subject.part().set_credit_state(CreditState::limited);
  timer_.clear(subject.number);
  if (const uint16_t list = outstanding_.find(subject.number); list != no_list)
    outstanding_.reclaim(list);
  notify(links_.progress_notices, subject, QueuePairNoticeKind::rewind);
}

} // namespace fpga_verbs::hca
