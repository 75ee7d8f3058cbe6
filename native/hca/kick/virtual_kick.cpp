#include "hca/kick/virtual_kick.h"

#include "hca/kick/lane_choice.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>

namespace fpga_verbs::hca {

namespace {

constexpr uint64_t bit(unsigned lane) { return uint64_t{1} << lane; }
constexpr unsigned lowest(uint64_t lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); }

constexpr CreditSource source_of(uint32_t shared) {
  return shared != 0 ? CreditSource::shared : CreditSource::own;
}

// The credit of a command that send_queue_scheduler fetched.
constexpr unsigned was_fetched(const spec::KickUnit& kick) {
  return kick.origin() == spec::KickOrigin::scheduled ? 1 : 0;
}

LinkedListQueueParameters list_parameters(const HcaParameters& parameters) {
  // A command on a list has a PCB, so an entry is available for each.
  return {.entries = parameters.physical_collect_buffers + parameters.dedicated_physical_collect_buffers,
          .lists = parameters.transmit_virtual_lanes,
          .addressing = ListAddressing::direct,
          .underlying_functions = parameters.underlying_functions,
          .ready_on_push = true};
}

} // namespace

VirtualKick::VirtualKick(const Ports& ports)
    : parameters_(ports.parameters), counters_(ports.counters), collect_buffer_(ports.collect_buffer),
      buffers_(ports.buffers), queue_pairs_(ports.queue_pairs), reader_(ports.lane_map_reader),
      waiting_for_room_(ports.waiting_for_room), kicks_collected_(ports.kicks_collected),
      kicks_scheduled_(ports.kicks_scheduled), kicks_started_(ports.kicks_started), finishes_(ports.finishes),
      lists_(list_parameters(parameters_)),
      execution_credits_(parameters_.transmit_virtual_lanes, parameters_.execution_credits_per_lane,
                         parameters_.shared_execution_credits, parameters_.shared_execution_credits_cap),
      completion_credits_(parameters_.transmit_virtual_lanes, parameters_.completion_credits_per_lane,
                          parameters_.shared_completion_credits, parameters_.shared_completion_credits_cap),
      holds_(parameters_.queue_pairs), idle_(lanes_below(parameters_.transmit_virtual_lanes)),
      entry_of_(lists_.inbound_credits(), no_entry) {}

bool VirtualKick::set_map(LaneMap map) {
  const uint64_t exist = lanes_below(parameters_.transmit_virtual_lanes);
  for (LaneMap::Levels& levels : map.functions)
    for (uint64_t& own : levels)
      own &= exist;
  map.shared &= exist;
  if (!map.serves(parameters_.underlying_functions))
    return false;
  map_ = map;
  notice_division();
  return true;
}

bool VirtualKick::step() {
  bool worked = false;
  bool has_more = false;
  for (DataLink<spec::FinishUnit>* const finishes : finishes_)
    for (; !finishes->empty(); worked = true) {
      finish(finishes->front());
      finishes->pop();
    }
  const bool are_several = kicks_collected_.size() > 1 || kicks_scheduled_.size() > 1;
  if (are_several)
    kicks_started_.begin_train();
  if (!kicks_scheduled_.empty())
    take(kicks_scheduled_, worked, has_more);
  if (!kicks_collected_.empty())
    take(kicks_collected_, worked, has_more);
  if (are_several)
    kicks_started_.end_train();
  if ((waiting_ | lanes_with_dropped_) == 0)
    return worked && has_more;
  if (const uint64_t lanes = able(); lanes != 0 && kicks_started_.has_credit()) {
    const uint64_t behind = lanes & ~lanes_below(last_started_ + 1);
    start(lowest(behind != 0 ? behind : lanes));
    worked = true;
  }
  return worked && (has_more || able() != 0);
}

// The first commands of a link, up to one that must wait for a credit.
void VirtualKick::take(DataLink<spec::KickUnit>& kicks, bool& worked, bool& has_more) {
  for (unsigned left = most_kicks_; left != 0 && !kicks.empty() && accept(kicks.front()); --left) {
    kicks.pop();
    worked = true;
  }
  has_more = has_more || !kicks.empty();
}

// Lanes whose next command can start, or be dropped.
uint64_t VirtualKick::able() const {
  return (waiting_ & execution_credits_.lanes() & completion_credits_.lanes()) | lanes_to_discard();
}

// Puts a command on the list of its lane. False: it must wait for a credit.
bool VirtualKick::accept(const spec::KickUnit& kick) {
  const unsigned function = kick.underlying_function();
  const auto buffer = static_cast<uint16_t>(kick.physical_collect_buffer());
  if (!has_entry_credit(function))
    return refuse(kick);
  if (!queue_pairs_.pin(kick.queue_pair_number())) {
    collect_buffer_.release(buffer);
    ++counters_.function[function].commands_stale;
    return true;
  }
  const Hold& held = hold(kick.queue_pair_number());
  const unsigned lane =
      held.commands != 0 ? held.lane : choose_lane(function, kick.quality_of_service_level());
  if (lists_.count(static_cast<uint16_t>(lane)) >= list_size(lane)) {
    const bool refused = refuse(kick);
    queue_pairs_.unpin(kick.queue_pair_number());
    return refused;
  }
  if (waiting_ == 0 && lanes_with_dropped_ == 0 && kicks_started_.has_credit() &&
      (bit(lane) & execution_credits_.lanes() & completion_credits_.lanes()) != 0)
    pass(kick, lane);
  else
    list(kick, lane);
  return true;
}

