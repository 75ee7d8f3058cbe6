#include "rtl/virtual_kick_rtl.h"

#include "Vvirtual_kick.h"
#include "hca/kick/lane_choice.h"

#include <verilated.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace fpga_verbs::rtl {

namespace {

// Clocks for which a unit can be inside the RTL without a visible sign.
constexpr unsigned pipeline_clocks = 24;
// Clocks in which a command that was listed, or for which a credit has come back, may start.
constexpr unsigned start_clocks = 12;
constexpr unsigned unit_dwords = spec::KickUnit::bytes / sizeof(uint32_t);
static_assert(spec::FinishUnit::bytes == spec::KickUnit::bytes);
using hca::CreditKind;

constexpr std::array levels{spec::QualityOfServiceLevel::low, spec::QualityOfServiceLevel::high};

template <class Wide, class Unit> void put(Wide& wide, const Unit& unit, unsigned at = 0) {
  for (unsigned dword = 0; dword < unit_dwords; ++dword)
    wide[at * unit_dwords + dword] = unit.dwords[dword];
}

template <class Wide> spec::KickUnit kick_unit(const Wide& wide) {
  spec::KickUnit unit;
  for (unsigned dword = 0; dword < unit_dwords; ++dword)
    unit.dwords[dword] = wide[dword];
  return unit;
}

} // namespace

VirtualKickRtl::VirtualKickRtl(const Ports& ports)
    : ports_(ports), context_(std::make_unique<VerilatedContext>()),
      rtl_(std::make_unique<Vvirtual_kick>(context_.get())), queue_pair_lanes_(ports.parameters.queue_pairs) {
  assert(ports_.finishes.size() == finish_ports);
  rtl_->reset = 1;
  tick();
  rtl_->reset = 0;
  // Clears the state of each queue pair.
  for (unsigned queue_pair = 0; queue_pair < queue_pairs_of_rtl; ++queue_pair)
    tick();
  const hca::HcaParameters& parameters = ports_.parameters;
  set_map(hca::LaneMap::initial(parameters));
  for (unsigned function = 0; function < parameters.underlying_functions; ++function)
    set_entry_credits(function, entries_of_rtl);
  set_shared_credits(CreditKind::execution, parameters.shared_execution_credits);
  set_shared_credits(CreditKind::completion, parameters.shared_completion_credits);
  for (unsigned lane = 0; lane < parameters.transmit_virtual_lanes; ++lane) {
    set_list_size(lane, entries_of_rtl);
    divide_credits(CreditKind::execution, lane,
                   {.own = parameters.execution_credits_per_lane,
                    .shared_cap = parameters.shared_execution_credits_cap});
    divide_credits(CreditKind::completion, lane,
                   {.own = parameters.completion_credits_per_lane,
                    .shared_cap = parameters.shared_completion_credits_cap});
  }
}

VirtualKickRtl::~VirtualKickRtl() {
  RtlCountersSum::of_process().add(counters_of_rtl_);
  rtl_->final();
}

bool VirtualKickRtl::step() {
  if (quiet_ > pipeline_clocks)
    quiet_ = 0; // woken
  unsigned clocks = 0;
  do {
    quiet_ = clock() ? 0 : quiet_ + 1;
    if (rtl_->fetch_lanes)
      answer_fetch();
  } while (room_is_due() && ++clocks < pipeline_clocks);
  return quiet_ <= pipeline_clocks;
}

void VirtualKickRtl::tick() {
  rtl_->clock = 0;
  rtl_->eval();
  rtl_->clock = 1;
  rtl_->eval();
  ++now_;
  ++counters_of_rtl_.clocks;
}

// One clock. False: nothing was accepted or sent, and no kick waits for an entry of the mapping table.
bool VirtualKickRtl::clock() {
  drive();
  rtl_->clock = 0;
  rtl_->eval();
  // Pins before it unpins; the answer is due in the next clock.
  const bool pinned = rtl_->pin && ports_.queue_pairs.pin(rtl_->pin_queue_pair_number);
  const bool sent = follow_started();
  const bool took_kick = follow_kicks();
  const bool took_finish = follow_finishes();
  const bool waits = rtl_->fetch_lanes;
  moving_ = rtl_->starting || rtl_->listed || took_finish ? start_clocks : moving_ - (moving_ != 0);
  rtl_->clock = 1;
  rtl_->eval();
  rtl_->pinned = pinned;
  ++now_;
  ++counters_of_rtl_.clocks;
  return sent || took_kick || took_finish || waits;
}

