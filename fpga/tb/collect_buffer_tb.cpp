// collect_buffer beside the device model: commands from a seed, split, reordered, repeated and spoiled, in
// bursts on the AXI port. The model does each write and control command when the RTL says that it is done,
// and every kick, notice, refusal, count, state and stored command is compared, in order. Arguments: seed,
// clocks.
//
// The RTL may say that there is no PCB for some clocks after one has come back: the model is then told the
// same. Which of the free PCBs of a kind is taken is the RTL's choice.
//
// The shape (BEAT_BYTES and the other parameters) is given to Verilator and, by the same names, to this file.
#include "Vcollect_buffer.h"
#include "bench.h"
#include "collect_buffer_commands.h"
#include "collect_buffer_stream.h"
#include "collect_buffer_table.h"
#include "collect_buffer_writes.h"
#include "hca/base/hca_links.h"
#include "hca/collect/collect_buffer.h"
#include "spec/enums.h"

#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Rtl = Vcollect_buffer;
using spec::PhysicalCollectBufferState;
using spec::VirtualCollectBufferState;

using Control = spec::CollectBufferControl;

class Bench {
public:
  Bench(uint64_t seed, uint64_t clocks) : random_(seed), place_{.seed = seed}, clocks_(clocks) {}

  int run() {
    rtl_.scoreboard_variant = static_cast<uint8_t>(scoreboard_variant);
    rtl_.reset = 1;
    tick();
    tick();
    rtl_.reset = 0;
    rtl_.unit_credit = 1;
    for (uint32_t clocks = 0; !rtl_.control_ready; ++clocks) {
      tick();
      if (clocks > 4 * (vcbs + functions) + 32)
        differ(place_, "clocks of a reset", clocks, 4 * (vcbs + functions) + 32);
    }
    host_.turn_on(kick_records_);
    for (place_.clock = 0; place_.clock < clocks_; ++place_.clock) {
      if (place_.clock >= next_division_ && !host_waits() && without_room_ == 0)
        change_division();
      drive();
      tick();
      follow();
    }
    std::printf("%llu clocks, %llu beats, %llu kicks, %llu in send queue mode; refusals",
                static_cast<unsigned long long>(clocks_), static_cast<unsigned long long>(beats_),
                static_cast<unsigned long long>(kicks_),
                static_cast<unsigned long long>(send_queue_mode_kicks_));
    for (const uint64_t count : refusals_)
      std::printf(" %llu", static_cast<unsigned long long>(count));
    std::printf("\nmanagement kicks %llu, half written %llu, fetched %llu",
                static_cast<unsigned long long>(management_kicks_),
                static_cast<unsigned long long>(half_written_), static_cast<unsigned long long>(fetched_));
    std::printf(", handed over %llu", static_cast<unsigned long long>(handed_over_));
    std::printf(", without a PCB that was just back %llu", static_cast<unsigned long long>(said_early_));
    std::printf(", beats done before earlier ones %llu", static_cast<unsigned long long>(passed_));
    std::printf("\nmost beats on end %llu, most clocks to a kick %u\n",
                static_cast<unsigned long long>(most_on_end_), most_latency_);
#if VM_COVERAGE
    VerilatedCov::write("coverage.dat");
#endif
    return 0;
  }

private:
  // A PCB by its number in the RTL and in the model: each takes one of those that are free.
  struct Buffer {
    uint16_t model = hca::no_buffer;
    uint16_t rtl = hca::no_buffer;
  };
  // Clocks for which the RTL may not know of a PCB that has come back.
  static constexpr uint64_t comes_back_late = 12;

  void tick() {
    rtl_.clock = 0;
    rtl_.eval();
    before_edge();
    rtl_.clock = 1;
    rtl_.eval();
  }

  void expect_value(const char* what, uint64_t rtl, uint64_t model) { expect(place_, what, rtl, model); }

  // --- The AXI port.

