#include "hca/send_queue/send_queue_scheduler.h"

#include "hca/base/sequence_number.h"
#include "hca/send_queue/may_send.h"
#include "spec/commands.h"

#include <optional>

namespace fpga_verbs::hca {

namespace {

using spec::Refusal;

} // namespace

SendQueueScheduler::SendQueueScheduler(const HcaParameters& parameters, Counters& counters, HostPort& host,
                                       CollectBufferPort& collect_buffer, PhysicalCollectBuffers& buffers,
                                       QueuePairStateCache& queue_pairs, VirtualKickPort& virtual_kick,
                                       WaitingForRoom& waiting_for_room, SendQueueReader& send_queues,
                                       EventPort& events, KickRecords& kick_records,
                                       DataLink<spec::ScheduleRequest>& schedule_requests,
                                       DataLink<spec::KickUnit>& kicks_scheduled,
                                       DataLink<spec::ScheduleDone>& schedule_dones)
    : parameters_(parameters), counters_(counters), collect_buffer_(collect_buffer), buffers_(buffers),
      queue_pairs_(queue_pairs), virtual_kick_(virtual_kick), waiting_for_room_(waiting_for_room),
      send_queues_(send_queues), kick_records_(kick_records), schedule_requests_(schedule_requests),
      kicks_scheduled_(kicks_scheduled), schedule_dones_(schedule_dones),
      structures_(parameters, counters, host, events) {}

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
  // The function may have been reset in between.
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
  if (!turn_.active)
    return begin_turn();
  const auto found = queue_pairs_.find(turn_.underlying_function, turn_.queue_pair_number);
  // Commands executed meanwhile from an earlier PCB may have left the send queue.
  if (found && sequence_distance(found->requester.next(), turn_.fetch_next) < 0)
    turn_.fetch_next = static_cast<uint16_t>(found->requester.next());
  if (!found || !has_more(*found)) {
    end_turn(Refusal::none);
    return true;
  }
  const WaitingForRoom::Waiter queue_pair{.underlying_function = turn_.underlying_function,
                                          .level = found->control.quality_of_service_level(),
                                          .queue_pair_number = turn_.queue_pair_number};
  const auto [lane, bound] = virtual_kick_.next_lane(queue_pair);
#ifdef FPGA_VERBS_MUTANT_FETCHED_WITHOUT_ROOM
  const bool has_room = true;
#else
  const bool has_room = takes_another(lane) && virtual_kick_.has_entry_credit(turn_.underlying_function);
#endif
  if (!has_room)
    return wait_for_room(queue_pair, lane, bound);
  const std::optional<uint16_t> buffer = collect_buffer_.take_dedicated();
  if (buffer) {
    fetch(found->control, *buffer);
  } else if (!turn_.lacked_buffer) {
    turn_.lacked_buffer = true;
    ++counters_.function[turn_.underlying_function].dedicated_waits;
  }
  return buffer.has_value();
}

bool SendQueueScheduler::begin_turn() {
  const std::optional<unsigned> place =
      waiting_for_room_.any() && !(structures_next_ && structures_.any()) ? place_with_room() : std::nullopt;
  structures_next_ = place.has_value();
  if (place) {
    const WaitingForRoom::Waiter waiter = waiting_for_room_.take(*place);
    begin_turn(waiter.underlying_function, waiter.queue_pair_number);
    return true;
  }
  if (!structures_.any())
    return false;
  if (const auto waiting = structures_.take())
    begin_turn(waiting->underlying_function, waiting->queue_pair_number);
  return true;
}

void SendQueueScheduler::begin_turn(unsigned underlying_function, uint32_t queue_pair_number) {
  const auto found = queue_pairs_.find(underlying_function, queue_pair_number);
  turn_ = {.active = true,
           .underlying_function = static_cast<uint8_t>(underlying_function),
           .fetch_next = static_cast<uint16_t>(found ? found->requester.fetch_next() : 0),
           .queue_pair_number = queue_pair_number,
           .fetched = 0};
}