// The RTL would refuse a kick that finds no room, even if units leaving the lists are making room: the kick
// waits.
void VirtualKickRtl::drive() {
  const bool waits = room_is_due();
  rtl_->kick_scheduled = !waits && !ports_.kicks_scheduled.empty();
  if (rtl_->kick_scheduled)
    put(rtl_->kick_scheduled_unit, ports_.kicks_scheduled.front());
  rtl_->kick_collected = !waits && !ports_.kicks_collected.empty();
  if (rtl_->kick_collected)
    put(rtl_->kick_collected_unit, ports_.kicks_collected.front());
  rtl_->kick_started_credit = ports_.kicks_started.has_credit();
  unsigned finish = 0;
  for (unsigned port = 0; port < finish_ports; ++port)
    if (!ports_.finishes[port]->empty()) {
      finish |= 1U << port;
      put(rtl_->finish_unit, ports_.finishes[port]->front(), port);
    }
  rtl_->finish = static_cast<uint8_t>(finish);
}

// Whether every list, and the entry credits of every function, can take all kicks of the stages and one more.
bool VirtualKickRtl::has_room_everywhere() const {
  const size_t kicks = taken_.size() + 1;
  for (unsigned lane = 0; lane < ports_.parameters.transmit_virtual_lanes; ++lane)
    if (on_lists_[lane].size() + kicks > list_sizes_[lane])
      return false;
  for (unsigned function = 0; function < ports_.parameters.underlying_functions; ++function)
    if (listed_of_[function] + kicks > entry_credits_[function])
      return false;
  return true;
}

// Whether room is short but may appear by itself: kicks are in the stages, or commands are started now or in
// the next clocks and have not left their list, or are being dropped.
bool VirtualKickRtl::room_is_due() const {
  const bool moves = !taken_.empty() || moving_ != 0 || leaving_ != 0 || dropped_ != 0;
  return moves && !has_room_everywhere();
}

// Commands that leave their list, started or dropped before; those that come out, and those refused in the
// previous clock.
bool VirtualKickRtl::follow_started() {
  if (rtl_->kick_corrupted)
    ++ports_.counters.device.detected_bit_errors;
  leaving_ += rtl_->starting;
  if (rtl_->left) {
    --leaving_;
    count_left(rtl_->left_lane);
  }
  if (rtl_->discarded) {
    --dropped_;
    count_left(rtl_->discarded_lane);
    ports_.collect_buffer.release(rtl_->discarded_physical_collect_buffer);
    ++counters_of_rtl_.commands_dropped;
  }
  if (!rtl_->kick_started)
    return rtl_->left || rtl_->discarded;
  const auto started = kick_unit(rtl_->kick_started_unit);
  if (started.origin() != spec::KickOrigin::send_queue_mode)
    count(now_ - taken_at_[started.physical_collect_buffer()]);
  ports_.kicks_started.push(started);
  return true;
}

void VirtualKickRtl::count_joined(const spec::KickUnit& kick, unsigned lane) {
  const auto function = static_cast<uint8_t>(kick.underlying_function());
  auto& waits = ports_.counters.function[function].credit_waits;
  waits[0] += credits_free(CreditKind::execution, lane) != 0 ? 0 : 1;
  waits[1] += credits_free(CreditKind::completion, lane) != 0 ? 0 : 1;
  on_lists_[lane].push_back(function);
  ++listed_of_[function];
  ++loads_[lane];
  QueuePairLane& held = lane_of(kick.queue_pair_number());
  held.lane = lane;
  ++held.commands;
}

// A list has one entry less.
void VirtualKickRtl::count_left(unsigned lane) {
  assert(!on_lists_[lane].empty());
  --listed_of_[on_lists_[lane].front()];
  on_lists_[lane].pop_front();
  ports_.waiting_for_room.notice();
}