  void drive() {
    if (bursts_.size() < 4)
      writes_of_host_.choose();
    gap_ = gap_ ? !random_.once(3) : random_.once(40);
    if (random_.once(100))
      rests_ = true; // until all is done, and compared
    // Now and then the host takes no response for so long that no more of them can be owed.
    holds_responses_ = !rests_ && (holds_responses_ ? !host_random_.once(100) : host_random_.once(2000));
    rtl_.bready = !random_.once(5) && !holds_responses_;
    // An offer stays until it is taken.
    rtl_.awvalid = address_waits_ ||
                   (addressed_ < bursts_.size() && addressed_ < 2 && !gap_ && (!rests_ || data_waits_));
    if (rtl_.awvalid) {
      const Burst& burst = bursts_[addressed_];
      rtl_.awaddr = burst.beats[0].address;
      rtl_.awlen = static_cast<uint8_t>(burst.beats.size() - 1);
      rtl_.awsize = burst.size;
      rtl_.awuser = burst.beats[0].user;
    }
    rtl_.wvalid = data_waits_ || (!bursts_.empty() && !gap_ && (!rests_ || address_waits_));
    // Now and then there is no room for so long that what goes on without would pass it.
    if (without_room_ == 0 && host_random_.once(5000))
      without_room_ = 600;
    without_room_ -= without_room_ != 0;
    paused_ += without_room_ != 0;
    rtl_.unit_credit = without_room_ == 0 && !random_.once(30);
    if (rtl_.wvalid) {
      const Beat& beat = bursts_[0].beats[beat_];
      std::memcpy(&rtl_.wdata, beat.data.data(), beat_bytes);
      rtl_.wstrb = beat.strobes;
      rtl_.wlast = beat.last;
    }
    if (!kicked_.empty() && kicked_.front().model == fetching_ &&
        !random_.once(4)) { // most are fetched to the end
      kicked_.push_back(kicked_.front());
      kicked_.pop_front();
    }
    rtl_.release_buffer = !kicked_.empty() && random_.once(static_cast<uint32_t>(release_pace_));
    if (rtl_.release_buffer)
      rtl_.release_physical_collect_buffer = static_cast<uint8_t>(kicked_.front().rtl);
    rtl_.store = fetching_ != hca::no_buffer && !random_.once(3);
    if (rtl_.store) {
      rtl_.store_physical_collect_buffer = static_cast<uint8_t>(rtl_fetching_);
      rtl_.store_beat = fetched_beats_;
      std::memcpy(&rtl_.store_data, buffers_[fetching_].data.data() + fetched_beats_ * beat_bytes,
                  beat_bytes);
    }
    rtl_.eval();
    rtl_.control = rtl_.control_ready && random_.once(50) && !rests_;
    const Control command = choose_control();
    rtl_.control_command = static_cast<uint8_t>(command);
    rtl_.control_page = random_.below(vcbs);
    if (command == Control::lock || (command == Control::close && random_.once(2)))
      rtl_.control_page = vcbs + random_.below(functions);
    if (opening_ < vcbs && rtl_.control_ready) { // what was closed for long
      rtl_.control = 1;
      rtl_.control_command = static_cast<uint8_t>(Control::open);
      rtl_.control_page = opening_++;
    }
    if (rtl_.control)
      controls_.push_back({static_cast<Control>(rtl_.control_command), rtl_.control_page});
  }

  // Locks are common, so that management pages collect.
  Control choose_control() {
    return random_.once(3) ? static_cast<Control>(random_.below(7)) : Control::lock;
  }

  // Whether it offers something that is not taken yet.
  bool host_waits() const { return address_waits_ || data_waits_; }

