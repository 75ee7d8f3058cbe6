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

// A data unit as it is at a port of the RTL.
template <class Unit, class Port> Unit unit_of(const Port& port) {
  Unit unit;
  std::memcpy(unit.dwords.data(), &port, sizeof(unit));
  return unit;
}

} // namespace

CollectBufferRtl::CollectBufferRtl(const hca::HcaParameters& parameters, hca::Counters& counters,
                                   const hca::Clock& clock, hca::QueuePairPort& queue_pairs,
                                   hca::EventPort& events, hca::KickRecords& kick_records,
                                   hca::DataLink<spec::KickUnit, 128>& kicks_collected,
                                   hca::DataLink<spec::PostNotice, 16>& post_notices,
                                   hca::DataLink<spec::ManagementUnit, 16>& management_units)
    : CollectBuffer(parameters, counters, clock, queue_pairs, events, kick_records, kicks_collected,
                    post_notices, management_units),
      context_(std::make_unique<VerilatedContext>()),
      rtl_(std::make_unique<Vcollect_buffer>(context_.get())) {
  rtl_->unit_credit = 1; // the board asks before each write
  rtl_->bready = 1;
  rtl_->awsize = std::countr_zero(beat_bytes);
  rtl_->wlast = 1;
  rtl_->scoreboard_variant = static_cast<uint8_t>(parameters.scoreboard_variant);
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
  // As the RTL has them after a reset.
  for (unsigned function = 0; function < functions; ++function) {
    told_bars_[function] = {.base = function * (vcbs_of_rtl / functions),
                            .count = vcbs_of_rtl / functions,
                            .low = 0,
                            .high = vcbs_of_rtl / functions};
    told_allotments_[function] = {.shared = std::min(4u, pool_of_rtl / functions)};
  }
}

void CollectBufferRtl::reset() {
  CollectBuffer::reset();
  reset_rtl();
}

// One clock. The queue pair that a beat names is answered in the next; half-written commands are told in any.
void CollectBufferRtl::tick() {
  rtl_->clock = 0;
  rtl_->eval();
  const spec::QueuePairControl* const found =
      rtl_->find ? queue_pairs_.find_control(rtl_->find_underlying_function, rtl_->find_queue_pair_number)
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
    report(event);
  }
  ++now_;
  ++counters_of_rtl_.collect_buffer_clocks;
}

// What is out after a clock of a write or a control command.
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
    post_notices_.push(unit_of<spec::PostNotice>(rtl_->post_notice_unit));
  if (rtl_->refused) {
    outcome.refused = true;
    report(unit_of<spec::EventUnit>(rtl_->refused_event));
  }
  if (rtl_->control_done) {
    outcome.granted = rtl_->control_granted;
    outcome.buffer = rtl_->control_physical_collect_buffer;
  }
  hca::FunctionCounters& counters = counters_.function[rtl_->counted_underlying_function];
  counters_.device.writes_unclaimed += rtl_->write_unclaimed;
  counters.writes_dropped += rtl_->write_dropped;
  counters.commands_cancelled += rtl_->command_cancelled;
  counters.send_queue_mode_entered += rtl_->send_queue_mode_entered;
  counters.send_queue_mode_kicks += rtl_->send_queue_mode_kick;
}

// A write as one beat of the AXI port.
CollectBufferRtl::Outcome CollectBufferRtl::send(const hca::BarWrite& write, unsigned page, uint32_t offset) {
  tell_division();
  for (unsigned clocks = 0; clocks < return_clocks && returned_; ++clocks)
    tick();
  returned_ = false;
  rtl_->now = clock_.now();
  rtl_->half_written_limit = half_written_limit();
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
  if (page < virtual_.size() && virtual_[page].state == VirtualCollectBufferState::free)
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
  for (unsigned clocks = 0; clocks < return_clocks && returned_; ++clocks)
    tick();
  returned_ = false;
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
  if (buffer >= virtual_.size()) {
    ++counters_.device.writes_unclaimed;
    return;
  }
  mirror(buffer, send(write, buffer, write.offset));
}