// One command less binds the queue pair to its lane.
void VirtualKickRtl::end_command(uint32_t queue_pair_number) {
  QueuePairLane& held = lane_of(queue_pair_number);
  --loads_[held.lane];
  if (--held.commands == 0 && ports_.waiting_for_room.any())
    ports_.waiting_for_room.unbind(queue_pair_number);
}

// A kick leaves the last stage: to a list, or its PCB is returned. Others are accepted.
bool VirtualKickRtl::follow_kicks() {
  if (rtl_->listed || rtl_->release_buffer) {
    const spec::KickUnit kick = taken_.front();
    taken_.pop_front();
    if (rtl_->listed)
      count_joined(kick, rtl_->listed_lane);
    else {
      ports_.collect_buffer.release(static_cast<uint16_t>(kick.physical_collect_buffer()));
      hca::FunctionCounters& counters = ports_.counters.function[kick.underlying_function()];
      ++(rtl_->command_stale ? counters.commands_stale : counters.list_refusals);
    }
  }
  const auto take = [this](auto& link) {
    taken_at_[link.front().physical_collect_buffer()] = now_;
    taken_.push_back(link.front());
    ++counters_of_rtl_.kicks_taken;
    link.pop();
  };
  const bool scheduled = rtl_->kick_scheduled && rtl_->kick_scheduled_ready;
  const bool collected = rtl_->kick_collected && rtl_->kick_collected_ready;
  if (scheduled)
    take(ports_.kicks_scheduled);
  if (collected)
    take(ports_.kicks_collected);
  return rtl_->listed || rtl_->release_buffer || scheduled || collected;
}

// Commands end, finished or dropped. Their pins, and those of refused ones, go a clock or two later.
bool VirtualKickRtl::follow_finishes() {
  if (rtl_->unpin)
    ports_.queue_pairs.unpin(rtl_->unpin_queue_pair_number);
  const unsigned took = rtl_->finish & rtl_->finish_ready;
  for (unsigned port = 0; port < finish_ports; ++port)
    if ((took >> port & 1) != 0) {
      const spec::FinishUnit unit = ports_.finishes[port]->front();
      ports_.finishes[port]->pop();
      if (unit.finished() != 0)
        end_command(unit.queue_pair_number());
    }
  if (rtl_->dropped) {
    ++dropped_;
    ++ports_.counters.function[rtl_->counted_underlying_function].commands_stale;
    end_command(rtl_->drop_queue_pair_number);
  }
  if (took != 0)
    ports_.waiting_for_room.notice();
  return took != 0;
}

// From the state that the RTL tells without a clock: no time passes here. Kicks in its stages come before a
// fetched command.
hca::VirtualKickPort::Outlook VirtualKickRtl::outlook(unsigned lane) const {
  const auto beyond = [](uint32_t amount, size_t less) {
    return amount - std::min(amount, static_cast<uint32_t>(less));
  };
  const uint32_t credits =
      std::min(credits_free(CreditKind::execution, lane), credits_free(CreditKind::completion, lane));
  const uint32_t commands = listed(lane);
  return {.room = beyond(list_sizes_[lane], commands + taken_.size()),
          .credits = beyond(credits, commands + taken_.size()),
          .has_fetched = rtl_->outlook_has_fetched != 0};
}

// The lane that the RTL would choose once all that has gone in has joined.
unsigned VirtualKickRtl::choose_lane(unsigned underlying_function, spec::QualityOfServiceLevel level) {
  rtl_->outlook_underlying_function = static_cast<uint8_t>(underlying_function);
  rtl_->outlook_quality_of_service_level = static_cast<uint8_t>(level);
  rtl_->eval();
  if (rtl_->outlook_lane_invalid)
    read_lanes(underlying_function, level);
  uint64_t idle = 0;
  for (unsigned lane = 0; lane < ports_.parameters.transmit_virtual_lanes; ++lane)
    idle |= uint64_t{loads_[lane] == 0} << lane;
  return hca::least_loaded_lane(lanes(underlying_function, level), shared_lanes(), idle,
                                [this](unsigned lane) { return loads_[lane]; });
}

