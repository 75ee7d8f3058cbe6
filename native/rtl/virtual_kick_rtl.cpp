#include "rtl/virtual_kick_rtl.h"

#include "Vvirtual_kick.h"

#include <verilated.h>

#include <cassert>
#include <utility>

namespace fpga_verbs::rtl {

namespace {

// Clocks that something can be on its way inside without being seen.
constexpr unsigned pipeline_clocks = 16;
// Clocks of a drop before the first command is dropped.
constexpr unsigned settle_clocks = 8;
constexpr unsigned unit_dwords = spec::KickUnit::bytes / sizeof(uint32_t);
static_assert(spec::FinishUnit::bytes == spec::KickUnit::bytes);
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
    : VirtualKick(ports), context_(std::make_unique<VerilatedContext>()),
      rtl_(std::make_unique<Vvirtual_kick>(context_.get())) {
  assert(finishes_.size() == finish_ports);
  rtl_->reset = 1;
  tick();
  rtl_->reset = 0;
  // What it has of each queue pair is cleared.
  for (unsigned queue_pair = 0; queue_pair < queue_pairs_of_rtl; ++queue_pair)
    tick();
  tell_division();
}

VirtualKickRtl::~VirtualKickRtl() {
  RtlCountersSum::of_process().add(counters_of_rtl_);
  rtl_->final();
}

bool VirtualKickRtl::step() {
  if (quiet_ > pipeline_clocks)
    quiet_ = 0; // woken
  tell_division();
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

// One clock. False: nothing was taken or sent, and no kick waits for an entry of the mapping table.
bool VirtualKickRtl::clock() {
  drive();
  rtl_->clock = 0;
  rtl_->eval();
  // Pinned before anything is unpinned; the answer is due in the next clock.
  const bool pinned = rtl_->pin && queue_pairs_.pin(rtl_->pin_queue_pair_number);
  const bool sent = follow_started();
  const bool took_kick = follow_kicks();
  const bool took_finish = follow_finishes();
  const bool waits = rtl_->fetch_lanes;
  moved_ = rtl_->starting || rtl_->listed || took_finish;
  rtl_->clock = 1;
  rtl_->eval();
  rtl_->pinned = pinned;
  ++now_;
  ++counters_of_rtl_.clocks;
  return sent || took_kick || took_finish || waits;
}

// A kick that found no room would be refused, though what is on its way off the lists makes some: it waits.
void VirtualKickRtl::drive() {
  const bool waits = room_is_due();
  rtl_->kick_scheduled = !waits && !kicks_scheduled_.empty();
  if (rtl_->kick_scheduled)
    put(rtl_->kick_scheduled_unit, kicks_scheduled_.front());
  rtl_->kick_collected = !waits && !kicks_collected_.empty();
  if (rtl_->kick_collected)
    put(rtl_->kick_collected_unit, kicks_collected_.front());
  rtl_->kick_started_credit = kicks_started_.credits() >= 2;
  unsigned finish = 0;
  for (unsigned port = 0; port < finish_ports; ++port)
    if (!finishes_[port]->empty()) {
      finish |= 1U << port;
      put(rtl_->finish_unit, finishes_[port]->front(), port);
    }
  rtl_->finish = static_cast<uint8_t>(finish);
}

// Whether room is short, and some may come without anything else: kicks are in the two stages, or commands
// are started, or may be in the next clock, and have not left their list, or are dropped.
bool VirtualKickRtl::room_is_due() const {
  const bool moves = !taken_.empty() || moved_ || leaving_ != 0 || lanes_to_discard() != 0;
  return moves && !has_room_everywhere(static_cast<uint32_t>(taken_.size()) + 1);
}

// What leaves its list, started or dropped before; what comes out, and what was refused in the clock before.
bool VirtualKickRtl::follow_started() {
  if (rtl_->kick_corrupted)
    ++counters_.device.detected_bit_errors;
  leaving_ += rtl_->starting;
  spec::KickUnit first;
  if (rtl_->left) {
    --leaving_;
    [[maybe_unused]] const bool was_dropped = leave_list(rtl_->left_lane, first);
    assert(!was_dropped);
  }
  if (rtl_->discarded) {
    [[maybe_unused]] const bool was_dropped = leave_list(rtl_->discarded_lane, first);
    assert(was_dropped && first.physical_collect_buffer() == rtl_->discarded_physical_collect_buffer);
    ++counters_of_rtl_.commands_dropped;
  }
  if (!rtl_->kick_started)
    return rtl_->left || rtl_->discarded;
  const spec::KickUnit started = kick_unit(rtl_->kick_started_unit);
  if (started.origin() == spec::KickOrigin::send_queue_mode) {
    kicks_started_.push(started);
    return true;
  }
  take_credits(started);
  count(now_ - taken_at_[started.physical_collect_buffer()]);
  kicks_started_.push(started);
  return true;
}

// A kick leaves the second stage: on a list, or its PCB comes back. Others are taken.
bool VirtualKickRtl::follow_kicks() {
  if (rtl_->listed || rtl_->release_buffer) {
    const spec::KickUnit kick = taken_.front();
    taken_.pop_front();
    if (rtl_->listed)
      list(kick, rtl_->listed_lane);
    else {
      collect_buffer_.release(static_cast<uint16_t>(kick.physical_collect_buffer()));
      hca::FunctionCounters& counters = counters_.function[kick.underlying_function()];
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
    take(kicks_scheduled_);
  if (collected)
    take(kicks_collected_);
  return rtl_->listed || rtl_->release_buffer || scheduled || collected;
}

// Unpins what was refused; what is finished is unpinned with what is kept of it.
bool VirtualKickRtl::follow_finishes() {
  const unsigned took = rtl_->finish & rtl_->finish_ready;
  bool ended = rtl_->dropped; // unpinned in drop()
  for (unsigned port = 0; port < finish_ports; ++port)
    if ((took >> port & 1) != 0) {
      const spec::FinishUnit unit = finishes_[port]->front();
      finishes_[port]->pop();
      ended |= unit.finished() != 0;
      finish(unit);
    }
  if (rtl_->unpin && !ended)
    queue_pairs_.unpin(rtl_->unpin_queue_pair_number);
  return took != 0;
}

// Kicks in the two stages of the RTL are ahead of a command that is fetched.
VirtualKickRtl::Outlook VirtualKickRtl::outlook(unsigned lane) const {
  rtl_->query_lane = static_cast<uint8_t>(lane);
  rtl_->eval();
  const auto beyond = [&](uint32_t amount) {
    return amount - std::min(amount, static_cast<uint32_t>(taken_.size()));
  };
  return {.room = beyond(rtl_->outlook_room),
          .credits = beyond(rtl_->outlook_credits),
          .has_fetched = rtl_->outlook_has_fetched != 0};
}

unsigned VirtualKickRtl::choose_lane(unsigned underlying_function, spec::QualityOfServiceLevel level) {
  rtl_->outlook_underlying_function = static_cast<uint8_t>(underlying_function);
  rtl_->outlook_quality_of_service_level = static_cast<uint8_t>(level);
  rtl_->eval();
  if (rtl_->outlook_lane_invalid) {
    fetch_lanes(underlying_function, level);
    tell_division();
    rtl_->eval();
  }
  return rtl_->outlook_lane;
}

// What is listed in the clock of the drop, or was started before, comes first, so that the model drops what
// the RTL does.
void VirtualKickRtl::drop(uint32_t queue_pair_number) {
  rtl_->drop_queue_pair_number = queue_pair_number;
  strobe(rtl_->drop);
  for (unsigned settling = 0; settling < settle_clocks; ++settling)
    clock();
  VirtualKick::drop(queue_pair_number);
  while (rtl_->dropping)
    clock();
  quiet_ = 0;
}

// A kick waits for an entry of the mapping table, which send_queue_scheduler may have had read already.
void VirtualKickRtl::answer_fetch() {
  fetch_lanes(rtl_->fetch_lanes_underlying_function,
              static_cast<spec::QualityOfServiceLevel>(rtl_->fetch_lanes_quality_of_service_level));
  tell_division();
  strobe(rtl_->fetched_lanes);
}

// A clock with one of the inputs set that change something.
template <class Input> void VirtualKickRtl::strobe(Input& input) {
  input = 1;
  if (clock())
    quiet_ = 0;
  moved_ = true;
  input = 0;
}

// Tells the RTL how lanes, lists and credits are divided where it was told otherwise.
void VirtualKickRtl::tell_division() {
  tell_map();
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function)
    if (const uint32_t credits = entry_credits(function); credits != told_entry_credits_[function]) {
      told_entry_credits_[function] = credits;
      rtl_->set_entry_credits_underlying_function = static_cast<uint8_t>(function);
      rtl_->set_entry_credits_credits = static_cast<uint8_t>(credits);
      strobe(rtl_->set_entry_credits);
    }
  if (const uint32_t credits = execution_credits().shared(); credits != told_shared_execution_) {
    told_shared_execution_ = credits;
    rtl_->set_shared_credits = static_cast<uint16_t>(credits);
    strobe(rtl_->set_shared_execution_credits);
  }
  if (const uint32_t credits = completion_credits().shared(); credits != told_shared_completion_) {
    told_shared_completion_ = credits;
    rtl_->set_shared_credits = static_cast<uint16_t>(credits);
    strobe(rtl_->set_shared_completion_credits);
  }
  for (unsigned lane = 0; lane < parameters_.transmit_virtual_lanes; ++lane)
    tell_lane(lane);
  const uint32_t invalid = invalid_entries();
  if ((invalid & ~told_invalid_) != 0) {
    rtl_->invalidate_lanes_entries = static_cast<uint16_t>(invalid & ~told_invalid_);
    told_invalid_ = invalid;
    strobe(rtl_->invalidate_lanes);
  }
  told_invalid_ = invalid;
}

void VirtualKickRtl::tell_lane(unsigned lane) {
  LaneDivision& told = told_lanes_[lane];
  if (const uint32_t commands = list_size(lane); commands != told.list_size) {
    told.list_size = commands;
    rtl_->set_list_size_lane = static_cast<uint8_t>(lane);
    rtl_->set_list_size_commands = static_cast<uint8_t>(commands);
    strobe(rtl_->set_list_size);
  }
  const auto tell = [&](const hca::LaneCredits& credits, uint32_t& own, uint32_t& cap, auto& input) {
    if (credits.own(lane) == own && credits.shared_cap(lane) == cap)
      return;
    own = credits.own(lane);
    cap = credits.shared_cap(lane);
    rtl_->set_credits_lane = static_cast<uint8_t>(lane);
    rtl_->set_credits_own = static_cast<uint16_t>(own);
    rtl_->set_credits_shared_cap = static_cast<uint16_t>(cap);
    strobe(input);
  };
  tell(execution_credits(), told.execution_own, told.execution_cap, rtl_->set_execution_credits);
  tell(completion_credits(), told.completion_own, told.completion_cap, rtl_->set_completion_credits);
}

// In an order in which every level has a lane at any time.
void VirtualKickRtl::tell_map() {
  if (told_map_ == map())
    return;
  const auto tell_shared = [this] {
    rtl_->set_lanes_lanes = static_cast<uint16_t>(shared_lanes());
    strobe(rtl_->set_shared_lanes);
  };
  if (shared_lanes() != 0)
    tell_shared();
  for (unsigned function = 0; function < parameters_.underlying_functions; ++function)
    for (const spec::QualityOfServiceLevel level : levels) {
      rtl_->set_lanes_underlying_function = static_cast<uint8_t>(function);
      rtl_->set_lanes_quality_of_service_level = static_cast<uint8_t>(level);
      rtl_->set_lanes_lanes = static_cast<uint16_t>(lanes(function, level));
      strobe(rtl_->set_lanes);
    }
  if (shared_lanes() == 0)
    tell_shared();
  told_map_ = map();
}

void VirtualKickRtl::count(uint64_t clocks) {
  ++counters_of_rtl_.commands_started;
  counters_of_rtl_.start_clocks += clocks;
  counters_of_rtl_.least_start_clocks = std::min(counters_of_rtl_.least_start_clocks, clocks);
  counters_of_rtl_.most_start_clocks = std::max(counters_of_rtl_.most_start_clocks, clocks);
  RtlCountersSum::of_process().add(std::exchange(counters_of_rtl_, {}));
}

} // namespace fpga_verbs::rtl
