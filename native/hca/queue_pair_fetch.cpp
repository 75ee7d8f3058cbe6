#include "hca/queue_pair_fetch.h"

#include "hca/finish.h"
#include "hca/sequence_number.h"

namespace fpga_verbs::hca {

namespace {

using spec::CompletionStatus;
using spec::KickOrigin;
using spec::QueuePairRequester;
using spec::QueuePairState;
using spec::Refusal;

// Whether the send queue holds commands that are known, and that have not been executed.
bool owes(const QueuePairRequester& requester) {
  return sequence_distance(requester.next(), requester.posted()) >= 0;
}

// Whether there are some that the scheduler has not fetched.
bool has_unfetched(const QueuePairRequester& requester) {
  return sequence_distance(requester.fetch_next(), requester.posted()) >= 0;
}

// A work request up to this number, not before next, lies in the send queue. Both are measured from next: the
// distance between them may be a whole queue.
void raise_posted(QueuePairRequester& requester, uint32_t sequence_number) {
  if (sequence_distance(requester.next(), sequence_number) >
      sequence_distance(requester.next(), requester.posted()))
    requester.set_posted(sequence_number);
}

// What was fetched will not be executed: it is fetched again, from next on.
void rewind(QueuePairRequester& requester) {
  requester.set_fetch_next(requester.next());
  requester.set_rewound(requester.scheduled());
}

// The scheduler does not fetch what was executed.
void keep_up(QueuePairRequester& requester) {
  if (sequence_distance(requester.next(), requester.fetch_next()) < 0)
    requester.set_fetch_next(requester.next());
}

bool is_known(spec::Opcode opcode) {
  return opcode >= spec::Opcode::send && opcode <= spec::Opcode::bind_memory_window;
}

CompletionStatus status_in(QueuePairState state, spec::Opcode opcode) {
  switch (state) {
  case QueuePairState::send_queue_error:
  case QueuePairState::error:
    return CompletionStatus::work_request_flushed_error;
  case QueuePairState::ready_to_send:
    return is_known(opcode) ? CompletionStatus::success : CompletionStatus::local_queue_pair_operation_error;
  default:
    return CompletionStatus::local_queue_pair_operation_error;
  }
}

} // namespace

QueuePairFetch::QueuePairFetch(Counters& counters, CollectBuffer& collect_buffer,
                               QueuePairStateCache& queue_pairs, EventPort& events,
                               DataLink<spec::KickUnit, 8>& kicks_started,
                               DataLink<spec::PostNotice, 16>& post_notices,
                               DataLink<spec::ScheduleDone, 16>& schedule_dones,
                               DataLink<spec::KickUnit, 8>& executions,
                               DataLink<spec::ScheduleRequest, 16>& schedule_requests,
                               DataLink<spec::FinishUnit, 16>& finishes_handed_back)
    : counters_(counters), collect_buffer_(collect_buffer), queue_pairs_(queue_pairs), events_(events),
      kicks_started_(kicks_started), post_notices_(post_notices), schedule_dones_(schedule_dones),
      executions_(executions), schedule_requests_(schedule_requests),
      finishes_handed_back_(finishes_handed_back) {}

bool QueuePairFetch::step() {
  bool worked = false;
  if (!schedule_dones_.empty() && schedule_requests_.has_credit()) {
    take_done(schedule_dones_.front());
    schedule_dones_.pop();
    worked = true;
  }
  if (!post_notices_.empty() && schedule_requests_.has_credit()) {
    take_notice(post_notices_.front());
    post_notices_.pop();
    worked = true;
  }
  if (!kicks_started_.empty() && schedule_requests_.has_credit() && executions_.has_credit() &&
      finishes_handed_back_.has_credit()) {
    take_kick(kicks_started_.front());
    kicks_started_.pop();
    worked = true;
  }
  return worked;
}

bool QueuePairFetch::resume(unsigned underlying_function, uint32_t queue_pair_number) {
  if (!schedule_requests_.has_credit())
    return false;
  if (const auto now = standing(underlying_function, queue_pair_number))
    schedule(underlying_function, queue_pair_number, *now,
             *queue_pairs_.requester(underlying_function, queue_pair_number));
  return true;
}

// Nothing: the queue pair is gone, or waits to be quiet.
std::optional<QueuePairFetch::Standing> QueuePairFetch::standing(unsigned underlying_function,
                                                                 uint32_t queue_pair_number) {
  const auto found = queue_pairs_.find(underlying_function, queue_pair_number);
  if (!found || found->control.destroying() != 0)
    return std::nullopt;
  return Standing{.state = found->control.state(),
                  .level = found->control.quality_of_service_level(),
                  .entries = 1 << found->control.send_queue_log2()};
}

void QueuePairFetch::take_done(const spec::ScheduleDone& done) {
  const unsigned function = done.underlying_function();
  const uint32_t number = done.queue_pair_number();
  const auto now = standing(function, number);
  if (QueuePairRequester* requester = queue_pairs_.requester(function, number); requester != nullptr) {
    requester->set_scheduled(0);
    requester->set_fetch_next(requester->rewound() != 0 ? requester->next() : done.fetch_next());
    keep_up(*requester);
    requester->set_rewound(0);
    if (done.refusal() != Refusal::none)
      fail(function, number, done.refusal(), done.fetch_next());
    else if (now)
      schedule(function, number, *now, *requester);
  }
  queue_pairs_.unpin(number);
}

void QueuePairFetch::take_notice(const spec::PostNotice& notice) {
  const unsigned function = notice.underlying_function();
  const uint32_t number = notice.queue_pair_number();
  const auto now = standing(function, number);
  if (!now)
    return;
  QueuePairRequester& requester = *queue_pairs_.requester(function, number);
  if (notice.slot() == static_cast<uint32_t>(spec::DoorbellSlot::stop)) {
    requester.set_stopped(1);
    return;
  }
  const uint32_t sequence_number = notice.send_queue_sequence_number();
  if (sequence_distance(requester.next(), sequence_number) >= now->entries) {
    fail(function, number, Refusal::sequence_out_of_range, sequence_number);
    return;
  }
  requester.set_stopped(0);
  raise_posted(requester, sequence_number);
  schedule(function, number, *now, requester);
}

void QueuePairFetch::take_kick(const spec::KickUnit& kick) {
  const unsigned function = kick.underlying_function();
  const uint32_t number = kick.queue_pair_number();
  const auto now = standing(function, number);
  if (!now) {
    ++counters_.function[function].commands_stale;
    give_back(kick);
    return;
  }
  QueuePairRequester& requester = *queue_pairs_.requester(function, number);
  switch (judge(kick, *now, requester)) {
  case Verdict::execute:
    execute(kick, *now, requester);
    break;
  case Verdict::hand_back:
    hand_back(kick, *now, requester);
    break;
  case Verdict::stale:
    ++counters_.function[function].commands_stale;
    give_back(kick);
    break;
  case Verdict::out_of_range:
    fail(function, number, Refusal::sequence_out_of_range, kick.send_queue_sequence_number());
    give_back(kick);
    break;
  }
}

QueuePairFetch::Verdict QueuePairFetch::judge(const spec::KickUnit& kick, const Standing& standing,
                                              const QueuePairRequester& requester) {
  const int ahead = sequence_distance(requester.next(), kick.send_queue_sequence_number());
  if (ahead < 0)
    return Verdict::stale;
  if (ahead >= standing.entries)
    return Verdict::out_of_range;
  if (kick.origin() == KickOrigin::send_queue_mode)
    return Verdict::hand_back;
  bool in_turn = ahead == 0;
  if (kick.origin() == KickOrigin::scheduled) {
    if (!in_turn)
      return Verdict::stale;
  } else {
#ifdef FPGA_VERBS_MUTANT_ORDER_LOST_BETWEEN_SEND_QUEUE_MODE_AND_KICK
    in_turn = true;
#endif
    in_turn = in_turn && !owes(requester);
  }
  return in_turn && standing.state != QueuePairState::send_queue_drained ? Verdict::execute
                                                                         : Verdict::hand_back;
}

void QueuePairFetch::execute(spec::KickUnit kick, const Standing& standing, QueuePairRequester& requester) {
  const uint32_t sequence_number = kick.send_queue_sequence_number();
  requester.set_next(sequence_number + 1);
  if (kick.origin() == KickOrigin::collected)
    requester.set_posted(sequence_number);
  keep_up(requester);
  const auto buffer = static_cast<uint16_t>(kick.physical_collect_buffer());
  kick.set_status(status_in(standing.state, collect_buffer_.buffer(buffer).header().opcode()));
  executions_.push(kick);
  ++counters_.device.data_units_queue_pair_fetch;
  if (kick.status() == CompletionStatus::local_queue_pair_operation_error)
    enter_error(kick.underlying_function(), kick.queue_pair_number(), Refusal::none, sequence_number);
}

// The command lies in the send queue: the scheduler brings it when it is its turn.
void QueuePairFetch::hand_back(const spec::KickUnit& kick, const Standing& standing,
                               QueuePairRequester& requester) {
  raise_posted(requester, kick.send_queue_sequence_number());
  // The scheduler may have fetched it, and still be at work; one that found no entry may have been fetched
  // too.
  if (kick.origin() != KickOrigin::collected)
    rewind(requester);
  ++counters_.function[kick.underlying_function()].commands_handed_back;
  give_back(kick);
  schedule(kick.underlying_function(), kick.queue_pair_number(), standing, requester);
}

// Gives back what a kicked command holds; one that found no entry on a list holds nothing any more.
void QueuePairFetch::give_back(const spec::KickUnit& kick) {
  if (kick.origin() == KickOrigin::send_queue_mode)
    return;
  collect_buffer_.release(static_cast<uint16_t>(kick.physical_collect_buffer()));
  finishes_handed_back_.push(finish_of(kick));
}

// Queues the queue pair for the scheduler if there is something to fetch, and it is not queued already.
void QueuePairFetch::schedule(unsigned underlying_function, uint32_t queue_pair_number,
                              const Standing& standing, QueuePairRequester& requester) {
  if (requester.scheduled() != 0 || requester.stopped() != 0 || !has_unfetched(requester) ||
      standing.state == QueuePairState::send_queue_drained || !queue_pairs_.pin(queue_pair_number))
    return;
  requester.set_scheduled(1);
  spec::ScheduleRequest request;
  request.set_queue_pair_number(queue_pair_number);
  request.set_underlying_function(underlying_function);
  request.set_quality_of_service_level(standing.level);
  schedule_requests_.push(request);
  ++counters_.device.data_units_queue_pair_fetch;
}

// A command, or the way to it, is not what it should be: never executed.
void QueuePairFetch::fail(unsigned underlying_function, uint32_t queue_pair_number, Refusal refusal,
                          uint32_t sequence_number) {
  FunctionCounters& counters = counters_.function[underlying_function];
  ++counters.commands_refused;
  if (refusal == Refusal::checksum_mismatch)
    ++counters.checksum_mismatches;
  enter_error(underlying_function, queue_pair_number, refusal, sequence_number);
}

void QueuePairFetch::enter_error(unsigned underlying_function, uint32_t queue_pair_number, Refusal refusal,
                                 uint32_t sequence_number) {
  queue_pairs_.enter_error(underlying_function, queue_pair_number);
  spec::EventUnit event;
  event.set_type(spec::EventType::queue_pair_fatal);
  event.set_underlying_function(underlying_function);
  event.set_reason(static_cast<uint32_t>(refusal));
  event.set_object(queue_pair_number);
  event.set_detail(sequence_number);
  events_.report(event);
}

} // namespace fpga_verbs::hca
