#include "hca/complete/completion.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/base/transport_timers.h"
#include "hca/collect/finish.h"
#include "hca/complete/response_checks.h"
#include "hca/send_queue/send_work_request.h"

#include <cassert>

namespace fpga_verbs::hca {

namespace {

using spec::CompletionStatus;
using spec::CreditState;
using spec::MessageUnit;
using spec::QueuePairNoticeKind;
using spec::QueuePairState;

constexpr uint32_t atomic_bytes = 8;

spec::Opcode opcode_of(const MessageUnit& message) { return static_cast<spec::Opcode>(message.opcode()); }

bool is_answered(const MessageUnit& message) { return is_read_or_atomic(opcode_of(message)); }

CompletionStatus failure_of(const MessageUnit& message) {
  return static_cast<CompletionStatus>(message.failure());
}

} // namespace

Completion::Completion(const HcaParameters& parameters, const Clock& clock, const Clock& sampled_clock,
                       Blocks blocks, Links links)
    : clock_(clock), sampled_clock_(sampled_clock), clock_frequency_(parameters.clock_frequency),
      blocks_(blocks), links_(links), timer_(parameters),
      // Each message holds a completion credit, so an entry is available for each.
      outstanding_({.entries = completion_credits(parameters), .lists = completion_credits(parameters)}) {
  for (unsigned timeout = 1; timeout < acknowledge_timeouts_.size(); ++timeout)
    acknowledge_timeouts_[timeout] = acknowledge_timeout_ticks(timeout, clock_frequency_);
}

bool Completion::step() { return has_credits() && work() && has_more(); }

bool Completion::work() {
  if (answer_.active) {
    continue_answer();
    return true;
  }
  // A message arrives before any answer to it.
  return reclaim() || take_ended() || take_message() || take_answer() || take_expired();
}

bool Completion::has_more() const {
  return answer_.active || !links_.messages.empty() || !links_.responses_arrived.empty() || is_due_ ||
         outstanding_.reclaiming() || blocks_.queue_pairs.has_ended();
}

// No step needs more: one notice that held work may continue, and one that starts a retry.
bool Completion::has_credits() const {
  return links_.finishes_completed.has_credit() && links_.progress_notices.has_credit(2) &&
         links_.flushes.has_credit();
}

std::optional<Completion::Subject> Completion::subject(unsigned underlying_function,
                                                       uint32_t queue_pair_number) {
  QueuePairParts* found = blocks_.queue_pairs.parts(underlying_function, queue_pair_number);
  if (found == nullptr || found->control.destroying() != 0)
    return std::nullopt;
  return Subject{.underlying_function = underlying_function,
                 .number = queue_pair_number,
                 .list = outstanding_.find(queue_pair_number),
                 .queue_pair = *found};
}

// Messages.

bool Completion::take_message() {
  if (links_.messages.empty())
    return false;
  const MessageUnit message = links_.messages.front();
  links_.messages.pop();
  take(message);
  return true;
}

Completion::Taken Completion::take_at_once(const MessageUnit& message) {
  if (!may_take_at_once())
    return Taken::no;
  take(message);
  return Taken::done;
}

UnitTaker<MessageUnit>::TakenTrain Completion::take_train(std::span<const MessageUnit> train) {
  UnitTaker<MessageUnit>::TakenTrain taken;
  auto its = subject(train.front().underlying_function(), train.front().queue_pair_number());
  for (; taken.units != train.size() && may_take_at_once(); ++taken.units)
    take(train[taken.units], its);
  return taken;
}

bool Completion::may_take_at_once() {
  return !answer_.active && !outstanding_.reclaiming() && !blocks_.queue_pairs.has_ended() && has_credits();
}

void Completion::take(const MessageUnit& message) {
  auto its = subject(message.underlying_function(), message.queue_pair_number());
  take(message, its);
}

void Completion::take(const MessageUnit& message, std::optional<Subject>& its) {
  // Sequence numbers repeat after 2^16 work requests and after a reset.
  if (scattered_.queue_pair_number == message.queue_pair_number() &&
      scattered_.sequence_number == message.send_queue_sequence_number())
    scattered_.valid = false;
  if (!its || message.retry_epoch() != its->part().retry_epoch()) {
    finish(message);
    return;
  }
  if (its->list == no_list && complete_at_once(*its, message))
    return;
  const auto pushed = outstanding_.push(message.queue_pair_number(), message);
  assert(pushed.result == LinkedListResult::ok);
  its->list = pushed.list;
  if (!timer_.is_set(its->number))
    start_timer(*its);
}

// A message that is already over, with none before it: sent without an acknowledgment, executed locally,
// failed, or flushed.
bool Completion::complete_at_once(const Subject& subject, const MessageUnit& message) {
  const CompletionStatus failure = failure_of(message);
  if (subject.part().failure() != CompletionStatus::success)
    fail(subject, message, subject.part().failure());
  else if (subject.has_failed())
    complete(subject, message, CompletionStatus::work_request_flushed_error);
  else if (failure == CompletionStatus::work_request_flushed_error)
    complete(subject, message, failure);
  else if (failure != CompletionStatus::success)
    fail(subject, message, failure);
  else if (subject.control().service_type() != spec::ServiceType::reliable_connection)
    complete(subject, message, CompletionStatus::success);
  else if (is_local_operation(opcode_of(message))) {
    complete(subject, message, CompletionStatus::success);
    if (subject.is_held())
      notify(links_.progress_notices, subject, QueuePairNoticeKind::resume);
  } else
    return false;
  return true;
}

std::optional<MessageUnit> Completion::oldest(const Subject& subject) {
  if (!has_outstanding(subject))
    return std::nullopt;
  bool is_corrupted = false;
  const MessageUnit message = outstanding_.front(subject.list, is_corrupted);
  if (is_corrupted) [[unlikely]]
    return std::nullopt; // the queue pair is in error: reclaim() ends it
  return message;
}

void Completion::pop_oldest(const Subject& subject) { outstanding_.pop_front(subject.list); }

// Ends a work request in every case.
void Completion::complete(const Subject& subject, const MessageUnit& message, CompletionStatus status) {
  const bool failed = status != CompletionStatus::success;
  subject.queue_pair.completion.set_acknowledged(message.send_queue_sequence_number() + 1);
  if (!failed) {
    subject.part().set_message_psn(psn_add(message.last_psn(), 1));
    if (is_answered(message))
      subject.part().set_read_atomic_answered(subject.part().read_atomic_answered() + 1);
  }
  if (failed || message.signaled() != 0 || subject.control().signal_all() != 0) {
    spec::CompletionQueueEntry entry;
    entry.set_opcode(spec::operation_of(opcode_of(message)).completion);
    entry.set_status(status);
    entry.set_queue_pair_number(subject.number);
    entry.set_port(subject.control().port());
    entry.set_byte_length(failed ? 0 : message.message_length());
    entry.set_sequence_number(message.send_queue_sequence_number());
    blocks_.completion_queue.write(subject.underlying_function, subject.control().send_completion_queue(),
                                   entry);
  }
  finish(message);
}

// Returns the credits and places of the message.
void Completion::finish(const MessageUnit& message) {
  spec::FinishUnit unit;
  unit.set_transmit_virtual_lane(message.transmit_virtual_lane());
  unit.set_underlying_function(message.underlying_function());
  unit.set_quality_of_service_level(message.quality_of_service_level());
  unit.set_completion_credit_shared(message.completion_credit_shared());
  unit.set_completion_credit_returned(1);
  unit.set_finished(1);
  unit.set_queue_pair_number(message.queue_pair_number());
  unit.set_send_queue_sequence_number(message.send_queue_sequence_number());
  links_.finishes_completed.hand_over(unit);
}

// The oldest message fails now, or when its last packet has left.
void Completion::fail_oldest(const Subject& subject, CompletionStatus status) {
  if (const auto message = oldest(subject)) {
    pop_oldest(subject);
    fail(subject, *message, status);
    return;
  }
  if (subject.has_failed()) // with an unreadable message
    return;
  subject.part().set_failure(status);
  blocks_.queue_pairs.set_send_error(subject.underlying_function, subject.number, true);
}

// A message that left its list or was never on one. The queue pair fails with it; with an unreliable service
// only its send queue does (InfiniBand volume 1, 10.3.1).
void Completion::fail(const Subject& subject, const MessageUnit& message, CompletionStatus status) {
  subject.part().set_failure(CompletionStatus::success);
  complete(subject, message, status);
  const bool is_news =
      subject.control().service_type() == spec::ServiceType::reliable_connection
          ? blocks_.queue_pairs.enter_error(subject.underlying_function, subject.number)
          : blocks_.queue_pairs.enter_send_queue_error(subject.underlying_function, subject.number);
  // A completion tells of it, where there is a queue to write it to.
  if (!is_news || subject.control().send_completion_queue() != 0)
    return;
  spec::EventUnit event;
  event.set_type(spec::EventType::queue_pair_fatal);
  event.set_underlying_function(subject.underlying_function);
  event.set_object(subject.number);
  event.set_detail(message.send_queue_sequence_number());
  blocks_.events.report(event);
}

// Ends one message of a queue pair that failed, goes back, or ends.
bool Completion::reclaim() {
  if (!outstanding_.reclaiming())
    return false;
  const MessageUnit message = outstanding_.identity(outstanding_.reclaim_step().entry);
  const auto its = subject(message.underlying_function(), message.queue_pair_number());
  // Those of before a retry are flushed with what follows the oldest.
  if (its && its->has_failed() && message.retry_epoch() == its->part().retry_epoch())
    complete(*its, message, CompletionStatus::work_request_flushed_error);
  else
    finish(message);
  return true;
}

// A queue pair that failed, or must become quiet.
bool Completion::take_ended() {
  const auto ended = blocks_.queue_pairs.take_ended();
  if (!ended)
    return false;
  timer_.clear(ended->queue_pair_number);
  if (const uint16_t list = outstanding_.find(ended->queue_pair_number); list != no_list)
    outstanding_.reclaim(list);
  if (const auto its = subject(ended->underlying_function, ended->queue_pair_number);
      its && its->has_failed()) {
    its->part().set_receiver_not_ready_wait(0);
    notify(links_.progress_notices, *its, QueuePairNoticeKind::resume);
    notify(links_.flushes, *its, QueuePairNoticeKind::flush);
  }
  return true;
}

// Answers.

bool Completion::take_answer() {
  if (links_.responses_arrived.empty())
    return false;
  const spec::PacketUnit unit = links_.responses_arrived.front();
  links_.responses_arrived.pop();
  take(unit);
  return true;
}

Completion::TakenAnswer Completion::take_at_once(const spec::PacketUnit& answer) {
  if (answer_.active || !links_.messages.empty() || outstanding_.reclaiming() ||
      blocks_.queue_pairs.has_ended() || !has_credits())
    return TakenAnswer::no;
  take(answer);
  // Its other work wakes it.
  return answer_.active || outstanding_.reclaiming() ? TakenAnswer::more : TakenAnswer::done;
}

void Completion::take(const spec::PacketUnit& unit) {
  answer_ = {.active = true, .unit = unit};
  const auto its = subject(unit.underlying_function(), unit.queue_pair_number());
  // One that goes back, or no further, has nothing to be answered.
  if (!its || its->goes_no_further() || its->is_outdated() || its->part().receiver_not_ready_wait() != 0)
    end_answer();
  else
    begin_answer(*its, unit);
  if (answer_.active)
    go_on(*its);
}

void Completion::begin_answer(const Subject& subject, const spec::PacketUnit& unit) {
  const wire::ParsedPacket& parsed = blocks_.packets[static_cast<uint16_t>(unit.packet())].parsed;
  const uint32_t psn = parsed.fields.packet_sequence_number;
  const int32_t ahead = psn_distance(subject.part().unacknowledged_psn(), psn);
  const bool has_credits = subject.path().end_to_end_credits();
  if (has_credits && ahead == -1)
    take_unsolicited(subject, parsed);
  // Answers to what was not asked since the last retry, or was answered before, are ghosts.
  if (ahead < 0 || psn_distance(psn, subject.transport().requester().built_psn()) <= 0) {
    end_answer();
    return;
  }
  if (has_credits)
    take_credits(subject, parsed);
  if (parsed.traits().operation == spec::PacketOperation::acknowledge)
    interpret(parsed.fields.syndrome);
  else
    answer_.then = Then::place_answer;
  // A NAK, or an answer with data, acknowledges all earlier packets; an ACK acknowledges its own packet too.
  answer_.through_psn = answer_.then == Then::nothing ? psn : psn_add(psn, psn_mask);
}

void Completion::interpret(uint8_t syndrome) {
  constexpr uint8_t value_bits = 0x1f;
  switch (acknowledge_kind_of(syndrome)) {
  case AcknowledgeKind::acknowledged:
    break;
  case AcknowledgeKind::receiver_not_ready:
    answer_.then = Then::wait;
    answer_.timer_code = syndrome & value_bits;
    break;
  case AcknowledgeKind::sequence_error:
    answer_.then = Then::retry;
    break;
  case AcknowledgeKind::failed:
    answer_.then = Then::fail;
    answer_.failure = status_of_syndrome(syndrome);
    break;
  }
}

void Completion::continue_answer() {
  const auto its = subject(answer_.unit.underlying_function(), answer_.unit.queue_pair_number());
  if (!its || its->has_failed())
    end_answer();
  else
    go_on(*its);
}

// Completes all messages that one answer acknowledges, or does what else it says.
void Completion::go_on(const Subject& subject) {
  const bool are_several = has_outstanding(subject) && outstanding_.count(subject.list) > 1;
  if (are_several)
    links_.finishes_completed.begin_train();
  complete_train(subject);
  if (are_several)
    links_.finishes_completed.end_train();
}

void Completion::complete_train(const Subject& subject) {
  constexpr unsigned most_of_a_train = 16;
  auto message = oldest(subject);
  if (!message || !complete_acknowledged(subject, *message))
    return conclude(subject);
  for (unsigned done = 1; answer_.active; ++done) {
    message = oldest(subject);
    const bool is_over = answer_.then == Then::nothing && is_used_up(subject, message);
    if (is_over || !message || done == most_of_a_train || !has_credits() ||
        !complete_acknowledged(subject, *message)) {
      made_progress(subject);
      if (is_over)
        end_answer();
      return;
    }
  }
}

// Whether an answer does not concern the oldest remaining message, and that message has not failed.
bool Completion::is_used_up(const Subject& subject, const std::optional<MessageUnit>& message) const {
  return !message || (failure_of(*message) == CompletionStatus::success &&
                      psn_distance(subject.part().message_psn(), answer_.through_psn) < 0);
}

// Completes the oldest message if it is acknowledged. False: it is not. An acknowledgment beyond a READ or
// atomic with a missing answer is a NAK of that one.
bool Completion::complete_acknowledged(const Subject& subject, const MessageUnit& message) {
  if (failure_of(message) != CompletionStatus::success) {
    pop_oldest(subject);
    fail(subject, message, failure_of(message));
    end_answer();
    return true;
  }
  if (is_answered(message)) {
    if (psn_distance(subject.part().unacknowledged_psn(), answer_.through_psn) >= 0 &&
        psn_distance(subject.part().message_psn(), answer_.through_psn) >= 0) {
      answer_.then = Then::retry;
      answer_.through_psn = psn_add(subject.part().unacknowledged_psn(), psn_mask);
    }
    return false;
  }
  if (psn_distance(message.last_psn(), answer_.through_psn) < 0)
    return false;
  pop_oldest(subject);
  complete(subject, message, CompletionStatus::success);
  subject.part().set_unacknowledged_psn(subject.part().message_psn());
  return true;
}

// All acknowledged messages are complete; handle the rest of the answer. The oldest that is left may have
// been unreadable, with which the queue pair has failed.
void Completion::conclude(const Subject& subject) {
  if (subject.has_failed())
    return end_answer();
  const uint32_t behind = psn_add(answer_.through_psn, 1);
  if (psn_distance(subject.part().unacknowledged_psn(), behind) > 0) {
    subject.part().set_unacknowledged_psn(behind);
    made_progress(subject);
  }
  const Then then = answer_.then;
  switch (then) {
  case Then::nothing:
    break;
  case Then::place_answer:
    // The message after a completed answer may have failed already.
    if (place_answer(subject) && !is_used_up(subject, oldest(subject))) {
      answer_.then = Then::nothing;
      return;
    }
    break;
  case Then::retry:
    retry_gap(subject);
    break;
  case Then::wait:
    wait_until_ready(subject, answer_.timer_code);
    break;
  case Then::fail:
    fail_oldest(subject, answer_.failure);
    break;
  }
  end_answer();
}

void Completion::end_answer() {
  answer_.active = false;
  blocks_.packets.release(static_cast<uint16_t>(answer_.unit.packet()));
  blocks_.queue_pairs.unpin(answer_.unit.queue_pair_number());
}

// An RDMA READ response, or the result of an atomic. It must be the next expected one. One further ahead
// shows that those between are lost; one at the PSN of another message is invalid. True: it completes the
// message.
bool Completion::place_answer(const Subject& subject) {
  const auto handle = static_cast<uint16_t>(answer_.unit.packet());
  const wire::ParsedPacket& parsed = blocks_.packets[handle].parsed;
  const uint32_t psn = parsed.fields.packet_sequence_number;
  const auto message = oldest(subject);
  if (!message || !is_answered(*message)) {
    fail_oldest(subject, CompletionStatus::bad_response_error);
    return false;
  }
  if (psn != subject.part().unacknowledged_psn()) {
    retry_gap(subject);
    return false;
  }
  const AnsweredRequest request{.opcode = opcode_of(*message),
                                .first_psn = subject.part().message_psn(),
                                .last_psn = message->last_psn(),
                                .length = message->message_length(),
                                .mtu = subject.path().mtu_bytes(),
                                .was_resumed = subject.part().resumed() != 0};
  const bool last = psn == message->last_psn();
  CompletionStatus status = CompletionStatus::success;
  if (!is_proper_answer(request, parsed)) {
    status = CompletionStatus::bad_response_error;
  } else if (is_atomic(request.opcode)) {
    const uint64_t original = parsed.fields.original_data;
    status = scatter(subject, *message, 0, reinterpret_cast<const uint8_t*>(&original), atomic_bytes);
  } else {
    const std::span<const uint8_t> payload = blocks_.packets.payload(handle);
    const uint64_t offset = uint64_t{(psn - request.first_psn) & psn_mask} * request.mtu;
    status = scatter(subject, *message, offset, payload.data(), static_cast<uint32_t>(payload.size()));
  }
  if (status != CompletionStatus::success) {
    fail_oldest(subject, status);
    return false;
  }
  subject.part().set_unacknowledged_psn(psn_add(psn, 1));
  if (last) {
    pop_oldest(subject);
    complete(subject, *message, CompletionStatus::success);
  }
  made_progress(subject);
  return last;
}

// Something was acknowledged: resets the retry count, restarts the timer, and releases held work.
void Completion::made_progress(const Subject& subject) {
  subject.part().set_retry_count(subject.path().retry_count());
  subject.part().set_receiver_not_ready_retry(subject.path().receiver_not_ready_retry());
  subject.part().set_gap_known(0);
  subject.part().set_resumed(0);
  if (has_outstanding(subject))
    start_timer(subject);
  else
    timer_.clear(subject.number);
  if (subject.part().credit_state() != CreditState::unlimited)
    wait_for_credits(subject);
  if (subject.is_held() && !lacks_credits(subject))
    notify(links_.progress_notices, subject, QueuePairNoticeKind::resume);
}

// Timers.

bool Completion::take_expired() {
  if (!is_due_)
    return false;
  const auto expired = timer_.take_expired(clock_.now());
  is_due_ = expired.has_value();
  if (!expired)
    return false;
  const auto its = subject(expired->underlying_function, expired->queue_pair_number);
  if (!its || its->goes_no_further())
    return true;
  if (its->part().receiver_not_ready_wait() != 0) {
    its->part().set_receiver_not_ready_wait(0);
    notify(links_.progress_notices, *its, QueuePairNoticeKind::resume);
  } else if (its->part().credit_state() == CreditState::waiting) {
    ask_for_credits(*its);
  } else {
    retry(*its);
  }
  return true;
}

void Completion::start_timer(const Subject& subject) {
  if (subject.path().timeout() == 0)
    return;
  timer_.set(subject.underlying_function, subject.number,
             sampled_clock_.now() + acknowledge_timeouts_[subject.path().timeout()]);
}

void Completion::notify(DataLink<spec::QueuePairNotice>& link, const Subject& subject,
                        QueuePairNoticeKind kind) {
  spec::QueuePairNotice notice;
  notice.set_queue_pair_number(subject.number);
  notice.set_underlying_function(subject.underlying_function);
  notice.set_kind(kind);
  link.push(notice);
}

} // namespace fpga_verbs::hca