// Stores nothing while no command waits: the command bypasses an empty list.
void VirtualKick::pass(const spec::KickUnit& kick, unsigned lane) {
  last_started_ = lane;
  spec::KickUnit first = kick;
  first.set_transmit_virtual_lane(lane);
  hold_lane(kick, lane);
  take_credits(first);
}

// The queue pair is bound to the lane while it has a command there.
void VirtualKick::hold_lane(const spec::KickUnit& kick, unsigned lane) {
  Hold& held = hold(kick.queue_pair_number());
  held.lane = static_cast<uint8_t>(lane);
  ++held.commands;
  ++load_[lane];
  idle_ &= ~bit(lane);
  ++commands_[kick.underlying_function()];
}

void VirtualKick::list(const spec::KickUnit& kick, unsigned lane) {
  const unsigned function = kick.underlying_function();
  const auto buffer = static_cast<uint16_t>(kick.physical_collect_buffer());
  spec::KickUnit listed = kick;
  listed.set_transmit_virtual_lane(lane);
  std::array<uint64_t, spec::underlying_function::credit_waits_count>& waits =
      counters_.function[function].credit_waits;
  waits[0] += execution_credits_.available(lane) == 0 ? 1 : 0;
  waits[1] += completion_credits_.available(lane) == 0 ? 1 : 0;
  const auto pushed = lists_.push(lane, listed, function);
  assert(pushed.result == LinkedListResult::ok);
  entry_of_[buffer] = pushed.entry;
  fetched_on_[lane] = static_cast<uint16_t>(fetched_on_[lane] + was_fetched(kick));
  hold_lane(kick, lane);
  waiting_ |= bit(lane);
}

// Puts this command in send queue mode; the scheduler will fetch it. False: it must wait for a credit.
bool VirtualKick::refuse(const spec::KickUnit& kick) {
  if (!kicks_started_.has_credit())
    return false;
  ++counters_.function[kick.underlying_function()].list_refusals;
  spec::KickUnit refused = kick;
  refused.set_origin(spec::KickOrigin::send_queue_mode);
  collect_buffer_.release(static_cast<uint16_t>(kick.physical_collect_buffer()));
  kicks_started_.end_train(); // those before it
  kicks_started_.push(refused);
  return true;
}

// The least loaded lane of function and level, or else of the lanes that all share.
unsigned VirtualKick::choose_lane(unsigned underlying_function, spec::QualityOfServiceLevel level) {
  if (reader_.any_invalid())
    if (const std::optional<uint64_t> read = reader_.read_invalid(underlying_function, level))
      set_lanes(underlying_function, level, *read);
  return least_loaded_lane(lanes(underlying_function, level), map_.shared, idle_,
                           [this](unsigned lane) { return load(lane); });
}

VirtualKickPort::Outlook VirtualKick::outlook(unsigned lane) const {
  const uint32_t listed = lists_.count(static_cast<uint16_t>(lane));
  const uint32_t credits = std::min(execution_credits_.available(lane), completion_credits_.available(lane));
  const auto beyond = [listed](uint32_t amount) { return amount - std::min(amount, listed); };
  return {.room = beyond(list_size(lane)), .credits = beyond(credits), .has_fetched = fetched_on_[lane] != 0};
}

uint64_t VirtualKick::lanes_to_discard() const {
  uint64_t lanes = 0;
#ifdef FPGA_VERBS_MUTANT_DROPPED_WAITS_FOR_CREDIT
  return lanes;
#endif
  for (uint64_t rest = lanes_with_dropped_; rest != 0; rest &= rest - 1) {
    const unsigned lane = lowest(rest);
    if (!lists_.lists_ready().test(lane))
      lanes |= bit(lane);
  }
  return lanes;
}

// Starts or discards the first command of a list.
void VirtualKick::start(unsigned lane) {
  last_started_ = lane;
  spec::KickUnit first;
  if (leave_list(lane, first))
    return;
  take_credits(first);
}

void VirtualKick::take_credits(spec::KickUnit first) {
  const unsigned lane = first.transmit_virtual_lane();
  first.set_execution_credit_shared(execution_credits_.take(lane) == CreditSource::shared);
  first.set_completion_credit_shared(completion_credits_.take(lane) == CreditSource::shared);
  kicks_started_.hand_over(first); // which may end it, and give the credits back
}

bool VirtualKick::leave_list(unsigned lane, spec::KickUnit& first) {
  const auto list = static_cast<uint16_t>(lane);
  const bool was_dropped = !lists_.lists_ready().test(list);
  first = lists_.front(list);
  lists_.pop_front(list);
  if (lists_.count(list) == 0)
    waiting_ &= ~bit(lane);
  wake_waiting();
  const auto buffer = static_cast<uint16_t>(first.physical_collect_buffer());
  entry_of_[buffer] = no_entry;
  fetched_on_[lane] = static_cast<uint16_t>(fetched_on_[lane] - was_fetched(first));
  if (was_dropped) {
    if (--dropped_on_[lane] == 0)
      lanes_with_dropped_ &= ~bit(lane);
    collect_buffer_.release(buffer);
    return true;
  }
  return false;
}