// Commands that are under way to or from a list come first. The pin of the last one goes a clock after the
// drop.
void VirtualKickRtl::drop(uint32_t queue_pair_number) {
  ports_.waiting_for_room.release(queue_pair_number);
  rtl_->drop_queue_pair_number = queue_pair_number;
  strobe(rtl_->drop);
  while (rtl_->dropping)
    clock();
  clock();
  quiet_ = 0;
  self_.wake();
}

// A kick waits for an entry of the mapping table that send_queue_scheduler may have requested already.
void VirtualKickRtl::answer_fetch() {
  read_lanes(rtl_->fetch_lanes_underlying_function,
             static_cast<spec::QualityOfServiceLevel>(rtl_->fetch_lanes_quality_of_service_level));
  strobe(rtl_->fetched_lanes);
}

void VirtualKickRtl::read_lanes(unsigned underlying_function, spec::QualityOfServiceLevel level) {
  if (const auto lanes = ports_.lane_map_reader.read_invalid(underlying_function, level))
    set_lanes(underlying_function, level, *lanes);
}

// A clock with one of the inputs set that change state.
template <class Input> void VirtualKickRtl::strobe(Input& input) {
  input = 1;
  if (clock())
    quiet_ = 0;
  moving_ = start_clocks;
  input = 0;
}

// In an order in which every level has a lane at any time.
bool VirtualKickRtl::set_map(hca::LaneMap map) {
  const unsigned functions = ports_.parameters.underlying_functions;
  const uint64_t exist = hca::lanes_below(ports_.parameters.transmit_virtual_lanes);
  for (hca::LaneMap::Levels& of_levels : map.functions)
    for (uint64_t& own : of_levels)
      own &= exist;
  map.shared &= exist;
  if (!map.serves(functions))
    return false;
  if (map == map_)
    return true;
  map_ = map;
  const auto tell_shared = [this] {
    rtl_->set_lanes_lanes = static_cast<uint16_t>(shared_lanes());
    strobe(rtl_->set_shared_lanes);
  };
  if (shared_lanes() != 0)
    tell_shared();
  for (unsigned function = 0; function < functions; ++function)
    for (const spec::QualityOfServiceLevel level : levels) {
      rtl_->set_lanes_underlying_function = static_cast<uint8_t>(function);
      rtl_->set_lanes_quality_of_service_level = static_cast<uint8_t>(level);
      rtl_->set_lanes_lanes = static_cast<uint16_t>(lanes(function, level));
      strobe(rtl_->set_lanes);
    }
  if (shared_lanes() == 0)
    tell_shared();
  notice_division();
  return true;
}

void VirtualKickRtl::invalidate(uint32_t entries) {
  ports_.lane_map_reader.invalidate(entries);
  rtl_->invalidate_lanes_entries = static_cast<uint16_t>(entries);
  strobe(rtl_->invalidate_lanes);
}

void VirtualKickRtl::set_entry_credits(unsigned underlying_function, uint32_t credits) {
  entry_credits_[underlying_function] = credits;
  rtl_->set_entry_credits_underlying_function = static_cast<uint8_t>(underlying_function);
  rtl_->set_entry_credits_credits = static_cast<uint8_t>(credits);
  strobe(rtl_->set_entry_credits);
}

void VirtualKickRtl::set_list_size(unsigned lane, uint32_t commands) {
  list_sizes_[lane] = commands;
  rtl_->set_list_size_lane = static_cast<uint8_t>(lane);
  rtl_->set_list_size_commands = static_cast<uint8_t>(commands);
  strobe(rtl_->set_list_size);
}

void VirtualKickRtl::divide_credits(CreditKind kind, unsigned lane, const hca::LaneCreditDivision& division) {
  divisions_[static_cast<size_t>(kind)].lanes[lane] = division;
  rtl_->set_credits_lane = static_cast<uint8_t>(lane);
  rtl_->set_credits_own = static_cast<uint16_t>(division.own);
  rtl_->set_credits_shared_cap = static_cast<uint16_t>(division.shared_cap);
  strobe(kind == CreditKind::execution ? rtl_->set_execution_credits : rtl_->set_completion_credits);
}