  // Handshakes of this clock, and what the queue pair state cache will answer in the next.
  void before_edge() {
    stores_ = rtl_.store && rtl_.store_ready;
    const bool taken = rtl_.wvalid && rtl_.wready && !rtl_.reset;
    on_end_ = taken ? on_end_ + 1 : 0;
    most_on_end_ = std::max(most_on_end_, on_end_);
    address_waits_ = rtl_.awvalid && !rtl_.awready && !rtl_.reset;
    data_waits_ = rtl_.wvalid && !rtl_.wready && !rtl_.reset;
    if (rtl_.bvalid && rtl_.bready && !rtl_.reset) {
      if (owed_responses_ == 0)
        differ(place_, "responses owed", 1, 0);
      --owed_responses_;
    }
    if (rtl_.awvalid && rtl_.awready && !rtl_.reset)
      ++addressed_;
    if (taken) {
      const Beat& beat = bursts_[0].beats[beat_];
      TakenBeat taken_beat{.write = {}, .clock = place_.clock - paused_};
      hca::BarWrite& write = taken_beat.write;
      write.region = spec::RegionType::virtual_collect_buffer;
      constexpr uint32_t known = functions > 1 ? 1U << std::bit_width(functions - 1) : 2;
      if ((beat.user & known) != 0)
        write.underlying_function = static_cast<uint8_t>(beat.user & ~known);
      write.page = static_cast<uint16_t>(beat.address / page_bytes);
      write.offset = beat.address % page_bytes;
      const uint32_t lane = beat.address % beat_bytes;
      write.length = beat_bytes - lane;
      write.byte_enables = beat.strobes >> lane;
      std::memcpy(taken_beat.data.data(), beat.data.data() + lane, write.length);
      writes_.push_back(taken_beat);
      if (++beat_ == bursts_[0].beats.size()) {
        bursts_.pop_front();
        ++owed_responses_;
        beat_ = 0;
        --addressed_;
      }
      ++beats_;
    }
    const spec::QueuePairControl* control =
        rtl_.find ? queue_pairs_.find_control(rtl_.find_underlying_function, rtl_.find_queue_pair_number)
                  : nullptr;
    found_ = control != nullptr;
    if (found_)
      found_control_ = *control;
  }

  // --- The model.

  void answer() {
    rtl_.queue_pair_found = found_;
    if (found_) {
      rtl_.queue_pair_quality_of_service_level =
          static_cast<uint8_t>(found_control_.quality_of_service_level());
      rtl_.queue_pair_checksum_secret = found_control_.checksum_secret();
    }
  }

  void follow() {
    answer();
    keep_units();
    if (rtl_.control_done)
      follow_control();
    if (rtl_.beat_done) {
      // Of a page beats are done in order; a command that is summed anew lets those of others pass.
      const auto done = std::find_if(writes_.begin(), writes_.end(), [&](const TakenBeat& taken) {
        return taken.write.page == rtl_.beat_page;
      });
      if (done == writes_.end())
        differ(place_, "page of the beat that is done", rtl_.beat_page, vcbs + functions);
      passed_ += done != writes_.begin();
      TakenBeat beat = *done;
      const uint64_t clock = beat.clock;
      writes_.erase(done);
      beat.write.data = beat.data.data();
      // Of those that have just come back the RTL need not know.
      const bool early = rtl_.send_queue_mode_entered && place_.clock < came_back_ + comes_back_late;
      const uint32_t free = free_of_model();
      if (early)
        write_without_buffers(beat.write);
      else
        write_model(beat.write);
      note_return(free);
      if (rtl_.refused) // one that was taken for the same write
        came_back_ = place_.clock;
      if (!kicks_collected_.empty() || !management_units_.empty()) {
        const auto latency = static_cast<uint32_t>(place_.clock - paused_ + 1 - clock);
        most_latency_ = std::max(most_latency_, latency);
        if (latency > longest_wait)
          differ(place_, "clocks to a kick", latency, longest_wait);
      }
    }
    if (rtl_.beat_done || rtl_.control_done)
      compare_units();
    if (rtl_.release_buffer) {
      model_.release(kicked_.front().model);
      came_back_ = place_.clock;
      if (kicked_.front().model == fetching_)
        fetching_ = hca::no_buffer;
      kicked_.pop_front();
    }
    follow_fetch();
    compare_stored();
    if (rests_ && writes_.empty() && controls_.empty() && !rtl_.bvalid && !host_waits()) {
      expect_value("responses owed", 0, owed_responses_);
      for (uint32_t page = 0; page < 4; ++page)
        compare_state(random_.below(vcbs));
      compare_free();
      rests_ = false;
    }
  }

  uint32_t free_of_model() const {
    uint32_t free = 0;
    for (uint16_t buffer = 0; buffer < pcbs + dedicated; ++buffer)
      free += buffers_[buffer].state == PhysicalCollectBufferState::free;
    return free;
  }
  void note_return(uint32_t free_before) {
    if (free_of_model() > free_before)
      came_back_ = place_.clock;
  }