void CollectBufferRtl::write_management_page(unsigned underlying_function, const hca::BarWrite& write) {
  const unsigned page = vcbs_of_rtl + underlying_function;
  const uint16_t lock = management_lock_[underlying_function];
  const Outcome outcome = send(write, page, write.offset - spec::underlying_function::management_page);
  if (lock == hca::no_buffer)
    return;
  if (outcome.refused)
    put_back(lock);
  returned_ = true;
  if (outcome.management) {
    load(lock);
    buffers_[lock].state = PhysicalCollectBufferState::kicked;
    management_units_.push(*outcome.management);
  }
  if (outcome.refused || outcome.management)
    management_lock_[underlying_function] = hca::no_buffer;
  else if (write.byte_enables != 0)
    buffers_[lock].state = PhysicalCollectBufferState::collecting;
}

bool CollectBufferRtl::step() {
  if (clock_.now() < next_deadline())
    return false;
  rtl_->now = clock_.now();
  rtl_->half_written_limit = half_written_limit();
  for (unsigned clocks = 0; clocks <= vcbs_of_rtl + look_clocks; ++clocks)
    tick();
  return true;
}

// The VCB as the RTL has it after a write or a control command.
void CollectBufferRtl::mirror(uint16_t buffer, const Outcome& outcome) {
  hca::VirtualCollectBuffer& vcb = virtual_[buffer];
  const bool was_free = vcb.state == VirtualCollectBufferState::free;
  rtl_->inspect_page = static_cast<uint8_t>(buffer);
  done_clock_ = now_;
  tick(); // it answers in the next clock
  if (outcome.kick) {
    kick(buffer, outcome);
    return;
  }
  const auto state = static_cast<VirtualCollectBufferState>(rtl_->inspect_state);
  if (state == VirtualCollectBufferState::collecting) {
    if (was_free) {
      bind_to(buffer, rtl_->inspect_physical_collect_buffer);
      await_rest(buffer);
    }
    hca::PhysicalCollectBuffer& pcb = buffers_[vcb.physical_collect_buffer];
    pcb.scoreboard = rtl_->inspect_scoreboard;
    pcb.scoreboard_mask = rtl_->inspect_scoreboard_mask;
  } else if (state == VirtualCollectBufferState::send_queue_mode) {
    if (was_free) {
      enter_send_queue_mode(buffer);
      await_rest(buffer);
    } else if (vcb.state == VirtualCollectBufferState::collecting) {
      hand_over(buffer);
    }
  } else {
    if (vcb.state == VirtualCollectBufferState::collecting)
      put_back(vcb.physical_collect_buffer);
    returned_ = true;
    unbind(buffer);
    vcb.state = state;
    if (state == VirtualCollectBufferState::error)
      vcb.refusal = static_cast<spec::Refusal>(rtl_->inspect_refusal);
  }
}

// The RTL has bound a VCB to a PCB of the pool.
void CollectBufferRtl::bind_to(uint16_t buffer, uint16_t physical_collect_buffer) {
  const hca::UnderlyingFunctionTable::Owner& owner = functions_.owner(buffer);
  [[maybe_unused]] const auto paid = groups_.take(owner.underlying_function, owner.part);
  assert(paid);
  collect_in(buffer, physical_collect_buffer);
}

// A command is complete, in a PCB or in send queue mode.
void CollectBufferRtl::kick(uint16_t buffer, const Outcome& outcome) {
  const spec::KickUnit& unit = *outcome.kick;
  hca::VirtualCollectBuffer& vcb = virtual_[buffer];
  const bool was_free = vcb.state == VirtualCollectBufferState::free;
  kick_records_.kicked(unit, buffer, outcome.opcode, outcome.first_write);
  if (unit.origin() == spec::KickOrigin::collected) {
    const auto number = static_cast<uint16_t>(unit.physical_collect_buffer());
    if (was_free)
      bind_to(buffer, number);
    hca::PhysicalCollectBuffer& pcb = buffers_[number];
    pcb.scoreboard = rtl_->inspect_scoreboard;
    pcb.scoreboard_mask = rtl_->inspect_scoreboard_mask;
    pcb.state = PhysicalCollectBufferState::kicked;
    pcb.kick_number = unit.kick_number();
    pcb.quality_of_service_level = unit.quality_of_service_level();
    counters_of_rtl_.kick(done_clock_ - first_write_clock_[buffer]);
    load(number);
    kicks_collected_.push(unit);
    ++counters_.function[unit.underlying_function()].kicks;
    RtlCountersSum::of_process().add(std::exchange(counters_of_rtl_, {}));
  }
  if (vcb.state != VirtualCollectBufferState::free)
    unbind(buffer);
}

