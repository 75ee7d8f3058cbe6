#include "hca/send_queue/queue_pair_fetch.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/base/sequence_number.h"
#include "hca/collect/finish.h"
#include "hca/queue_pair/end_to_end_credits.h"
#include "hca/send_queue/may_send.h"
#include "hca/send_queue/send_work_request.h"

namespace fpga_verbs::hca {

namespace {

using spec::CompletionStatus;
using spec::KickOrigin;
using spec::QueuePairState;
using spec::Refusal;

// Whether the send queue holds commands that are known, and that have not been executed.
bool owes(const SendQueueState& requester) {
  return sequence_distance(requester.next(), requester.posted()) >= 0;
}

// Whether there are some that the scheduler has not fetched.
bool has_unfetched(const SendQueueState& requester) {
  return sequence_distance(requester.fetch_next(), requester.posted()) >= 0;
}

// A work request up to this number, not before next, lies in the send queue. Both are measured from next: the
// distance between them may be a whole queue.
void raise_posted(SendQueueState& requester, uint32_t sequence_number) {
  if (sequence_distance(requester.next(), sequence_number) >
      sequence_distance(requester.next(), requester.posted()))
    requester.set_posted(sequence_number);
}

// The commands that were fetched will not be executed: each is fetched again, from next on.
void rewind(SendQueueState& requester) {
  requester.set_fetch_next(requester.next());
  requester.set_rewound(requester.scheduled());
}

// The scheduler does not fetch what was executed.
void keep_up(SendQueueState& requester) {
  if (sequence_distance(requester.next(), requester.fetch_next()) < 0)
    requester.set_fetch_next(requester.next());
}

// Outcome of a command in this state, before a check of its own fields.
CompletionStatus status_in(const spec::QueuePairControl& control) {
  if (control.send_error() != 0)
    return CompletionStatus::work_request_flushed_error;
  switch (control.state()) {
  case QueuePairState::send_queue_error:
  case QueuePairState::error:
    return CompletionStatus::work_request_flushed_error;
  case QueuePairState::ready_to_send:
  case QueuePairState::send_queue_drained: // what may_send() lets through
    return CompletionStatus::success;
  case QueuePairState::reset:
  case QueuePairState::init:
  case QueuePairState::ready_to_receive:
    break;
  }
  return CompletionStatus::local_queue_pair_operation_error;
}

} // namespace

QueuePairFetch::QueuePairFetch(
    const HcaParameters& parameters, Counters& counters, const KickRecords& kick_records,
    CollectBufferPort& collect_buffer, PhysicalCollectBuffers& buffers, QueuePairStateCache& queue_pairs,
    const AddressHandles& address_handles, EventPort& events, DataLink<spec::KickUnit>& kicks_started,
    DataLink<spec::PostNotice>& post_notices, DataLink<spec::ScheduleDone>& schedule_dones,
    DataLink<spec::QueuePairNotice>& progress_notices, DataLink<spec::KickUnit>& executions,
    DataLink<spec::ScheduleRequest>& schedule_requests, DataLink<spec::FinishUnit>& finishes_handed_back)
    : counters_(counters), kick_records_(kick_records), collect_buffer_(collect_buffer), buffers_(buffers),
      queue_pairs_(queue_pairs), address_handles_(address_handles), events_(events),
      kicks_started_(kicks_started), post_notices_(post_notices), schedule_dones_(schedule_dones),
      progress_notices_(progress_notices), executions_(executions), schedule_requests_(schedule_requests),
      finishes_handed_back_(finishes_handed_back),
      // Each command holds an execution credit, except those that found no entry in virtual_kick.
      queue_({.entries = execution_credits(parameters),
              .lists = execution_credits(parameters),
              .underlying_functions = parameters.underlying_functions,
              .ready_on_push = true}) {}

bool QueuePairFetch::step() {
  bool worked = false;
  if (!schedule_dones_.empty() && schedule_requests_.has_credit()) {
    take_done(schedule_dones_.front());
    schedule_dones_.pop();
    worked = true;
  }
  if (!progress_notices_.empty() && schedule_requests_.has_credit()) {
    take_progress(progress_notices_.front());
    progress_notices_.pop();
    worked = true;
  }
  if (!post_notices_.empty() && schedule_requests_.has_credit()) {
    take_notice(post_notices_.front());
    post_notices_.pop();
    worked = true;
  }
  const bool taken = take_started();
  return (decide_next() || taken || worked) && has_more();
}

QueuePairFetch::Taken QueuePairFetch::take_at_once(const spec::KickUnit& kick) {
  if (!may_pass())
    return Taken::no;
  decide(kick);
  return Taken::done;
}

QueuePairFetch::TakenTrain QueuePairFetch::take_train(std::span<const spec::KickUnit> train) {
  TakenTrain taken;
  if (!may_pass())
    return taken;
  const auto now = standing(train.front().underlying_function(), train.front().queue_pair_number());
  executions_.begin_train();
  for (; taken.units != train.size() && can_decide(); ++taken.units)
    decide(train[taken.units], now);
  executions_.end_train();
  return taken;
}

// Whether commands pass by the empty queue.
bool QueuePairFetch::may_pass() const {
  return queue_.empty() && progress_notices_.empty() && schedule_dones_.empty() && post_notices_.empty() &&
         can_decide();
}

bool QueuePairFetch::has_more() const {
  return queue_.lists_ready().any() || !kicks_started_.empty() || !progress_notices_.empty() ||
         !schedule_dones_.empty() || !post_notices_.empty();
}

// A command is executed, returned or dropped, and its queue pair scheduled; a credit is available for each.
bool QueuePairFetch::can_decide() const {
  return executions_.has_credit() && finishes_handed_back_.has_credit() && schedule_requests_.has_credit();
}

// Stores nothing while no unit waits: the unit bypasses an empty queue, in RTL too.
bool QueuePairFetch::take_started() {
  if (kicks_started_.empty() || queue_.inbound_credits() == 0)
    return false;
  const spec::KickUnit& kick = kicks_started_.front();
  if (queue_.empty() && can_decide())
    decide(kick);
  else
    queue_.push(kick.queue_pair_number(), kick, kick.underlying_function());
  kicks_started_.pop();
  return true;
}

bool QueuePairFetch::decide_next() {
  const uint16_t list = queue_.arbitrate(can_decide() ? 1 : 0);
  if (list == no_list)
    return false;
  const spec::KickUnit kick = queue_.front(list);
  queue_.pop_front(list);
  decide(kick);
  return true;
}

bool QueuePairFetch::resume(unsigned underlying_function, uint32_t queue_pair_number) {
  if (!schedule_requests_.has_credit())
    return false;
  if (const auto now = standing(underlying_function, queue_pair_number))
    schedule(underlying_function, queue_pair_number, *now, now->requester());
  return true;
}

// Nothing: the queue pair is gone, or must become quiet.
std::optional<QueuePairFetch::Standing> QueuePairFetch::standing(unsigned underlying_function,
                                                                 uint32_t queue_pair_number) {
  QueuePairParts* const found = queue_pairs_.parts(underlying_function, queue_pair_number);
  if (found == nullptr || found->control.destroying() != 0)
    return std::nullopt;
  return Standing(*found);
}

void QueuePairFetch::take_done(const spec::ScheduleDone& done) {
  const unsigned function = done.underlying_function();
  const uint32_t number = done.queue_pair_number();
  const auto now = standing(function, number);
  if (SendQueueState* requester = queue_pairs_.requester(function, number); requester != nullptr) {
    requester->set_scheduled(0);
    requester->set_fetch_next(requester->rewound() != 0 ? requester->next() : done.fetch_next());
    keep_up(*requester);
    requester->set_rewound(0);
    if (done.refusal() != Refusal::none) {
      // After a failed fetch the scheduler does not fetch commands to flush them either, unless the host
      // requests it.
      requester->set_stopped(1);
      fail(function, number, done.refusal(), done.fetch_next());
    } else if (now)
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
  SendQueueState& requester = now->requester();
  if (notice.slot() == static_cast<uint32_t>(spec::DoorbellSlot::stop)) {
    requester.set_stopped(1);
    return;
  }
  const uint32_t sequence_number = notice.send_queue_sequence_number();
  if (sequence_distance(requester.next(), sequence_number) >= now->entries()) {
    fail(function, number, Refusal::sequence_out_of_range, sequence_number);
    return;
  }
  requester.set_stopped(0);
  raise_posted(requester, sequence_number);
  schedule(function, number, *now, requester);
}

// completion has released a held command, or requests the oldest unacknowledged message again.
void QueuePairFetch::take_progress(const spec::QueuePairNotice& notice) {
  const unsigned function = notice.underlying_function();
  const uint32_t number = notice.queue_pair_number();
  const auto now = standing(function, number);
  if (!now)
    return;
  SendQueueState& requester = now->requester();
  TransportRequester& sent = now->transport().requester();
  const TransportCompletion& completion = now->transport().completion();
  if (sent.retry_epoch() != completion.retry_epoch()) {
    const uint32_t oldest = now->progress().acknowledged();
    const int again = sequence_distance(oldest, requester.next());
    sent.set_retry_epoch(completion.retry_epoch());
    sent.set_send_sequence_number(sent.send_sequence_number() - static_cast<uint32_t>(again));
    sent.set_next_psn(completion.message_psn());
    sent.set_built_psn(completion.unacknowledged_psn());
    sent.set_resume_packets(completion.unacknowledged_psn() - completion.message_psn());
    sent.set_read_atomic_issued(completion.read_atomic_answered());
    requester.set_next(oldest);
    rewind(requester);
  }
  requester.set_hold(completion.receiver_not_ready_wait() != 0 ? spec::SendHold::receiver_not_ready
                                                               : spec::SendHold::none);
  schedule(function, number, *now, requester);
}

void QueuePairFetch::decide(const spec::KickUnit& kick) {
  decide(kick, standing(kick.underlying_function(), kick.queue_pair_number()));
}

void QueuePairFetch::decide(const spec::KickUnit& kick, const std::optional<Standing>& now) {
  const unsigned function = kick.underlying_function();
  const uint32_t number = kick.queue_pair_number();
  if (!now) {
    ++counters_.function[function].commands_stale;
    give_back(kick);
    return;
  }
  SendQueueState& requester = now->requester();
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
                                              SendQueueState& requester) {
  const int ahead = sequence_distance(requester.next(), kick.send_queue_sequence_number());
  if (ahead < 0)
    return Verdict::stale;
  if (ahead >= standing.entries())
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
  if (!in_turn || !may_send(standing.control(), requester, kick.send_queue_sequence_number()))
    return Verdict::hand_back;
  PhysicalCollectBuffer& pcb = buffers_[kick.physical_collect_buffer()];
  pcb.execution.message_length = send_message_length(pcb);
  requester.set_hold(hold(pcb, standing, requester));
  if (requester.hold() == spec::SendHold::none)
    return Verdict::execute;
  ++counters_.function[kick.underlying_function()].send_holds[static_cast<size_t>(requester.hold())];
  return Verdict::hand_back;
}

// Reason why the next command is not sent now. completion ends the hold with a notice.
spec::SendHold QueuePairFetch::hold(const PhysicalCollectBuffer& pcb, const Standing& standing,
                                    const SendQueueState& requester) {
  using spec::SendHold;
  const spec::QueuePairControl& control = standing.control();
  const TransportPath path = standing.transport().path();
  const TransportRequester& sent = standing.transport().requester();
  const TransportCompletion& completion = standing.transport().completion();
  if (status_in(control) != CompletionStatus::success ||
      control.service_type() != spec::ServiceType::reliable_connection)
    return SendHold::none;
  // A retry that completion has begun goes first.
  if (completion.receiver_not_ready_wait() != 0 || sent.retry_epoch() != completion.retry_epoch())
    return SendHold::receiver_not_ready;
  const spec::CommandHeader& header = pcb.header();
  // A retry would execute it once more, after later work requests.
  if (is_local_operation(header.opcode()))
    return standing.progress().acknowledged() == requester.next() ? SendHold::none
                                                                  : SendHold::local_operation;
  const uint32_t outstanding = (sent.read_atomic_issued() - completion.read_atomic_answered()) & 0xff;
  if (header.fence() != 0 && outstanding != 0)
    return SendHold::fence;
  if (is_read_or_atomic(header.opcode()) && outstanding != 0 && outstanding >= path.initiator_depth())
    return SendHold::read_atomic;
  // Of what is outstanding a message that goes on where it was interrupted is the oldest.
  if (sent.resume_packets() != 0)
    return SendHold::none;
  constexpr uint32_t window = (psn_mask + 1) / 2;
  const uint32_t used = (sent.next_psn() - completion.unacknowledged_psn()) & psn_mask;
  // Where nothing is outstanding, one message beyond the limit asks for credits.
  bool asks = used == 0 && completion.credit_state() != spec::CreditState::waiting;
#ifdef FPGA_VERBS_MUTANT_CREDITS_IGNORED
  asks = true;
#endif
  if (exceeds_credits(sent, completion) && !asks && takes_receive(header.opcode()))
    return SendHold::message_limit;
  const uint64_t packets = packets_of(pcb.execution.message_length, path.mtu_bytes());
  return used != 0 && used + packets > window ? SendHold::packet_window : SendHold::none;
}

void QueuePairFetch::execute(spec::KickUnit kick, const Standing& standing, SendQueueState& requester) {
  const uint32_t sequence_number = kick.send_queue_sequence_number();
  requester.set_next(sequence_number + 1);
  if (sequence_distance(requester.begun(), requester.next()) > 0)
    requester.set_begun(requester.next());
  if (kick.origin() == KickOrigin::collected)
    requester.set_posted(sequence_number);
  keep_up(requester);
  PhysicalCollectBuffer& pcb = buffers_[kick.physical_collect_buffer()];
  kick.set_status(status_in(standing.control()));
  if (kick.status() == CompletionStatus::success)
    kick.set_status(check_send_work_request(pcb, standing.control()));
  const bool is_datagram = standing.control().service_type() == spec::ServiceType::unreliable_datagram;
  const AddressHandles::Entry* const address =
      is_datagram ? find_address(kick, pcb, standing.control()) : nullptr;
  if (kick.status() == CompletionStatus::success && is_datagram && address == nullptr)
    kick.set_status(CompletionStatus::local_queue_pair_operation_error);
  // The queue pair enters error when completion reaches this work request: earlier ones may succeed. A
  // flushed one follows the failed one, which may be over already.
  if (kick.status() != CompletionStatus::success &&
      kick.status() != CompletionStatus::work_request_flushed_error)
    queue_pairs_.set_send_error(kick.underlying_function(), kick.queue_pair_number(), true);
  plan(kick, standing.transport(), pcb);
  if (address != nullptr)
    pcb.execution.destination = address->address_vector;
  executions_.hand_over(kick);
}

// Destination of a datagram: an address handle of the queue pair's protection domain and port, or null.
const AddressHandles::Entry* QueuePairFetch::find_address(const spec::KickUnit& kick,
                                                          const PhysicalCollectBuffer& pcb,
                                                          const spec::QueuePairControl& control) const {
  const AddressHandles::Entry* const found =
      address_handles_.find(kick.underlying_function(), pcb.header().address_handle());
  const bool is_usable = found != nullptr && found->protection_domain == control.protection_domain() &&
                         found->address_vector.port() == control.port();
  return is_usable ? found : nullptr;
}

// How the command is executed. Its PSNs are assigned here, once.
void QueuePairFetch::plan(const spec::KickUnit& kick, const TransportContext& transport,
                          PhysicalCollectBuffer& pcb) {
  TransportRequester& sent = transport.requester();
  Execution& execution = pcb.execution;
  execution.kick = kick;
  execution.begun = kick_records_.begin(kick.underlying_function());
  execution.packets = 0;
  execution.first_psn = sent.next_psn();
  execution.next_packet = 0;
  execution.entry_begin = 0;
  execution.gather_entry = 0;
  execution.retry_epoch = static_cast<uint8_t>(sent.retry_epoch());
  if (kick.status() != CompletionStatus::success) {
    execution.message_length = 0;
    return;
  }
  if (is_local_operation(pcb.header().opcode()))
    return;
  execution.packets = packets_of(execution.message_length, transport.path().mtu_bytes());
  execution.next_packet = sent.resume_packets();
  sent.set_resume_packets(0);
  sent.set_next_psn(psn_add(sent.next_psn(), execution.packets));
  sent.set_send_sequence_number(sent.send_sequence_number() + 1);
  if (is_read_or_atomic(pcb.header().opcode()))
    sent.set_read_atomic_issued(sent.read_atomic_issued() + 1);
}

// The command is in the send queue; the scheduler fetches it when its turn comes.
void QueuePairFetch::hand_back(const spec::KickUnit& kick, const Standing& standing,
                               SendQueueState& requester) {
  raise_posted(requester, kick.send_queue_sequence_number());
  // The scheduler may have fetched it and still be busy; it may also have fetched one that found no entry.
  if (kick.origin() != KickOrigin::collected)
    rewind(requester);
  ++counters_.function[kick.underlying_function()].commands_handed_back;
  give_back(kick);
  schedule(kick.underlying_function(), kick.queue_pair_number(), standing, requester);
}

// Returns what a kicked command holds; one that found no list entry holds nothing.
void QueuePairFetch::give_back(const spec::KickUnit& kick) {
  if (kick.origin() == KickOrigin::send_queue_mode)
    return;
  collect_buffer_.release(static_cast<uint16_t>(kick.physical_collect_buffer()));
  finishes_handed_back_.push(finish_of(kick));
}

// Queues the queue pair for the scheduler if there is something to fetch and it is not queued already.
void QueuePairFetch::schedule(unsigned underlying_function, uint32_t queue_pair_number,
                              const Standing& standing, SendQueueState& requester) {
  if (requester.scheduled() != 0 || requester.stopped() != 0 || !has_unfetched(requester) ||
      requester.hold() != spec::SendHold::none ||
      !may_send(standing.control(), requester, requester.next()) || !queue_pairs_.pin(queue_pair_number))
    return;
  requester.set_scheduled(1);
  spec::ScheduleRequest request;
  request.set_queue_pair_number(queue_pair_number);
  request.set_underlying_function(underlying_function);
  request.set_quality_of_service_level(standing.control().quality_of_service_level());
  schedule_requests_.push(request);
}

// A command, or the path to it, is malformed: never executed.
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