// Queue pairs that need not wait any longer, in turn.
std::optional<unsigned> SendQueueScheduler::place_with_room() {
  const BitMask& occupied = waiting_for_room_.occupied();
  const auto first = static_cast<unsigned>(occupied.find_next(last_place_));
  unsigned place = first;
  do {
    if (takes(place)) {
      last_place_ = place;
      return place;
    }
    place = static_cast<unsigned>(occupied.find_next(place));
  } while (place != first);
  return std::nullopt;
}

bool SendQueueScheduler::takes(unsigned place) {
  if (place == WaitingForRoom::let_go)
    return true;
  if (WaitingForRoom::is_lane(place))
    return takes_another(place);
  const WaitingForRoom::Waiter waiter = waiting_for_room_.front(place);
  return WaitingForRoom::is_level(place)
             ? takes_another(virtual_kick_.choose_lane(waiter.underlying_function, waiter.level))
             : virtual_kick_.has_entry_credit(waiter.underlying_function);
}

// Whether a lane accepts another command after those on their way to virtual_kick: one that would start at
// once, or the only fetched one that waits there.
bool SendQueueScheduler::takes_another(unsigned lane) const {
  const size_t ahead = kicks_scheduled_.size();
  if (ahead != 0)
    kicks_scheduled_.want(); // there may be room when virtual_kick has taken it
  const VirtualKickPort::Outlook outlook = virtual_kick_.outlook(lane);
  if (outlook.room <= ahead || outlook.credits > ahead)
    return outlook.room > ahead;
#ifdef FPGA_VERBS_MUTANT_STALLED_LANE_TAKES_EVERY_BUFFER
  return true;
#endif
  return ahead == 0 && !outlook.has_fetched && collect_buffer_.has_dedicated_to_spare();
}

// Commands on their way to virtual_kick may be for other lanes, or start at once: check again.
bool SendQueueScheduler::wait_for_room(const WaitingForRoom::Waiter& queue_pair, unsigned lane, bool bound) {
  if (!kicks_scheduled_.empty())
    return false;
  if (turn_.fetched != 0) {
    end_turn(Refusal::none);
    return true;
  }
  turn_.active = false;
  unsigned place = WaitingForRoom::of_function(queue_pair.underlying_function);
  if (virtual_kick_.has_entry_credit(queue_pair.underlying_function))
    place = bound ? WaitingForRoom::of_lane(lane)
                  : WaitingForRoom::of_level(queue_pair.underlying_function, queue_pair.level);
  waiting_for_room_.append(place, queue_pair);
  ++counters_.function[queue_pair.underlying_function]
        .room_waits[static_cast<size_t>(WaitingForRoom::wait_at(place))];
  return true;
}

void SendQueueScheduler::end_turn(Refusal refusal) {
  turn_.active = false;
  push_done(turn_.underlying_function, turn_.queue_pair_number, turn_.fetch_next, refusal);
}

bool SendQueueScheduler::has_more(const QueuePairParts& queue_pair) const {
  const auto& [control, requester, completion, responder] = queue_pair;
  return turn_.fetched < parameters_.scheduler_batch && requester.stopped() == 0 &&
         control.destroying() == 0 && may_send(control, requester, turn_.fetch_next) &&
         sequence_distance(turn_.fetch_next, requester.posted()) >= 0;
}

void SendQueueScheduler::fetch(const spec::QueuePairControl& control, uint16_t buffer) {
  PhysicalCollectBuffer& pcb = buffers_[buffer];
  pcb.underlying_function = turn_.underlying_function;
  pcb.fetch_begun = kick_records_.begin(turn_.underlying_function);
  const Refusal refusal =
      send_queues_.read(turn_.underlying_function, control, turn_.queue_pair_number, turn_.fetch_next, pcb);
  if (refusal != Refusal::none) {
    collect_buffer_.release(buffer);
    end_turn(refusal);
    return;
  }
  collect_buffer_.fetched(buffer);
  kick(buffer);
  ++turn_.fetch_next;
  ++turn_.fetched;
}

void SendQueueScheduler::kick(uint16_t buffer) {
  PhysicalCollectBuffer& pcb = buffers_[buffer];
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
  kick_records_.kicked(unit, no_buffer, header.opcode(), pcb.fetch_begun);
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