  // A write to a VCB for which the model finds no PCB: as if others had been given them all.
  void write_without_buffers(hca::BarWrite& write) {
    std::array<hca::CollectAllotment, functions> allotments;
    for (uint32_t function = 0; function < functions; ++function)
      allotments[function] = model_.groups().allotment(function);
    const uint32_t owner = write.page < vcbs ? writes_of_host_.owner_of(write.page) : 0;
    const uint32_t other = (owner + 1) % functions;
    const uint64_t entered = counters_.function[owner].send_queue_mode_entered;
    for (uint32_t function = 0; function < functions; ++function)
      model_.set_allotment(function, {});
    if (!model_.set_allotment(other, {.low = pcbs}))
      std::abort();
    write_model(write);
    model_.set_allotment(other, {});
    for (uint32_t function = 0; function < functions; ++function)
      if (!model_.set_allotment(function, allotments[function]))
        std::abort();
    said_early_ += counters_.function[owner].send_queue_mode_entered - entered;
  }

  void write_model(hca::BarWrite& write) {
    if (write.page < vcbs) {
      model_.write(write);
      return;
    }
    write.offset += spec::underlying_function::management_page;
    model_.write_management_page(write.page - vcbs, write);
  }

  void follow_control() {
    const uint32_t free = free_of_model();
    follow_command();
    note_return(free);
  }

  void follow_command() {
    const auto [command, page] = controls_.front();
    controls_.pop_front();
    const unsigned function = page - vcbs; // of a management page
    std::optional<uint16_t> granted;
    switch (command) {
    case Control::cancel:
      model_.cancel(page);
      return;
    case Control::close:
      if (page < vcbs)
        model_.close(page);
      else
        model_.unlock_management(function);
      return;
    case Control::open:
      model_.open(page);
      return;
    case Control::settle_division: // of settle_division() alone
      return;
    case Control::take_kick_number:
      expect_value("number of a kick", spec_unit<spec::KickUnit>(rtl_.kick_unit).kick_number(),
                   model_.take_kick_number());
      return;
    case Control::lock:
      granted = model_.lock_management(function);
      if (granted && !rtl_.control_granted)
        model_.unlock_management(function);
      break;
    case Control::take_dedicated:
    case Control::take_management:
      granted = command == Control::take_dedicated ? model_.take_dedicated() : model_.take_management();
      if (granted && rtl_.control_granted) {
        kicked_.push_back({*granted, rtl_.control_physical_collect_buffer});
        begin_fetch(kicked_.back());
      } else if (granted) {
        model_.release(*granted);
      }
      break;
    }
    // One that has just come back need not be known yet.
    if (granted && !rtl_.control_granted && place_.clock < came_back_ + comes_back_late)
      return;
    expect_value("dedicated PCB granted", rtl_.control_granted, granted.has_value());
    if (granted)
      expect_value("kind of the dedicated PCB", kind_of(rtl_.control_physical_collect_buffer),
                   kind_of(*granted));
  }

  // Of the pool, for management, or to fetch commands into.
  static unsigned kind_of(uint16_t buffer) { return buffer < pcbs ? 0 : buffer < pcbs + management ? 1 : 2; }

  // With unit_credit there is room for eight of each kind.
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

  // The fields of a kick record, as it will be written by the model.
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

  // The PCB of the kick that both tell, and that it is of the same kind. It is no matter of the comparison.
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

  // A clock in which nothing comes.
  void rest() {
    rtl_.awvalid = rtl_.wvalid = rtl_.control = rtl_.release_buffer = rtl_.store = 0;
    tick();
    answer();
    keep_units();
    stored_asked_ = false;
    ++place_.clock;
  }

  // While nothing is under way.
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