// The command's data, for the blocks that read it from the model's PCB.
void CollectBufferRtl::load(uint16_t buffer) {
  hca::PhysicalCollectBuffer& pcb = buffers_[buffer];
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

std::optional<uint16_t> CollectBufferRtl::take(CollectBufferControl command) {
  const Outcome outcome = control(command);
  if (!outcome.granted)
    return std::nullopt;
  CollectBuffer::take(outcome.buffer, PhysicalCollectBufferState::fetching);
  return outcome.buffer;
}

std::optional<uint16_t> CollectBufferRtl::take_dedicated() {
  return take(CollectBufferControl::take_dedicated);
}
std::optional<uint16_t> CollectBufferRtl::take_management() {
  return take(CollectBufferControl::take_management);
}

// It goes into the RTL's memory, and whoever reads it later has it from there.
void CollectBufferRtl::fetched(uint16_t buffer) {
  const hca::PhysicalCollectBuffer& pcb = buffers_[buffer];
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

std::optional<uint16_t> CollectBufferRtl::lock_management(unsigned underlying_function) {
  uint16_t& lock = management_lock_[underlying_function];
  const Outcome outcome = control(CollectBufferControl::lock, vcbs_of_rtl + underlying_function);
  if (!outcome.granted)
    return std::nullopt;
  if (lock == hca::no_buffer) {
    CollectBuffer::take(outcome.buffer, PhysicalCollectBufferState::locked);
    buffers_[outcome.buffer].underlying_function = static_cast<uint8_t>(underlying_function);
    lock = outcome.buffer;
  }
  return outcome.buffer;
}

void CollectBufferRtl::unlock_management(unsigned underlying_function) {
  uint16_t& lock = management_lock_[underlying_function];
  control(CollectBufferControl::close, vcbs_of_rtl + underlying_function);
  if (lock != hca::no_buffer)
    put_back(std::exchange(lock, hca::no_buffer));
  returned_ = true;
}

void CollectBufferRtl::cancel(unsigned virtual_collect_buffer) {
  mirror(static_cast<uint16_t>(virtual_collect_buffer),
         control(CollectBufferControl::cancel, virtual_collect_buffer));
}
void CollectBufferRtl::close(unsigned virtual_collect_buffer) {
  count_closing(virtual_collect_buffer);
  mirror(static_cast<uint16_t>(virtual_collect_buffer),
         control(CollectBufferControl::close, virtual_collect_buffer));
}
void CollectBufferRtl::open(unsigned virtual_collect_buffer) {
  mirror(static_cast<uint16_t>(virtual_collect_buffer),
         control(CollectBufferControl::open, virtual_collect_buffer));
}

void CollectBufferRtl::keep_guarantees() {
  const Outcome outcome = control(CollectBufferControl::settle_division);
  for (uint16_t buffer = 0; buffer < virtual_.size(); ++buffer)
    if (virtual_[buffer].state == VirtualCollectBufferState::collecting)
      mirror(buffer, outcome);
}

// Tells the RTL how VCBs and PCBs are divided where it was told otherwise.
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
  // Whoever loses some lets go of them before another takes them.
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
  rtl_->set_allotment = 1;
  rtl_->eval();
  assert(rtl_->allotment_allowed);
  tick();
  rtl_->set_allotment = 0;
}

} // namespace fpga_verbs::rtl
