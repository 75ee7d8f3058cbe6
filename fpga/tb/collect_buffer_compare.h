#pragma once

#include "collect_buffer_ports.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::bench {

// Compares data units, counts and state of collect_buffer with the model's.
class ComparedCollectBuffer : protected DrivenCollectBuffer {
public:
  using DrivenCollectBuffer::DrivenCollectBuffer;

protected:
  // unit_credit stands for room for eight units of each kind.
  void count_units() {
    const std::array<bool, 4> units{rtl_.kick != 0, rtl_.post_notice != 0, rtl_.management != 0,
                                    rtl_.refused || rtl_.half_written};
    for (uint32_t kind = 0; kind < units.size(); ++kind) {
      units_since_credit_[kind] = (rtl_.unit_credit ? 0 : units_since_credit_[kind]) + units[kind];
      if (units_since_credit_[kind] > 8)
        differ(place_, "units without room", units_since_credit_[kind], 8);
    }
  }

  void keep_units() {
    count_units();
    if (rtl_.kick)
      rtl_kicks_.push_back(spec_unit<spec::KickUnit>(rtl_.kick_unit));
    if (rtl_.kick_record)
      follow_kick_record();
    if (rtl_.post_notice)
      rtl_notices_.push_back(spec_unit<spec::PostNotice>(rtl_.post_notice_unit));
    if (rtl_.management)
      rtl_management_.push_back(spec_unit<spec::ManagementUnit>(rtl_.management_unit));
    if (rtl_.refused)
      rtl_events_.push_back(spec_unit<spec::EventUnit>(rtl_.refused_event));
    if (rtl_.half_written)
      rtl_half_written_.push_back(spec_unit<spec::EventUnit>(rtl_.half_written_event));
    counts_.unclaimed += rtl_.write_unclaimed;
    counts_.send_queue_mode += rtl_.send_queue_mode_kick;
    counts_.send_queue_mode_entered += rtl_.send_queue_mode_entered;
    counts_.dropped[rtl_.counted_underlying_function] += rtl_.write_dropped;
    counts_.cancelled[rtl_.counted_underlying_function] += rtl_.command_cancelled;
  }

  // Records the fields of a kick record, as the model will write it.
  void follow_kick_record() {
    const auto unit = spec_unit<spec::KickUnit>(rtl_.kick_unit);
    spec::KickRecord record;
    record.set_underlying_function(unit.underlying_function());
    record.set_origin(unit.origin());
    record.set_kick_number(unit.kick_number());
    record.set_virtual_collect_buffer(rtl_.kick_virtual_collect_buffer);
    record.set_opcode(static_cast<spec::Opcode>(rtl_.kick_opcode));
    record.set_queue_pair_number(unit.queue_pair_number());
    record.set_length(unit.length());
    record.set_begin(rtl_.kick_first_write);
    rtl_records_.push_back(record);
  }

  template <class Unit> void compare_unit(const char* what, const Unit& rtl, const Unit& model) {
    for (size_t dword = 0; dword < model.dwords.size(); ++dword)
      expect_value(what, rtl.dwords[dword], model.dwords[dword]);
  }

  template <class Units, class Model> void compare_list(const char* what, Units& rtl, Model& model) {
    while (!rtl.empty() && !model.empty()) {
      compare_unit(what, rtl.front(), model.front());
      rtl.pop_front();
      if constexpr (requires { model.pop_front(); })
        model.pop_front();
      else
        model.pop();
    }
    if (rtl.empty() != model.empty())
      differ(place_, what, rtl.size(), model.size());
  }

  // Maps the PCB of the RTL's kick to the model's PCB, and checks that both are of the same kind. The RTL may
  // select another PCB than the model.
  Buffer same_buffer() {
    Buffer buffer;
    if (!kicks_collected_.empty()) {
      if (rtl_kicks_.empty())
        differ(place_, "kicks", 0, kicks_collected_.size());
      buffer.model = static_cast<uint16_t>(kicks_collected_.front().physical_collect_buffer());
      buffer.rtl = static_cast<uint16_t>(rtl_kicks_.front().physical_collect_buffer());
      rtl_kicks_.front().set_physical_collect_buffer(buffer.model);
    } else {
      if (rtl_management_.empty())
        differ(place_, "management units", 0, management_units_.size());
      buffer.model = static_cast<uint16_t>(management_units_.front().physical_collect_buffer());
      buffer.rtl = static_cast<uint16_t>(rtl_management_.front().physical_collect_buffer());
      rtl_management_.front().set_physical_collect_buffer(buffer.model);
    }
    expect_value("kind of the PCB", kind_of(buffer.rtl), kind_of(buffer.model));
    for (const Buffer& other : kicked_)
      if (other.rtl == buffer.rtl)
        differ(place_, "PCB that was kicked and is not back", buffer.rtl, other.rtl);
    return buffer;
  }