void VirtualKickRtl::set_shared_credits(CreditKind kind, uint32_t credits) {
  divisions_[static_cast<size_t>(kind)].shared = credits;
  rtl_->set_shared_credits = static_cast<uint16_t>(credits);
  strobe(kind == CreditKind::execution ? rtl_->set_shared_execution_credits
                                       : rtl_->set_shared_completion_credits);
}

void VirtualKickRtl::notice_division() {
  self_.wake();
  ports_.waiting_for_room.notice();
}

uint32_t VirtualKickRtl::listed(unsigned lane) const {
  rtl_->query_lane = static_cast<uint8_t>(lane);
  rtl_->eval();
  return rtl_->query_commands;
}

uint32_t VirtualKickRtl::own_credits_free(CreditKind kind, unsigned lane) const {
  rtl_->query_lane = static_cast<uint8_t>(lane);
  rtl_->eval();
  const uint32_t own = credit_division(kind, lane).own;
  const uint32_t held = kind == CreditKind::execution ? rtl_->query_execution_credits_held
                                                      : rtl_->query_completion_credits_held;
  return own - std::min(own, held);
}

uint32_t VirtualKickRtl::shared_credits_held(CreditKind kind, unsigned lane) const {
  rtl_->query_lane = static_cast<uint8_t>(lane);
  rtl_->eval();
  return kind == CreditKind::execution ? rtl_->query_shared_execution_credits_held
                                       : rtl_->query_shared_completion_credits_held;
}

uint32_t VirtualKickRtl::shared_credits_free(CreditKind kind) const {
  const uint32_t shared = shared_credits(kind);
  const uint32_t held = kind == CreditKind::execution ? rtl_->shared_execution_credits_held
                                                      : rtl_->shared_completion_credits_held;
  return shared - std::min(shared, held);
}

// Credits that a lane could take one after the other.
uint32_t VirtualKickRtl::credits_free(CreditKind kind, unsigned lane) const {
  const uint32_t cap = credit_division(kind, lane).shared_cap;
  const uint32_t left_below_cap = cap - std::min(cap, shared_credits_held(kind, lane));
  return own_credits_free(kind, lane) + std::min(shared_credits_free(kind), left_below_cap);
}

hca::VirtualKickPort::QueuePairLane& VirtualKickRtl::lane_of(uint32_t queue_pair_number) {
  return queue_pair_lanes_[queue_pair_number & ((1u << spec::queue_pair_index_bits) - 1)];
}

hca::VirtualKickPort::QueuePairLane VirtualKickRtl::queue_pair_lane(uint32_t queue_pair_number) const {
  return queue_pair_lanes_[queue_pair_number & ((1u << spec::queue_pair_index_bits) - 1)];
}

uint32_t VirtualKickRtl::commands(unsigned underlying_function) const {
  rtl_->query_underlying_function = static_cast<uint8_t>(underlying_function);
  rtl_->eval();
  return rtl_->query_function_commands;
}

// When nothing is in transit inside, the RTL holds what entered and did not leave.
const char* VirtualKickRtl::verify() const {
  if (quiet_ <= pipeline_clocks)
    return nullptr;
  for (unsigned lane = 0; lane < ports_.parameters.transmit_virtual_lanes; ++lane)
    if (listed(lane) != on_lists_[lane].size())
      return "virtual_kick: the RTL has other commands on a list than have joined it";
  uint32_t kicked = 0;
  for (const QueuePairLane& held : queue_pair_lanes_)
    kicked += held.commands;
  for (unsigned function = 0; function < ports_.parameters.underlying_functions; ++function)
    kicked -= commands(function);
  return kicked == 0 ? nullptr : "virtual_kick: the RTL has other commands than are kicked and not finished";
}

void VirtualKickRtl::count(uint64_t clocks) {
  ++counters_of_rtl_.commands_started;
  counters_of_rtl_.start_clocks += clocks;
  counters_of_rtl_.least_start_clocks = std::min(counters_of_rtl_.least_start_clocks, clocks);
  counters_of_rtl_.most_start_clocks = std::max(counters_of_rtl_.most_start_clocks, clocks);
  RtlCountersSum::of_process().add(std::exchange(counters_of_rtl_, {}));
}

} // namespace fpga_verbs::rtl