  // A command is fetched into a PCB that was taken, a beat a clock where the host writes none.
  void begin_fetch(const Buffer& buffer) {
    if (fetching_ != hca::no_buffer)
      return;
    hca::PhysicalCollectBuffer& pcb = buffers_[buffer.model];
    for (uint8_t& byte : pcb.data)
      byte = static_cast<uint8_t>(random_.bits());
    spec::CommandHeader header;
    header.set_length(random_.below(spec::command_payload_bytes + 1));
    std::memcpy(pcb.data.data(), header.dwords.data(), spec::segment_bytes);
    fetching_ = buffer.model;
    rtl_fetching_ = buffer.rtl;
    fetched_beats_ = 0;
  }

  void follow_fetch() {
    if (fetching_ == hca::no_buffer || !stores_)
      return;
    ++fetched_beats_;
    hca::PhysicalCollectBuffer& pcb = buffers_[fetching_];
    if (fetched_beats_ * beat_bytes < hca::segments_needed(pcb.header().length()) * spec::segment_bytes)
      return;
    pcb.state = PhysicalCollectBufferState::kicked;
    stored_ = std::exchange(fetching_, hca::no_buffer);
    rtl_stored_ = rtl_fetching_;
    stored_beat_ = 0;
    stored_asked_ = false;
    ++fetched_;
  }

  // A kicked command is read back, a beat a clock, as long as its PCB is not given back.
  void compare_stored() {
    if (stored_ != hca::no_buffer && stored_asked_ &&
        buffers_[stored_].state == PhysicalCollectBufferState::kicked) {
      const uint32_t at = stored_beat_ * beat_bytes;
      const uint32_t used = hca::segments_needed(buffers_[stored_].header().length()) * spec::segment_bytes;
      if (at < used) {
        const uint32_t bytes = std::min(beat_bytes, used - at);
        if (std::memcmp(&rtl_.read_data, buffers_[stored_].data.data() + at, bytes) != 0)
          differ(place_, "stored command, at byte", at, used);
        ++stored_beat_;
      } else {
        stored_ = hca::no_buffer;
      }
    }
    stored_asked_ = stored_ != hca::no_buffer;
    rtl_.read_physical_collect_buffer = static_cast<uint8_t>(stored_ == hca::no_buffer ? 0 : rtl_stored_);
    rtl_.read_beat = stored_beat_;
  }

  // --- BARs and allotments, while nothing is under way.

  void settle() {
    rtl_.awvalid = rtl_.wvalid = rtl_.control = rtl_.release_buffer = rtl_.store = 0;
    rtl_.unit_credit = 1;
    for (; !writes_.empty() || !controls_.empty(); ++place_.clock) {
      tick();
      follow();
    }
  }

  void change_division() {
    next_division_ = place_.clock + 512;
    settle();
    const uint32_t function = random_.below(functions);
    release_pace_ = 1 + random_.below(40);
    opening_ = 0;
    if (random_.once(2)) // all PCBs are divided anew
      for (uint32_t each = 0; each < functions; ++each)
        set_allotment(each, {});
    for (uint32_t each = 0; each < functions; ++each)
      set_allotment((function + each) % functions, {random_.below(4), random_.below(4), random_.below(4)});
    rtl_.set_underlying_function = function;
    hca::VirtualCollectBufferBar bar = model_.bar(function);
    bar.low = random_.below(bar.count + 1);
    bar.high = bar.low + random_.below(bar.count - bar.low + 1);
    rtl_.set_bar = model_.set_bar(function, bar);
    rtl_.set_bar_base = bar.base;
    rtl_.set_bar_count = bar.count;
    rtl_.set_bar_low = bar.low;
    rtl_.set_bar_high = bar.high;
    tick();
    rtl_.set_bar = 0;
    settle_division();
    pass_time();
  }

  void set_allotment(uint32_t function, const hca::CollectAllotment& allotment) {
    rtl_.set_underlying_function = function;
    rtl_.set_allotment_low = allotment.low;
    rtl_.set_allotment_high = allotment.high;
    rtl_.set_allotment_shared = allotment.shared;
    rtl_.eval();
    expect_value("allotment allowed", rtl_.allotment_allowed, model_.set_allotment(function, allotment));
    rtl_.set_allotment = 1;
    tick();
    rtl_.set_allotment = 0;
  }

