#include "hca/send_queue_scheduler.h"

#include "hca/sequence_number.h"
#include "spec/commands.h"

#include <optional>

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

} // namespace

SendQueueScheduler::SendQueueScheduler(const HcaParameters& parameters, Counters& counters, HostPort& host,
                                       CollectBuffer& collect_buffer, QueuePairStateCache& queue_pairs,
                                       SendQueueReader& send_queues, EventPort& events,
                                       KickRecords& kick_records,
                                       DataLink<spec::ScheduleRequest, 16>& schedule_requests,
                                       DataLink<spec::KickUnit, 16>& kicks_scheduled,
                                       DataLink<spec::ScheduleDone, 16>& schedule_dones)
    : parameters_(parameters), counters_(counters), collect_buffer_(collect_buffer),
      queue_pairs_(queue_pairs), send_queues_(send_queues), kick_records_(kick_records),
      schedule_requests_(schedule_requests), kicks_scheduled_(kicks_scheduled),
      schedule_dones_(schedule_dones), structures_(parameters, counters, host, events) {}

bool SendQueueScheduler::step() {
  const bool requested = take_request();
  const bool turned_out = turn_out();
  const bool served = serve();
  return requested || turned_out || served;
}

bool SendQueueScheduler::take_request() {
  if (schedule_requests_.empty())
    return false;
  const spec::ScheduleRequest request = schedule_requests_.front();
  schedule_requests_.pop();
  const auto found = queue_pairs_.find(request.underlying_function(), request.queue_pair_number());
  // A reset of the function may have come between.
  if (found.absence == Absence::none || found.absence == Absence::context_memory_fault)
    structures_.append(request);
  return true;
}

bool SendQueueScheduler::turn_out() {
  if (!structures_.condemned() || !schedule_dones_.has_credit())
    return false;
  const auto turned_out = structures_.turn_out();
  if (!turned_out)
    return true;
  const auto [function, number] = turned_out->waiting;
  const auto found = queue_pairs_.find(function, number);
  push_done(function, number, found ? found->requester.fetch_next() : 0, turned_out->refusal);
  return true;
}

bool SendQueueScheduler::serve() {
  if (!schedule_dones_.has_credit() || !kicks_scheduled_.has_credit())
    return false;
  if (!turn_.active) {
    if (!structures_.any())
      return false;
    begin_turn();
    return true;
  }
  const auto found = queue_pairs_.find(turn_.underlying_function, turn_.queue_pair_number);
  // What was executed meanwhile, from a PCB that was fetched before, may have left the send queue.
  if (found && sequence_distance(found->requester.next(), turn_.fetch_next) < 0)
    turn_.fetch_next = static_cast<uint16_t>(found->requester.next());
  if (!found || !has_more(*found)) {
    end_turn(Refusal::none);
    return true;
  }
  const std::optional<uint16_t> buffer = collect_buffer_.take_dedicated();
  if (buffer)
    fetch(found->control, *buffer);
  return buffer.has_value();
}

void SendQueueScheduler::begin_turn() {
  const auto waiting = structures_.take();
  if (!waiting)
    return;
  const auto found = queue_pairs_.find(waiting->underlying_function, waiting->queue_pair_number);
  turn_ = {.active = true,
           .underlying_function = static_cast<uint8_t>(waiting->underlying_function),
           .fetch_next = static_cast<uint16_t>(found ? found->requester.fetch_next() : 0),
           .queue_pair_number = waiting->queue_pair_number,
           .fetched = 0};
}

void SendQueueScheduler::end_turn(Refusal refusal) {
  turn_.active = false;
  push_done(turn_.underlying_function, turn_.queue_pair_number, turn_.fetch_next, refusal);
}

bool SendQueueScheduler::has_more(const QueuePairParts& queue_pair) const {
  const auto& [control, requester, completion, responder] = queue_pair;
  return turn_.fetched < parameters_.scheduler_batch && requester.stopped() == 0 &&
         control.destroying() == 0 && control.state() != spec::QueuePairState::send_queue_drained &&
         sequence_distance(turn_.fetch_next, requester.posted()) >= 0;
}

void SendQueueScheduler::fetch(const spec::QueuePairControl& control, uint16_t buffer) {
  PhysicalCollectBuffer& pcb = collect_buffer_.buffer(buffer);
  pcb.underlying_function = turn_.underlying_function;
  pcb.first_write = kick_records_.begin(turn_.underlying_function);
  const Refusal refusal =
      send_queues_.read(turn_.underlying_function, control, turn_.queue_pair_number, turn_.fetch_next, pcb);
  if (refusal != Refusal::none) {
    collect_buffer_.release(buffer);
    end_turn(refusal);
    return;
  }
  kick(buffer);
  ++turn_.fetch_next;
  ++turn_.fetched;
}

void SendQueueScheduler::kick(uint16_t buffer) {
  PhysicalCollectBuffer& pcb = collect_buffer_.buffer(buffer);
  const spec::CommandHeader& header = pcb.header();
  pcb.state = spec::PhysicalCollectBufferState::kicked;
  pcb.quality_of_service_level = header.quality_of_service_level();
  pcb.kick_number = collect_buffer_.take_kick_number();
  spec::KickUnit unit;
  unit.set_physical_collect_buffer(buffer);
  unit.set_underlying_function(pcb.underlying_function);
  unit.set_quality_of_service_level(pcb.quality_of_service_level);
  unit.set_origin(spec::KickOrigin::scheduled);
  unit.set_queue_pair_number(header.queue_pair_number());
  unit.set_send_queue_sequence_number(header.send_queue_sequence_number());
  unit.set_length(header.length());
  unit.set_kick_number(pcb.kick_number);
  kicks_scheduled_.push(unit);
  ++counters_.function[pcb.underlying_function].scheduled_kicks;
  kick_records_.kicked(unit, no_buffer, header.opcode(), pcb.first_write);
}

void SendQueueScheduler::push_done(unsigned underlying_function, uint32_t queue_pair_number,
                                   uint32_t fetch_next, Refusal refusal) {
  spec::ScheduleDone done;
  done.set_underlying_function(underlying_function);
  done.set_queue_pair_number(queue_pair_number);
  done.set_fetch_next(fetch_next);
  done.set_refusal(refusal);
  schedule_dones_.push(done);
}

} // namespace fpga_verbs::hca