  void compare_units() {
    management_kicks_ += management_units_.size();
    if (!kicks_collected_.empty() || !management_units_.empty()) {
      ++kicks_;
      const Buffer buffer = same_buffer();
      kicked_.push_back(buffer);
      stored_ = buffer.model;
      rtl_stored_ = buffer.rtl;
      stored_beat_ = 0;
      stored_asked_ = false;
    }
    for (const spec::EventUnit& event : events_.events)
      ++refusals_[event.reason()];
    compare_list("kick", rtl_kicks_, kicks_collected_);
    compare_list("post notice", rtl_notices_, post_notices_);
    compare_list("management unit", rtl_management_, management_units_);
    compare_list("kick record", rtl_records_, host_.records);
    compare_list("refusal", rtl_events_, events_.events);
    uint64_t kicks = 0;
    uint64_t entered = 0;
    for (uint32_t function = 0; function < functions; ++function) {
      const hca::FunctionCounters& counters = counters_.function[function];
      kicks += counters.send_queue_mode_kicks;
      entered += counters.send_queue_mode_entered;
      expect_value("writes dropped", counts_.dropped[function], counters.writes_dropped);
      expect_value("commands cancelled", counts_.cancelled[function], counters.commands_cancelled);
    }
    expect_value("kicks in send queue mode", counts_.send_queue_mode, kicks);
    expect_value("send queue mode entered", counts_.send_queue_mode_entered, entered);
    expect_value("writes unclaimed", counts_.unclaimed, counters_.device.writes_unclaimed);
    send_queue_mode_kicks_ = kicks;
  }

  // A clock without input.
  void rest() {
    rtl_.awvalid = rtl_.wvalid = rtl_.control = rtl_.release_buffer = rtl_.store = 0;
    tick();
    answer();
    keep_units();
    stored_asked_ = false;
    ++place_.clock;
  }

  // Only while nothing is in flight.
  void compare_state(uint32_t page) {
    rtl_.inspect_page = page;
    rest();
    const hca::CollectBufferPort::Inspection vcb = model_.inspect(page);
    expect_value("VCB state", rtl_.inspect_state, static_cast<uint64_t>(vcb.state));
    if (vcb.state == VirtualCollectBufferState::error)
      expect_value("refusal of the VCB", rtl_.inspect_refusal, static_cast<uint64_t>(vcb.refusal));
    if (vcb.state == VirtualCollectBufferState::collecting) {
      const hca::PhysicalCollectBuffer& pcb = buffers_[vcb.physical_collect_buffer];
      expect_value("kind of the PCB bound", kind_of(rtl_.inspect_physical_collect_buffer), 0);
      expect_value("PCB bound is free",
                   uint64_t{rtl_.free_buffers} >> rtl_.inspect_physical_collect_buffer & 1, 0);
      expect_value("scoreboard", rtl_.inspect_scoreboard, pcb.scoreboard);
      expect_value("scoreboard mask", rtl_.inspect_scoreboard_mask, pcb.scoreboard_mask);
    }
  }

  void compare_free() {
    for (uint32_t clocks = 0; clocks < comes_back_late; ++clocks)
      rest();
    std::array<uint32_t, 3> rtl{};
    std::array<uint32_t, 3> model{};
    for (uint16_t buffer = 0; buffer < pcbs + dedicated; ++buffer) {
      rtl[kind_of(buffer)] += uint64_t{rtl_.free_buffers} >> buffer & 1;
      model[kind_of(buffer)] += buffers_[buffer].state == PhysicalCollectBufferState::free;
    }
    for (uint32_t kind = 0; kind < rtl.size(); ++kind)
      expect_value("free PCBs", rtl[kind], model[kind]);
    for (const Buffer& buffer : kicked_)
      expect_value("kicked PCB is free", uint64_t{rtl_.free_buffers} >> buffer.rtl & 1, 0);
  }
};

} // namespace fpga_verbs::bench
