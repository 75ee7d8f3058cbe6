#include "rtl/collect_buffer_rtl.h"

#include "Vcollect_buffer.h"

#include <verilated.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

namespace fpga_verbs::rtl {

namespace {

using spec::CollectBufferControl;
using spec::PhysicalCollectBufferState;
using spec::VirtualCollectBufferState;

constexpr unsigned page_bits = 12;
constexpr unsigned beat_bytes = beat_bytes_of_rtl;
constexpr unsigned look_clocks = 8;    // from the look for a half-written command to its event
constexpr unsigned return_clocks = 12; // until a PCB that has come back can be taken again
constexpr unsigned known_function = 1u << std::bit_width(spec::underlying_functions - 1);

static_assert(beat_bytes == hca::line_bytes);
static_assert(vcbs_of_rtl + spec::underlying_functions <= 256 && entries_of_rtl <= 256); // ports of 8 bits

// A data unit at a port of the RTL.
template <class Unit, class Port> Unit unit_of(const Port& port) {
  Unit unit;
  std::memcpy(unit.dwords.data(), &port, sizeof(unit));
  return unit;
}

} // namespace

CollectBufferRtl::CollectBufferRtl(const Ports& ports)
    : ports_(ports), context_(std::make_unique<VerilatedContext>()),
      rtl_(std::make_unique<Vcollect_buffer>(context_.get())), functions_(ports.parameters),
      groups_(ports.parameters) {
  rtl_->unit_credit = 1; // the board asks before each write
  rtl_->bready = 1;
  rtl_->awsize = std::countr_zero(beat_bytes);
  rtl_->wlast = 1;
  rtl_->scoreboard_variant = static_cast<uint8_t>(ports.parameters.scoreboard_variant);
  reset_rtl();
}

CollectBufferRtl::~CollectBufferRtl() {
  RtlCountersSum::of_process().add(counters_of_rtl_);
  rtl_->final();
}

void CollectBufferRtl::reset_rtl() {
  rtl_->reset = 1;
  tick();
  rtl_->reset = 0;
  do // it sweeps its memories
    tick();
  while (!rtl_->control_ready);
  // Values that the RTL has after a reset.
  for (unsigned function = 0; function < functions; ++function) {
    told_bars_[function] = {.base = function * (vcbs_of_rtl / functions),
                            .count = vcbs_of_rtl / functions,
                            .low = 0,
                            .high = vcbs_of_rtl / functions};
    told_allotments_[function] = {.shared = std::min(4u, pool_of_rtl / functions)};
  }
}

// One clock. The RTL answers for the queue pair of a beat in the next clock, and may report half-written
// commands in any clock.
void CollectBufferRtl::tick() {
  rtl_->clock = 0;
  rtl_->eval();
  const spec::QueuePairControl* const found =
      rtl_->find
          ? ports_.queue_pairs.find_control(rtl_->find_underlying_function, rtl_->find_queue_pair_number)
          : nullptr;
  rtl_->clock = 1;
  rtl_->eval();
  rtl_->queue_pair_found = found != nullptr;
  if (found != nullptr) {
    rtl_->queue_pair_quality_of_service_level = static_cast<uint8_t>(found->quality_of_service_level());
    rtl_->queue_pair_checksum_secret = found->checksum_secret();
  }
  if (rtl_->half_written) {
    const auto event = unit_of<spec::EventUnit>(rtl_->half_written_event);
    half_written_.remove(static_cast<uint16_t>(event.object()));
    ports_.report(event);
  }
  ++now_;
  ++counters_of_rtl_.collect_buffer_clocks;
}

// The RTL returns the state of a page in the next clock. Clocks pass, but the view of the other blocks does
// not change.
void CollectBufferRtl::look_at(unsigned page) const {
  rtl_->inspect_page = static_cast<uint8_t>(page);
  const_cast<CollectBufferRtl&>(*this).tick();
}

// A returned PCB can be allocated again.
void CollectBufferRtl::await_returns() {
  for (unsigned clocks = 0; clocks < return_clocks && returned_; ++clocks)
    tick();
  returned_ = false;
}

// The outputs after a clock of a write or a control command.
void CollectBufferRtl::follow(Outcome& outcome) {
  outcome.done = rtl_->beat_done || rtl_->control_done;
  if (rtl_->kick_record) {
    outcome.kick = unit_of<spec::KickUnit>(rtl_->kick_unit);
    outcome.opcode = static_cast<spec::Opcode>(rtl_->kick_opcode);
    outcome.first_write = rtl_->kick_first_write;
  }
  if (rtl_->management)
    outcome.management = unit_of<spec::ManagementUnit>(rtl_->management_unit);
  if (rtl_->post_notice)
    ports_.post_notices.push(unit_of<spec::PostNotice>(rtl_->post_notice_unit));
  if (rtl_->refused) {
    outcome.refused = true;
    ports_.report(unit_of<spec::EventUnit>(rtl_->refused_event));
  }
  if (rtl_->control_done) {
    outcome.granted = rtl_->control_granted;
    outcome.buffer = rtl_->control_physical_collect_buffer;
  }
  hca::FunctionCounters& counters = ports_.counters.function[rtl_->counted_underlying_function];
  ports_.counters.device.writes_unclaimed += rtl_->write_unclaimed;
  counters.writes_dropped += rtl_->write_dropped;
  counters.commands_cancelled += rtl_->command_cancelled;
  counters.send_queue_mode_entered += rtl_->send_queue_mode_entered;
  counters.send_queue_mode_kicks += rtl_->send_queue_mode_kick;
}

// A write as one beat of the AXI port.
CollectBufferRtl::Outcome CollectBufferRtl::send(const hca::BarWrite& write, unsigned page, uint32_t offset) {
  tell_division();
  await_returns();
  rtl_->now = ports_.clock.now();
  rtl_->half_written_limit = half_written_limit();
  const bool begins = page < vcbs_of_rtl && inspect(page).state == VirtualCollectBufferState::free;
  const bool is_known = write.underlying_function != hca::BarWrite::any_function;
  rtl_->awaddr = page << page_bits | offset;
  rtl_->awuser = static_cast<uint8_t>(is_known ? known_function | write.underlying_function : 0);
  const unsigned lane = offset % beat_bytes;
  rtl_->wstrb = write.byte_enables << lane;
  std::memcpy(reinterpret_cast<uint8_t*>(rtl_->wdata.data()) + lane, write.data, write.length);
  rtl_->awvalid = 1;
  tick();
  rtl_->awvalid = 0;
  rtl_->wvalid = 1;
  tick();
  rtl_->wvalid = 0;
  if (begins)
    first_write_clock_[page] = now_ - 1;
  ++counters_of_rtl_.beats_taken;
  Outcome outcome;
  while (!outcome.done) {
    tick();
    follow(outcome);
  }
  return outcome;
}

CollectBufferRtl::Outcome CollectBufferRtl::control(CollectBufferControl command, unsigned page) {
  tell_division();
  await_returns();
  while (!rtl_->control_ready)
    tick();
  rtl_->control = 1;
  rtl_->control_command = static_cast<uint8_t>(command);
  rtl_->control_page = static_cast<uint8_t>(page);
  tick();
  rtl_->control = 0;
  Outcome outcome;
  while (!outcome.done) {
    tick();
    follow(outcome);
  }
  return outcome;
}

void CollectBufferRtl::write(const hca::BarWrite& write) {
  const uint16_t buffer = write.page;
  if (buffer >= ports_.parameters.virtual_collect_buffers) {
    ++ports_.counters.device.writes_unclaimed;
    return;
  }
  const Inspection before = inspect(buffer);
  follow_page(buffer, before, send(write, buffer, write.offset));
}

void CollectBufferRtl::write_management_page(unsigned underlying_function, const hca::BarWrite& write) {
  const unsigned page = vcbs_of_rtl + underlying_function;
  const std::optional<uint16_t> lock = management_lock(underlying_function);
  const Outcome outcome = send(write, page, write.offset - spec::underlying_function::management_page);
  if (!lock)
    return;
  if (outcome.refused)
    put_back(*lock);
  returned_ = true;
  if (outcome.management) {
    load(*lock);
    ports_.buffers[*lock].state = PhysicalCollectBufferState::kicked;
    ports_.management_units.push(*outcome.management);
  } else if (!outcome.refused && write.byte_enables != 0) {
    ports_.buffers[*lock].state = PhysicalCollectBufferState::collecting;
  }
}

bool CollectBufferRtl::step() {
  if (ports_.clock.now() < next_deadline())
    return false;
  rtl_->now = ports_.clock.now();
  rtl_->half_written_limit = half_written_limit();
  for (unsigned clocks = 0; clocks <= vcbs_of_rtl + look_clocks; ++clocks)
    tick();
  return true;
}

uint64_t CollectBufferRtl::next_deadline() const {
  if (half_written_limit_ == 0 || half_written_.empty())
    return no_deadline;
  const uint64_t first_write = first_write_[half_written_.oldest()];
  return half_written_limit_ < no_deadline - first_write ? first_write + half_written_limit_ : no_deadline;
}

hca::CollectBufferPort::Inspection CollectBufferRtl::inspect(unsigned virtual_collect_buffer) const {
  look_at(virtual_collect_buffer);
  Inspection seen{.state = static_cast<VirtualCollectBufferState>(rtl_->inspect_state)};
  if (seen.state == VirtualCollectBufferState::collecting)
    seen.physical_collect_buffer = rtl_->inspect_physical_collect_buffer;
  if (seen.state == VirtualCollectBufferState::error)
    seen.refusal = static_cast<spec::Refusal>(rtl_->inspect_refusal);
  return seen;
}

// Tells the blocks that use PCBs how a write or a control command has changed a VCB.
void CollectBufferRtl::follow_page(uint16_t buffer, const Inspection& before, const Outcome& outcome) {
  done_clock_ = now_;
  if (outcome.kick) {
    kick(buffer, before, outcome);
    return;
  }
  const Inspection after = inspect(buffer);
  const bool was_free = before.state == VirtualCollectBufferState::free;
  const bool is_incomplete = after.state == VirtualCollectBufferState::collecting ||
                             after.state == VirtualCollectBufferState::send_queue_mode;
  if (before.state == VirtualCollectBufferState::collecting && after.state != before.state)
    put_back(before.physical_collect_buffer);
  if (after.state == VirtualCollectBufferState::collecting) {
    if (was_free)
      bind_to(buffer, after.physical_collect_buffer);
    hca::PhysicalCollectBuffer& pcb = ports_.buffers[after.physical_collect_buffer];
    pcb.scoreboard = rtl_->inspect_scoreboard;
    pcb.scoreboard_mask = rtl_->inspect_scoreboard_mask;
  }
  if (is_incomplete && was_free)
    await_rest(buffer);
  if (!is_incomplete) {
    half_written_.remove(buffer);
    returned_ = true;
  }
}

void CollectBufferRtl::await_rest(uint16_t buffer) {
  first_write_[buffer] = ports_.clock.now();
  half_written_.append(buffer);
}

// The RTL has bound a VCB to a pool PCB.
void CollectBufferRtl::bind_to(uint16_t buffer, uint16_t physical_collect_buffer) {
  const hca::UnderlyingFunctionTable::Owner& owner = functions_.owner(buffer);
  [[maybe_unused]] const auto paid = groups_.take(owner.underlying_function, owner.part);
  assert(paid);
  hca::PhysicalCollectBuffer& pcb = ports_.buffers[physical_collect_buffer];
  pcb.state = PhysicalCollectBufferState::collecting;
  pcb.virtual_collect_buffer = buffer;
  pcb.underlying_function = owner.underlying_function;
  pcb.group = owner.part;
  pcb.begin_collecting();
}

// A command is complete, in a PCB or in send queue mode.
void CollectBufferRtl::kick(uint16_t buffer, const Inspection& before, const Outcome& outcome) {
  const spec::KickUnit& unit = *outcome.kick;
  ports_.kick_records.kicked(unit, buffer, outcome.opcode, outcome.first_write);
  half_written_.remove(buffer);
  if (unit.origin() != spec::KickOrigin::collected)
    return;
  const auto number = static_cast<uint16_t>(unit.physical_collect_buffer());
  if (before.state == VirtualCollectBufferState::free)
    bind_to(buffer, number);
  look_at(buffer);
  hca::PhysicalCollectBuffer& pcb = ports_.buffers[number];
  pcb.scoreboard = rtl_->inspect_scoreboard;
  pcb.scoreboard_mask = rtl_->inspect_scoreboard_mask;
  pcb.state = PhysicalCollectBufferState::kicked;
  pcb.kick_number = unit.kick_number();
  pcb.quality_of_service_level = unit.quality_of_service_level();
  counters_of_rtl_.kick(done_clock_ - first_write_clock_[buffer]);
  load(number);
  ports_.kicks_collected.push(unit);
  ++ports_.counters.function[unit.underlying_function()].kicks;
  RtlCountersSum::of_process().add(std::exchange(counters_of_rtl_, {}));
}

// Data of the command, for the blocks that read it from the model's PCB.
void CollectBufferRtl::load(uint16_t buffer) {
  hca::PhysicalCollectBuffer& pcb = ports_.buffers[buffer];
  rtl_->read_physical_collect_buffer = static_cast<uint8_t>(buffer);
  uint32_t bytes = beat_bytes; // the header tells how many there are
  for (uint32_t at = 0; at < bytes; at += beat_bytes) {
    rtl_->read_beat = static_cast<uint8_t>(at / beat_bytes);
    tick();
    std::memcpy(pcb.data.data() + at, rtl_->read_data.data(), beat_bytes);
    if (at == 0)
      bytes = hca::segments_needed(pcb.header().length()) * spec::segment_bytes;
  }
}

void CollectBufferRtl::release(uint16_t buffer) {
  rtl_->release_buffer = 1;
  rtl_->release_physical_collect_buffer = static_cast<uint8_t>(buffer);
  tick();
  rtl_->release_buffer = 0;
  returned_ = true;
  put_back(buffer);
}

// A PCB is free again.
void CollectBufferRtl::put_back(uint16_t buffer) {
  hca::PhysicalCollectBuffer& pcb = ports_.buffers[buffer];
  const bool is_dedicated = ports_.buffers.is_dedicated(buffer);
  if (!is_dedicated)
    groups_.release(pcb.underlying_function, pcb.group);
  pcb.state = PhysicalCollectBufferState::free;
  pcb.virtual_collect_buffer = hca::no_buffer;
  if (is_dedicated)
    dedicated_freed_.wake();
}

void CollectBufferRtl::take(uint16_t buffer, PhysicalCollectBufferState state) {
  hca::PhysicalCollectBuffer& pcb = ports_.buffers[buffer];
  pcb.begin_collecting();
  pcb.state = state;
  pcb.group = spec::CollectGroup::device_shared;
}

std::optional<uint16_t> CollectBufferRtl::take(CollectBufferControl command) {
  const Outcome outcome = control(command);
  if (!outcome.granted)
    return std::nullopt;
  take(outcome.buffer, PhysicalCollectBufferState::fetching);
  return outcome.buffer;
}

bool CollectBufferRtl::has_dedicated_to_spare() const {
  constexpr unsigned first = pool_of_rtl + spec::management_physical_collect_buffers;
  return entries_of_rtl - first == 1 || std::popcount(rtl_->free_buffers >> first) > 1;
}

std::optional<uint16_t> CollectBufferRtl::take_dedicated() {
  return take(CollectBufferControl::take_dedicated);
}
std::optional<uint16_t> CollectBufferRtl::take_management() {
  return take(CollectBufferControl::take_management);
}

// Stored in the memory of the RTL, from which other blocks read it later.
void CollectBufferRtl::fetched(uint16_t buffer) {
  const hca::PhysicalCollectBuffer& pcb = ports_.buffers[buffer];
  const uint32_t bytes = hca::segments_needed(pcb.header().length()) * spec::segment_bytes;
  rtl_->store = 1;
  rtl_->store_physical_collect_buffer = static_cast<uint8_t>(buffer);
  for (uint32_t at = 0; at < bytes; at += beat_bytes) {
    rtl_->store_beat = static_cast<uint8_t>(at / beat_bytes);
    std::memcpy(rtl_->store_data.data(), pcb.data.data() + at, beat_bytes);
    tick();
    ++counters_of_rtl_.beats_stored;
  }
  rtl_->store = 0;
  load(buffer);
}

uint32_t CollectBufferRtl::take_kick_number() {
  control(CollectBufferControl::take_kick_number);
  return unit_of<spec::KickUnit>(rtl_->kick_unit).kick_number();
}

std::optional<uint16_t> CollectBufferRtl::management_lock(unsigned underlying_function) const {
  look_at(vcbs_of_rtl + underlying_function);
  if (static_cast<VirtualCollectBufferState>(rtl_->inspect_state) == VirtualCollectBufferState::closed)
    return std::nullopt;
  return rtl_->inspect_physical_collect_buffer;
}

std::optional<uint16_t> CollectBufferRtl::lock_management(unsigned underlying_function) {
  const bool had_lock = management_lock(underlying_function).has_value();
  const Outcome outcome = control(CollectBufferControl::lock, vcbs_of_rtl + underlying_function);
  if (!outcome.granted)
    return std::nullopt;
  if (!had_lock) {
    take(outcome.buffer, PhysicalCollectBufferState::locked);
    ports_.buffers[outcome.buffer].underlying_function = static_cast<uint8_t>(underlying_function);
  }
  return outcome.buffer;
}

void CollectBufferRtl::unlock_management(unsigned underlying_function) {
  const std::optional<uint16_t> lock = management_lock(underlying_function);
  control(CollectBufferControl::close, vcbs_of_rtl + underlying_function);
  if (lock)
    put_back(*lock);
  returned_ = true;
}

void CollectBufferRtl::change(unsigned virtual_collect_buffer, CollectBufferControl command) {
  const Inspection before = inspect(virtual_collect_buffer);
  follow_page(static_cast<uint16_t>(virtual_collect_buffer), before,
              control(command, virtual_collect_buffer));
}

void CollectBufferRtl::cancel(unsigned virtual_collect_buffer) {
  change(virtual_collect_buffer, CollectBufferControl::cancel);
}

void CollectBufferRtl::close(unsigned virtual_collect_buffer) {
  const uint8_t owner = functions_.owner(virtual_collect_buffer).underlying_function;
  if (inspect(virtual_collect_buffer).state != VirtualCollectBufferState::closed &&
      owner != hca::UnderlyingFunctionTable::no_function)
    ++ports_.counters.function[owner].virtual_collect_buffers_closed;
  change(virtual_collect_buffer, CollectBufferControl::close);
}

void CollectBufferRtl::open(unsigned virtual_collect_buffer) {
  change(virtual_collect_buffer, CollectBufferControl::open);
}

bool CollectBufferRtl::set_bar(unsigned underlying_function, const hca::VirtualCollectBufferBar& bar) {
  return functions_.change(underlying_function, bar, [this](unsigned buffer) {
    return inspect(buffer).state == VirtualCollectBufferState::closed;
  });
}

void CollectBufferRtl::set_bars(
    const std::array<hca::VirtualCollectBufferBar, spec::underlying_functions>& bars) {
  functions_.change_all(
      bars, [this](unsigned buffer) { close(buffer); }, [this](unsigned buffer) { open(buffer); });
}

void CollectBufferRtl::keep_guarantees() {
  std::array<Inspection, vcbs_of_rtl> before;
  for (unsigned buffer = 0; buffer < ports_.parameters.virtual_collect_buffers; ++buffer)
    before[buffer] = inspect(buffer);
  const Outcome outcome = control(CollectBufferControl::settle_division);
  for (uint16_t buffer = 0; buffer < ports_.parameters.virtual_collect_buffers; ++buffer)
    if (before[buffer].state == VirtualCollectBufferState::collecting)
      follow_page(buffer, before[buffer], outcome);
}

// The PCBs that are free for the other blocks are free in the RTL, and it binds VCBs to those that collect
// for them.
const char* CollectBufferRtl::verify() const {
  const_cast<CollectBufferRtl&>(*this).await_returns();
  for (size_t number = 0; number < ports_.buffers.size(); ++number) {
    const hca::PhysicalCollectBuffer& pcb = ports_.buffers[number];
    if ((rtl_->free_buffers >> number & 1) != (pcb.state == PhysicalCollectBufferState::free ? 1 : 0))
      return "collect_buffer: the RTL has other PCBs free than the other blocks see";
  }
  for (unsigned buffer = 0; buffer < ports_.parameters.virtual_collect_buffers; ++buffer)
    if (const Inspection seen = inspect(buffer);
        seen.state == VirtualCollectBufferState::collecting &&
        ports_.buffers[seen.physical_collect_buffer].virtual_collect_buffer != buffer)
      return "collect_buffer: a PCB does not know the VCB that the RTL has bound it to";
  return groups_.verify() ? nullptr : "collect_buffer: the collect group table does not add up";
}

// Updates the division of VCBs and PCBs in the RTL where it changed.
void CollectBufferRtl::tell_division() {
  for (unsigned function = 0; function < functions; ++function)
    if (const hca::VirtualCollectBufferBar& has = bar(function); has != told_bars_[function]) {
      told_bars_[function] = has;
      rtl_->set_underlying_function = static_cast<uint8_t>(function);
      rtl_->set_bar_base = static_cast<uint8_t>(has.base);
      rtl_->set_bar_count = static_cast<uint8_t>(has.count);
      rtl_->set_bar_low = static_cast<uint8_t>(has.low);
      rtl_->set_bar_high = static_cast<uint8_t>(has.high);
      rtl_->set_bar = 1;
      tick();
      rtl_->set_bar = 0;
    }
  // A function that loses some releases them before another takes them.
  for (const bool grows : {false, true})
    for (unsigned function = 0; function < functions; ++function) {
      const hca::CollectAllotment has = groups_.allotment(function);
      const hca::CollectAllotment& told = told_allotments_[function];
      if (has == told)
        continue;
      tell_allotment(function, grows ? has
                                     : hca::CollectAllotment{.low = std::min(has.low, told.low),
                                                             .high = std::min(has.high, told.high),
                                                             .shared = std::min(has.shared, told.shared)});
    }
}

void CollectBufferRtl::tell_allotment(unsigned underlying_function, const hca::CollectAllotment& allotment) {
  told_allotments_[underlying_function] = allotment;
  rtl_->set_underlying_function = static_cast<uint8_t>(underlying_function);
  rtl_->set_allotment_low = static_cast<uint8_t>(allotment.low);
  rtl_->set_allotment_high = static_cast<uint8_t>(allotment.high);
  rtl_->set_allotment_shared = static_cast<uint8_t>(allotment.shared);
  tick(); // The sum,
  tick(); // and its comparison.
  assert(rtl_->allotment_allowed);
  rtl_->set_allotment = 1;
  tick();
  rtl_->set_allotment = 0;
}

} // namespace fpga_verbs::rtl