  // Half-written commands that hold PCBs of others now go to send queue mode. Beats that come meanwhile wait.
  void settle_division() {
    rtl_.control = 1;
    rtl_.control_command = static_cast<uint8_t>(Control::settle_division);
    rtl_.control_page = 0;
    const uint64_t entered = counts_.send_queue_mode_entered;
    uint32_t clocks = 0;
    for (; !rtl_.control_done; ++clocks, ++place_.clock) {
      tick();
      rtl_.control = 0;
      keep_units();
      if (clocks > (vcbs + 40) * (pcbs + 1))
        differ(place_, "clocks of a division", clocks, (vcbs + 40) * (pcbs + 1));
    }
    handed_over_ += counts_.send_queue_mode_entered - entered;
    model_.keep_guarantees();
    compare_units();
    for (uint32_t page = 0; page < vcbs; ++page)
      compare_state(page);
    compare_free();
  }

  // Time passes between commands only. The RTL tells a VCB a clock, the model the oldest first.
  void pass_time() {
    // Time begins at 0. The second time, a command is as old as the limit, and as the device; later some are,
    // and some a tick younger.
    const uint32_t limit = passes_ == 1 ? 60 : random_.below(3) * 60;
    clock_.ticks += passes_ == 0                      ? 0
                    : passes_ == 1 || random_.once(3) ? 60 - (passes_ > 1 && random_.once(3))
                                                      : random_.below(100);
    ++passes_;
    rtl_.now = clock_.ticks;
    rtl_.half_written_limit = limit;
    model_.set_half_written_limit(rtl_.half_written_limit);
    for (uint32_t clocks = vcbs + 16; clocks > 0; --clocks, ++place_.clock) {
      tick();
      follow();
    }
    while (model_.step())
      ;
    const auto by_object = [](const spec::EventUnit& one, const spec::EventUnit& other) {
      return one.object() < other.object();
    };
    std::sort(rtl_half_written_.begin(), rtl_half_written_.end(), by_object);
    std::sort(events_.events.begin(), events_.events.end(), by_object);
    half_written_ += rtl_half_written_.size();
    expect_value("half-written commands", rtl_half_written_.size(), events_.events.size());
    for (size_t place = 0; place < rtl_half_written_.size(); ++place)
      compare_unit("half-written command", rtl_half_written_[place], events_.events[place]);
    rtl_half_written_.clear();
    events_.events.clear();
  }

  static hca::HcaParameters parameters() {
    hca::HcaParameters parameters;
    parameters.underlying_functions = functions;
    parameters.virtual_collect_buffers = vcbs;
    parameters.physical_collect_buffers = pcbs;
    parameters.dedicated_physical_collect_buffers = dedicated;
    parameters.management_physical_collect_buffers = management;
    parameters.scoreboard_variant = scoreboard_variant;
    return parameters;
  }

  Rtl rtl_;
  hca::HcaParameters parameters_ = parameters();
  hca::Counters counters_;
  TestClock clock_;
  RecordHost host_;
  KeptEvents events_;
  QueuePairs queue_pairs_;
  hca::KickRecords kick_records_{counters_, host_, clock_, events_};
  hca::HcaLinks links_;
  hca::DataLink<spec::KickUnit>& kicks_collected_ = links_.kicks_collected;
  hca::DataLink<spec::PostNotice>& post_notices_ = links_.post_notices;
  hca::DataLink<spec::ManagementUnit>& management_units_ = links_.management_units;
  hca::PhysicalCollectBuffers buffers_{parameters_};
  hca::CollectBuffer model_{{parameters_, counters_, clock_, buffers_, queue_pairs_, events_, kick_records_,
                             kicks_collected_, post_notices_, management_units_}};
  Random random_;
  Random host_random_{1};
  Place place_;
  uint64_t clocks_;
  uint64_t next_division_ = 0;