VirtualKick::Taken VirtualKick::take_at_once(const spec::FinishUnit& unit) {
  if ((waiting_ | lanes_with_dropped_) != 0)
    return Taken::no;
  finish(unit);
  return Taken::done;
}

VirtualKick::TakenTrain VirtualKick::take_train(std::span<const spec::FinishUnit> train) {
  if ((waiting_ | lanes_with_dropped_) != 0)
    return {};
  for (const spec::FinishUnit& unit : train)
    finish(unit);
  return {.units = train.size()};
}

void VirtualKick::finish(const spec::FinishUnit& unit) {
  const unsigned lane = unit.transmit_virtual_lane();
  if (unit.execution_credit_returned() != 0)
    execution_credits_.give_back(lane, source_of(unit.execution_credit_shared()));
#ifndef FPGA_VERBS_MUTANT_CREDIT_LEAKED
  if (unit.completion_credit_returned() != 0)
    completion_credits_.give_back(lane, source_of(unit.completion_credit_shared()));
#endif
  wake_waiting();
  if (unit.finished() != 0)
    end_command(unit.underlying_function(), unit.queue_pair_number(), lane);
}

// One command less binds the queue pair to its lane.
void VirtualKick::end_command(unsigned underlying_function, uint32_t queue_pair_number, unsigned lane) {
  if (--hold(queue_pair_number).commands == 0 && waiting_for_room_.any())
    waiting_for_room_.unbind(queue_pair_number);
  --commands_[underlying_function];
  if (--load_[lane] == 0)
    idle_ |= bit(lane);
  queue_pairs_.unpin(queue_pair_number);
}

void VirtualKick::wake_waiting() const {
#ifndef FPGA_VERBS_MUTANT_WAITER_NOT_WOKEN
  waiting_for_room_.notice();
#endif
}

void VirtualKick::drop(uint32_t queue_pair_number) {
  waiting_for_room_.release(queue_pair_number);
  const unsigned lane = hold(queue_pair_number).lane;
  for (size_t buffer = 0; buffer < buffers_.size(); ++buffer) {
    const uint16_t entry = entry_of_[buffer];
    if (entry == no_entry || !lists_.data_unit_ready(entry))
      continue;
    const PhysicalCollectBuffer& pcb = buffers_[buffer];
    if (pcb.header().queue_pair_number() != queue_pair_number)
      continue;
    lists_.mark_not_ready(entry);
    ++dropped_on_[lane];
    lanes_with_dropped_ |= bit(lane);
    ++counters_.function[pcb.underlying_function].commands_stale;
    end_command(pcb.underlying_function, queue_pair_number, lane);
  }
  if (lanes_with_dropped_ != 0)
    self_.wake();
}

void VirtualKick::notice_division() {
  self_.wake();
  wake_waiting();
}

VirtualKick::Hold& VirtualKick::hold(uint32_t queue_pair_number) {
  return holds_[queue_pair_number & ((1u << spec::queue_pair_index_bits) - 1)];
}

const VirtualKick::Hold& VirtualKick::hold(uint32_t queue_pair_number) const {
  return holds_[queue_pair_number & ((1u << spec::queue_pair_index_bits) - 1)];
}

VirtualKickPort::QueuePairLane VirtualKick::queue_pair_lane(uint32_t queue_pair_number) const {
  const Hold& held = hold(queue_pair_number);
  return {.commands = held.commands, .lane = held.lane};
}

const char* VirtualKick::verify() const {
  if (const char* contradiction = lists_.verify(); contradiction != nullptr)
    return contradiction;
  std::array<uint32_t, spec::transmit_virtual_lanes> held{};
  uint32_t kicked = 0;
  for (const Hold& hold : holds_) {
    held[hold.lane] += hold.commands;
    kicked += hold.commands;
  }
  for (const uint32_t commands : commands_)
    kicked -= commands;
  if (kicked != 0)
    return "commands of the functions are not those of the queue pairs";
  for (unsigned lane = 0; lane < parameters_.transmit_virtual_lanes; ++lane) {
    const uint32_t listed = lists_.count(static_cast<uint16_t>(lane));
    const uint32_t alive = listed - dropped_on_[lane];
    if (held[lane] != load_[lane] || load_[lane] < alive)
      return "the load of a lane is not what its queue pairs have on it";
    if (((idle_ & bit(lane)) != 0) != (load_[lane] == 0) || ((waiting_ & bit(lane)) != 0) != (listed != 0))
      return "a lane is not in the state that its commands are in";
    const uint32_t started = load_[lane] - alive;
    if (execution_credits_.held(lane) > started || completion_credits_.held(lane) > started)
      return "a lane holds more credits than it has commands started";
  }
  return nullptr;
}

} // namespace fpga_verbs::hca