  HostWrites writes_of_host_{random_, model_};
  std::deque<Burst>& bursts_ = writes_of_host_.bursts();
  size_t beat_ = 0;      // of the first burst
  size_t addressed_ = 0; // bursts whose address was taken
  bool gap_ = false;
  bool address_waits_ = false;
  bool data_waits_ = false;
  bool holds_responses_ = false;
  uint32_t without_room_ = 0; // clocks still
  uint64_t paused_ = 0;       // clocks
  std::array<uint32_t, 4> units_since_credit_{};
  uint64_t owed_responses_ = 0;
  struct TakenBeat {
    hca::BarWrite write; // without its data
    std::array<uint8_t, hca::line_bytes> data{};
    uint64_t clock = 0;
  };
  std::deque<TakenBeat> writes_;
  std::deque<std::pair<Control, unsigned>> controls_;
  std::deque<Buffer> kicked_;
  uint64_t came_back_ = 0; // clock in which a PCB came back last
  uint64_t said_early_ = 0;
  uint64_t passed_ = 0; // beats done before earlier ones
  bool rests_ = false;
  uint16_t rtl_fetching_ = hca::no_buffer;
  uint16_t rtl_stored_ = hca::no_buffer;
  uint64_t release_pace_ = 1;
  uint32_t opening_ = vcbs;
  bool found_ = false;
  spec::QueuePairControl found_control_;
  uint16_t stored_ = hca::no_buffer;
  uint32_t stored_beat_ = 0;
  bool stored_asked_ = false;

  std::deque<spec::KickUnit> rtl_kicks_;
  std::deque<spec::PostNotice> rtl_notices_;
  std::deque<spec::ManagementUnit> rtl_management_;
  std::deque<spec::KickRecord> rtl_records_;
  std::deque<spec::EventUnit> rtl_events_;
  std::vector<spec::EventUnit> rtl_half_written_;
  struct {
    uint64_t unclaimed = 0;
    uint64_t send_queue_mode = 0;
    uint64_t send_queue_mode_entered = 0;
    std::array<uint64_t, functions> dropped{};
    std::array<uint64_t, functions> cancelled{};
  } counts_;
  uint64_t beats_ = 0;
  uint64_t kicks_ = 0;
  uint64_t management_kicks_ = 0;
  uint64_t half_written_ = 0;
  uint32_t passes_ = 0; // of time
  uint64_t fetched_ = 0;
  uint64_t handed_over_ = 0; // half-written commands, to the send queue
  uint16_t fetching_ = hca::no_buffer;
  uint8_t fetched_beats_ = 0; // of it
  bool stores_ = false;
  uint64_t send_queue_mode_kicks_ = 0;
  uint64_t on_end_ = 0;
  uint64_t most_on_end_ = 0;
  uint32_t most_latency_ = 0;
  std::array<uint64_t, 19> refusals_{};
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  if (count != 3) {
    std::printf("usage: %s SEED CLOCKS\n", arguments[0]);
    return 2;
  }
  const uint64_t seed = std::strtoull(arguments[1], nullptr, 0);
  if (seed % 2 == 0)
    fpga_verbs::bench::scoreboard_variant = fpga_verbs::spec::ScoreboardVariant::direct;
  fpga_verbs::bench::Rtl rtl;
  fpga_verbs::bench::QueuePairs queue_pairs;
  fpga_verbs::bench::run_table(rtl, queue_pairs);
  for (const bool checked : {false, true})
    for (const bool same : {false, true}) {
      const fpga_verbs::bench::Stream stream = fpga_verbs::bench::run_stream(rtl, queue_pairs, same, checked);
      std::printf(
          "stream to %s%s: %u beats in %u clocks, %u kicks, %u to %u clocks from the completing beat\n",
          same ? "one VCB" : "each VCB", checked ? ", with checksums" : "", stream.beats, stream.clocks,
          stream.kicks, stream.least_latency, stream.most_latency);
    }
  if (fpga_verbs::bench::pcbs >= fpga_verbs::bench::vcbs) { // else they run out
    const fpga_verbs::bench::BesideSum beside = fpga_verbs::bench::run_beside_sum(rtl, queue_pairs);
    std::printf("beside a sum made anew: %u clocks to its kick, %u at most to those of others\n",
                beside.summed, beside.most_of_others);
  }
  fpga_verbs::bench::Bench bench(seed, std::strtoull(arguments[2], nullptr, 0));
  const fpga_verbs::bench::Coverage coverage;
  return bench.run();
}
