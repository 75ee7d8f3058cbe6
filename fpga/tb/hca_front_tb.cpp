// hca_front as a host sees it: the identity page, registers, commands written by AXI in pieces and in any
// order, and taken from the stream byte by byte as they were written; kick records and a queuing structure in
// its memory; at last the mapping table of lanes there. Arguments: seed, commands.
//
// The shape (BEAT_BYTES and the other parameters) is given to Verilator and, by the same names, to this file.
#include "Vhca_front.h"
#include "axi_host.h"
#include "bench.h"
#include "hca_front_lane_map.h"
#include "host_memory_slave.h"
#include "kick_record_rings.h"
#include "spec/commands.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <verilated.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace fpga_verbs::bench {
namespace {

namespace function_page = spec::underlying_function;

using Bytes = std::vector<uint8_t>;

constexpr uint32_t vcbs_each = VIRTUAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;
constexpr uint64_t structures = 0x13'0000'0000;

class Bench : public AxiHost<Bench> {
public:
  explicit Bench(uint64_t seed)
      : random_(seed), place_{.seed = seed}, slave_(rtl_, memory_, random_, place_) {
    rtl_.notice_credit = 1;
    rtl_.drained = 1;
    rtl_.function_drained = (1 << UNDERLYING_FUNCTIONS) - 1;
    rtl_.management_tready = 1;
    rtl_.pinned = 1;
    rtl_.queue_pair_found = 1;
    rtl_.queue_pair_quality_of_service_level = static_cast<uint8_t>(spec::QualityOfServiceLevel::low);
    rtl_.collect_bready = 1;
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    steps(QUEUE_PAIRS + 4);
  }

  int run(uint32_t commands) {
    find_regions();
    write_before_enable();
    divide();
    refuse_and_cancel();
    close_and_open();
    queue();
    inspect();
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      begin_ring(function);
    for (uint32_t number = 0; number < commands; ++number) {
      if (number == commands / 2)
        reset_device(number);
      send(random_.below(VIRTUAL_COLLECT_BUFFERS), number);
      while (expected_.size() > 1)
        wait();
      rings_.read();
    }
    wait_for_all();
    steps(patience);
    rings_.read();
    expect(place_, "commands without a record of their end", rings_.untold(), 0);
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      expect(place_, "records dropped", read_64(page(function) + function_page::kick_records_dropped), 0);
    lose_ring(commands);
    hold(commands + 1);
    reset_function(commands + 2);
    uint64_t kicks = 0;
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      kicks += read_64(page(function) + function_page::kicks);
    expect(place_, "kicks counted since the reset", kicks, commands - commands / 2 + 4);
    expect(place_, "clock", read_64(page(0) + function_page::clock) < place_.clock, 1);
    LaneMapCases(*this, commands + 4).run();
    std::printf(
        "%u commands, %llu beats of the stream, most clocks from the last write to the first beat %llu\n",
        commands, static_cast<unsigned long long>(beats_), static_cast<unsigned long long>(most_latency_));
    return 0;
  }

  Vhca_front& rtl() { return rtl_; }
  const Place& place() const { return place_; }
  HostMemory& memory() { return memory_; }
  HostMemorySlave<Vhca_front>& slave() { return slave_; }
  uint32_t control() const { return control_; }
  uint32_t page(uint32_t function) const { return functions_ + function * function_stride_; }
  // Events of DMA, and the last one; the lane of the command that came last.
  uint32_t faults() const { return faults_; }
  const spec::EventUnit& last_fault() const { return last_fault_; }
  uint32_t last_lane() const { return last_lane_; }

  void enable() {
    spec::control::Control control;
    control.set_enable(1);
    expect(place_, "enable", write(control_ + spec::control::control, control.bits), okay);
  }

  // The device, and forgets what was sent. Whether no access to host memory was under way in the last clock.
  bool reset() {
    spec::control::Control control;
    control.set_reset(1);
    expect(place_, "reset", write(control_ + spec::control::control, control.bits), okay);
    bool is_quiet = false;
    until("the end of the reset", [&] {
      is_quiet = slave_.is_quiet();
      return rtl_.device_reset != 0;
    });
    expected_.clear();
    rings_.forget();
    return is_quiet;
  }

  void send(uint32_t vcb, uint32_t number) {
    const uint32_t length = random_.below(spec::command_payload_bytes + 1);
    const Bytes bytes = command(number, length);
    spec::CommandHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    rings_.tell(
        static_cast<uint16_t>(number),
        {.virtual_collect_buffer = vcb, .queue_pair_number = header.queue_pair_number(), .length = length});
    expected_[static_cast<uint16_t>(number)] = {bytes.begin(),
                                                bytes.begin() + spec::CommandHeader::bytes + length};
    write_command(vcb, bytes);
    last_write_ = place_.clock;
  }
  void wait_for_all() {
    while (!expected_.empty())
      wait();
  }

  void begin_clock() {
    rtl_.command_tready = !is_held_ && random_.percent(70);
    slave_.drive();
    rtl_.clock = 0;
    rtl_.eval();
  }

  void end_clock() {
    refusals_ += rtl_.refused;
    if (rtl_.fault) {
      ++faults_;
      std::memcpy(&last_fault_, &rtl_.fault_event, sizeof(last_fault_));
    }
    slave_.take([](uint64_t, uint32_t) {});
    const bool is_reset = rtl_.device_reset;
    const bool was_taken = rtl_.finish && rtl_.finish_ready;
    const bool was_released = rtl_.release_command && rtl_.release_command_ready;
    const bool was_recorded = rtl_.record && rtl_.record_ready;
    if (rtl_.management_tvalid && rtl_.management_tready)
      take_management_beat();
    const bool comes = rtl_.command_tvalid && rtl_.command_tready;
    if (comes)
      take_beat();
    const bool ends = comes && rtl_.command_tlast;
    spec::KickUnit unit;
    std::memcpy(&unit, &rtl_.command_tuser, sizeof(unit));
    rtl_.clock = 1;
    rtl_.eval();
    slave_.settle();
    ++place_.clock;
    if (was_taken)
      rtl_.finish = 0;
    if (was_released)
      rtl_.release_command = 0;
    if (was_recorded)
      rtl_.record = 0;
    if (is_reset) {
      rtl_.finish = rtl_.release_command = rtl_.record = 0;
      expect(place_, "a command is not cut", command_.size(), 0);
    } else if (ends) {
      finish(unit);
    }
  }

private:
  // As a driver does.
  void find_regions() {
    expect(place_, "magic", read(spec::identity::magic), spec::identity::magic_reset);
    expect(place_, "design", spec::identity::Device{read(spec::identity::device)}.design(), 2);
    const uint32_t regions = read(spec::identity::regions);
    for (uint32_t number = 0; number < regions; ++number) {
      const uint32_t at = number * spec::identity::region_stride;
      const spec::identity::Region region{read(spec::identity::region + at)};
      const uint32_t offset = read(spec::identity::region_offset + at);
      const uint32_t entries = read(spec::identity::region_entries + at);
      const uint32_t stride = read(spec::identity::region_page_stride + at);
      expect(place_, "size of a region", read(spec::identity::region_size + at), entries * stride);
      if (region.type() == spec::RegionType::control)
        control_ = offset;
      if (region.type() == spec::RegionType::underlying_function) {
        functions_ = offset;
        function_stride_ = stride;
        expect(place_, "functions", entries, UNDERLYING_FUNCTIONS);
      }
      if (region.type() == spec::RegionType::virtual_collect_buffer) {
        vcb_stride_ = stride;
        expect(place_, "VCBs", entries, VIRTUAL_COLLECT_BUFFERS);
        expect(place_, "prefetchable", region.prefetchable(), 1);
      } else {
        expect(place_, "prefetchable", region.prefetchable(), 0);
      }
    }
    expect(place_, "regions", control_ != 0 && functions_ != 0 && vcb_stride_ != 0, 1);
  }

  void write_before_enable() {
    write_command(0, command(1, 0));
    enable();
    const function_page::Status status{read(page(1) + function_page::status)};
    expect(place_, "enabled", status.enabled(), 1);
    expect(place_, "function", status.underlying_function(), 1);
  }

  // In the middle of everything: a command half written, one in the stream, records under way, a burst begun.
  void reset_device(uint32_t number) {
    write_burst(0, command(number, 0).data(), 8, 8);
    send(vcbs_each, number);
    send(vcbs_each, number + 1);
    rtl_.collect_awaddr = vcb_stride_;
    rtl_.collect_awlen = 1;
    rtl_.collect_awsize = 3;
    rtl_.collect_awvalid = 1;
    until("collect_awready", [&] { return rtl_.collect_awready != 0; });
    rtl_.collect_awvalid = 0;
    spec::control::Control control;
    control.set_reset(1);
    control.set_enable(1);
    expect(place_, "reset", write(control_ + spec::control::control, control.bits), okay);
    steps(patience);
    control.bits = read(control_ + spec::control::control);
    expect(place_, "reset waits for the burst", control.reset(), 1);
    const function_page::Status status{read(page(1) + function_page::status)};
    expect(place_, "reset in progress", status.reset_in_progress(), 1);
    for (unsigned beat = 0; beat < 2; ++beat) {
      rtl_.collect_wlast = beat == 1;
      rtl_.collect_wvalid = 1;
      until("collect_wready", [&] { return rtl_.collect_wready != 0; });
      rtl_.collect_wvalid = 0;
    }
    until("the end of the reset", [&] { return rtl_.device_reset != 0; });
    control.bits = read(control_ + spec::control::control);
    expect(place_, "after the reset", control.bits, 0);
    const uint64_t bursts = slave_.bursts();
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function) {
      expect(place_, "kicks", read_64(page(function) + function_page::kicks), 0);
      expect(place_, "records written", read_64(page(function) + function_page::kick_records_written), 0);
      expect(place_, "ring", read(page(function) + function_page::kick_record_control), 0);
      expect(place_, "place of the ring", read_64(page(function) + function_page::kick_record_address), 0);
    }
    spec::control::FunctionPhysicalCollectBuffers allotment{
        read(control_ + spec::control::function_physical_collect_buffers)};
    expect(place_, "allotment", allotment.shared(), PHYSICAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS);
    expected_.clear();
    rings_.forget();
    steps(QUEUE_PAIRS + patience);
    expect(place_, "accesses after the reset", slave_.bursts(), bursts);
    begin_again();
    reset_while_writing(number);
    spec::control::InspectSelect select;
    expect(place_, "a command half written before",
           inspected(select).state() == spec::VirtualCollectBufferState::free, 1);
  }

  // Records are on their way to a slow host: the reset waits for them.
  void reset_while_writing(uint32_t number) {
    slave_.set_speed(5);
    send(vcbs_each, number);
    until("an access to host memory", [&] { return !slave_.is_quiet(); });
    expect(place_, "host memory is left alone", reset(), 1);
    slave_.set_speed(60);
    begin_again();
  }

  void begin_again() {
    enable();
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      begin_ring(function);
  }

  spec::control::InspectVirtualCollectBuffer inspected(spec::control::InspectSelect select) {
    expect(place_, "select", write(control_ + spec::control::inspect_select, select.bits), okay);
    return spec::control::InspectVirtualCollectBuffer{
        read(control_ + spec::control::inspect_virtual_collect_buffer)};
  }

  // A VCB and its PCB through the window, while the VCB collects and after.
  void inspect() {
    const uint32_t vcb = VIRTUAL_COLLECT_BUFFERS - 1;
    for (const uint32_t each : {vcb - 1, vcb})
      write_burst(each * vcb_stride_, command(1, 0).data(), 8, 8);
    steps(8);
    spec::control::InspectSelect select;
    select.set_virtual_collect_buffer(vcb);
    const uint32_t buffer = inspected(select).physical_collect_buffer();
    expect(place_, "it collects", inspected(select).state() == spec::VirtualCollectBufferState::collecting,
           1);
    select.set_physical_collect_buffer(buffer);
    expect(place_, "in its PCB", inspected(select).physical_collect_buffer(), buffer);
    const auto physical = [&] {
      return spec::control::InspectPhysicalCollectBuffer{
          read(control_ + spec::control::inspect_physical_collect_buffer)};
    };
    expect(place_, "the PCB collects", physical().state() == spec::PhysicalCollectBufferState::collecting, 1);
    expect(place_, "for the VCB", physical().virtual_collect_buffer(), vcb);
    const uint64_t all = (uint64_t{1} << spec::segments) - 1;
    expect(place_, "scoreboard", read_64(control_ + spec::control::inspect_scoreboard),
           all & ~uint64_t{0xfe});
    expect(place_, "mask", read_64(control_ + spec::control::inspect_scoreboard_mask), all & ~uint64_t{0xfe});
    spec::control::CancelVirtualCollectBuffer cancel;
    cancel.set_virtual_collect_buffer(vcb);
    write(control_ + spec::control::cancel_virtual_collect_buffer, cancel.bits);
    expect(place_, "cancelled", inspected(select).state() == spec::VirtualCollectBufferState::free, 1);
    expect(place_, "the PCB is free", physical().state() == spec::PhysicalCollectBufferState::free, 1);
    expect(place_, "no scoreboard", read_64(control_ + spec::control::inspect_scoreboard), 0);
    cancel.set_virtual_collect_buffer(vcb - 1);
    write(control_ + spec::control::cancel_virtual_collect_buffer, cancel.bits);
  }

  void divide() {
    const uint32_t first = control_ + spec::control::function_physical_collect_buffers;
    spec::control::FunctionPhysicalCollectBuffers allotment{read(first)};
    expect(place_, "allotment to begin with", allotment.shared(),
           PHYSICAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS);
    allotment.set_low(PHYSICAL_COLLECT_BUFFERS);
    expect(place_, "too many PCBs", write(first, allotment.bits), slave_error);
    allotment.set_low(allotment.shared());
    allotment.set_shared(0);
    expect(place_, "PCBs of the low level", write(first, allotment.bits), okay);
    expect(place_, "allotment", read(first), allotment.bits);
    spec::control::FunctionVirtualCollectBufferSubBar sub_bar;
    sub_bar.set_low(vcbs_each);
    sub_bar.set_high(vcbs_each);
    expect(place_, "dividers",
           write(control_ + spec::control::function_virtual_collect_buffer_sub_bar, sub_bar.bits), okay);
    expect(place_, "dividers", read(page(0) + function_page::virtual_collect_buffer_sub_bar), sub_bar.bits);
    expect(place_, "part of a DWORD", write(control_ + spec::control::control, 0, 3), slave_error);
    expect(place_, "a register that is not there", write(control_ + spec::control::bytes - 4, 0),
           slave_error);
  }

  // A command of an unknown version puts its VCB in error, until it is cancelled.
  void refuse_and_cancel() {
    Bytes bytes = command(1, 0);
    spec::CommandHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.set_version(spec::command_version + 1);
    std::memcpy(bytes.data(), &header, sizeof(header));
    write_command(0, bytes);
    for (unsigned clock = 0; clock < patience && refusals_ == 0; ++clock)
      step();
    expect(place_, "refusals", refusals_, 1);
    expect(place_, "refusals counted", read_64(page(0) + function_page::commands_refused), 1);
    spec::control::CancelVirtualCollectBuffer cancel;
    expect(place_, "cancel", write(control_ + spec::control::cancel_virtual_collect_buffer, cancel.bits),
           okay);
    cancel.set_virtual_collect_buffer(VIRTUAL_COLLECT_BUFFERS);
    expect(place_, "no such VCB", write(control_ + spec::control::cancel_virtual_collect_buffer, cancel.bits),
           slave_error);
  }

  void close_and_open() {
    const uint64_t before = read_64(page(0) + function_page::writes_dropped);
    spec::control::CloseVirtualCollectBuffer close;
    close.set_virtual_collect_buffer(vcbs_each - 1);
    expect(place_, "close", write(control_ + spec::control::close_virtual_collect_buffer, close.bits), okay);
    write_command(vcbs_each - 1, command(1, 0));
    for (unsigned clock = 0; clock < 8; ++clock)
      step();
    expect(place_, "writes dropped", read_64(page(0) + function_page::writes_dropped) > before, 1);
    spec::control::OpenVirtualCollectBuffer open;
    open.set_virtual_collect_buffer(vcbs_each - 1);
    expect(place_, "open", write(control_ + spec::control::open_virtual_collect_buffer, open.bits), okay);
  }

  // A queue pair goes to a queuing structure in host memory, and comes back.
  void queue() {
    function_page::QueuingStructureSize size;
    size.set_entries_log2(4);
    expect(place_, "size", write(page(1) + function_page::queuing_structure_size, size.bits), okay);
    const uint32_t address = page(1) + function_page::queuing_structure_address + 8; // Of the high level.
    expect(place_, "unaligned", write(address, 4), slave_error);
    write(address, static_cast<uint32_t>(structures));
    write(address + 4, static_cast<uint32_t>(structures >> 32));
    expect(place_, "queuing structure", read_64(address), structures);
    spec::ScheduleRequest request;
    request.set_queue_pair_number(0x050000 | (QUEUE_PAIRS - 1));
    request.set_underlying_function(1);
    request.set_quality_of_service_level(spec::QualityOfServiceLevel::high);
    std::memcpy(&rtl_.queuing_append_unit, &request, sizeof(request));
    rtl_.queuing_append = 1;
    until("queuing_append_ready", [&] { return rtl_.queuing_append_ready != 0; });
    rtl_.queuing_append = 0;
    rtl_.queuing_take = 1;
    until("queuing_take_ready", [&] { return rtl_.queuing_take_ready != 0; });
    rtl_.queuing_take = 0;
    spec::ScheduleRequest taken;
    until("queuing_taken", [&] {
      std::memcpy(&taken, &rtl_.queuing_taken_unit, sizeof(taken));
      return rtl_.queuing_taken != 0;
    });
    expect(place_, "queue pair", std::memcmp(&taken, &request, sizeof(request)), 0);
    spec::QueuingStructureEntry entry;
    memory_.read(structures, &entry, sizeof(entry));
    expect(place_, "entry", entry.queue_pair_number(), request.queue_pair_number());
  }

  void begin_ring(uint32_t function) {
    const auto write_64 = [&](uint32_t offset, uint64_t data) {
      expect(place_, "low half", write(page(function) + offset, static_cast<uint32_t>(data)), okay);
      expect(place_, "high half", write(page(function) + offset + 4, static_cast<uint32_t>(data >> 32)),
             okay);
      expect(place_, "both", read_64(page(function) + offset), data);
    };
    expect(place_, "unaligned", write(page(function) + function_page::kick_record_address, 64), slave_error);
    write_64(function_page::kick_record_address, KickRecordRings::ring(function));
    write_64(function_page::kick_record_head_address, KickRecordRings::head(function));
    function_page::KickRecordControl control;
    control.set_enable(1);
    control.set_entries_log2(KickRecordRings::entries_log2);
    expect(place_, "ring", write(page(function) + function_page::kick_record_control, control.bits), okay);
    expect(place_, "ring", read(page(function) + function_page::kick_record_control), control.bits);
    rings_.begin(function);
  }

  // The ring of function 1 cannot be reached any more: one event, and commands go on without records.
  void lose_ring(uint32_t number) {
    memory_.set_reachable(KickRecordRings::ring(1), false);
    send(vcbs_each, number);
    wait_for_all();
    steps(patience);
    expect(place_, "events of DMA", faults_, 1);
    expect(place_, "faults", read_64(page(1) + function_page::dma_faults), 1);
    const function_page::KickRecordControl control{read(page(1) + function_page::kick_record_control)};
    expect(place_, "records of the function", control.enable(), 0);
    memory_.set_reachable(KickRecordRings::ring(1), true);
    begin_ring(1);
  }

  // A command that is started and not finished holds a credit of each kind of its lane.
  void hold(uint32_t number) {
    expect_credits(0);
    is_held_ = true;
    send(0, number);
    steps(100);
    expect_credits(1);
    is_held_ = false;
    wait();
    steps(100);
    expect_credits(0);
  }

  // Function 0 is reset while the stream is held, with commands of both functions in it and half written. It
  // is not over before its command has ended; nothing of the other is lost, and management goes on.
  void reset_function(uint32_t number) {
    rings_.read();
    rings_.forget(); // The one whose ring was lost.
    is_held_ = true;
    send(0, number);
    send(vcbs_each, number + 1);
    for (const uint32_t vcb : {1u, vcbs_each + 1})
      write_burst(vcb * vcb_stride_, command(number, 0).data(), 8, 8);
    steps(patience);
    rings_.read();
    manage(1);
    function_page::Reset reset;
    reset.set_reset(1);
    expect(place_, "reset", write(page(0) + function_page::reset, reset.bits), okay);
    steps(patience);
    expect(place_, "ring", read(page(0) + function_page::kick_record_control), 0);
    expect_resetting(0, 1);
    expect_resetting(1, 0);
    is_held_ = false;
    while (expected_.size() > 1)
      wait();
    wait();
    steps(patience);
    expect_resetting(0, 0);
    rings_.read();
    expect(place_, "commands without a record of their end", rings_.untold(), 1);
    rings_.forget();
    spec::control::InspectSelect select;
    select.set_virtual_collect_buffer(1);
    expect(place_, "half written, of the function",
           inspected(select).state() == spec::VirtualCollectBufferState::free, 1);
    select.set_virtual_collect_buffer(vcbs_each + 1);
    expect(place_, "half written, of the other",
           inspected(select).state() == spec::VirtualCollectBufferState::collecting, 1);
  }

  void expect_resetting(uint32_t function, uint32_t is_resetting) {
    const function_page::Status status{read(page(function) + function_page::status)};
    expect(place_, "reset in progress", status.reset_in_progress(), is_resetting);
  }

  // A command through the management page, by DWORDs, backwards.
  void manage(uint32_t function) {
    const function_page::ManagementLock lock{read(page(function) + function_page::management_lock)};
    expect(place_, "lock", lock.granted(), 1);
    expect(place_, "PCB", lock.physical_collect_buffer(), PHYSICAL_COLLECT_BUFFERS);
    Bytes bytes = command(7, 24);
    spec::CommandHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.set_queue_pair_number(0);
    std::memcpy(bytes.data(), &header, sizeof(header));
    for (size_t at = bytes.size(); at != 0;) {
      at -= 4;
      uint32_t data = 0;
      std::memcpy(&data, bytes.data() + at, sizeof(data));
      expect(place_, "management page",
             write(page(function) + function_page::management_page + static_cast<uint32_t>(at), data), okay);
    }
    steps(100);
    expect(place_, "bytes for management", management_.size(), bytes.size());
    expect(place_, "what they are", std::memcmp(management_.data(), bytes.data(), bytes.size()), 0);
  }

  void take_management_beat() {
    const uint64_t keep = rtl_.management_tkeep;
    for (uint32_t lane = 0; lane < BEAT_BYTES; ++lane)
      if (keep >> lane & 1)
        management_.push_back(reinterpret_cast<const uint8_t*>(&rtl_.management_tdata)[lane]);
  }

  void expect_credits(uint32_t held) {
    uint32_t execution = 0;
    uint32_t completion = 0;
    for (uint32_t number = 0; number < TRANSMIT_VIRTUAL_LANES; ++number) {
      const uint32_t address =
          control_ + spec::control::lane_state + spec::control::lane_state_stride * number;
      const spec::control::LaneState lane{read(address)};
      expect(place_, "commands on a list", lane.commands(), 0);
      expect(place_, "shared credits of a lane",
             lane.shared_execution_credits() + lane.shared_completion_credits(), 0);
      execution += lane.execution_credits();
      completion += lane.completion_credits();
    }
    expect(place_, "execution credits", execution,
           TRANSMIT_VIRTUAL_LANES * spec::execution_credits_per_lane - held);
    expect(place_, "completion credits", completion,
           TRANSMIT_VIRTUAL_LANES * spec::completion_credits_per_lane - held);
    expect(place_, "shared execution credits", read(control_ + spec::control::shared_execution_credits),
           spec::shared_execution_credits);
    expect(place_, "shared completion credits", read(control_ + spec::control::shared_completion_credits),
           spec::shared_completion_credits);
  }

  // Header and payload, in whole segments.
  Bytes command(uint32_t number, uint32_t length) {
    Bytes bytes(spec::CommandHeader::bytes + (length + 7) / 8 * 8);
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>(random_.bits());
    spec::CommandHeader header;
    header.set_queue_pair_number(random_.below(QUEUE_PAIRS));
    header.set_quality_of_service_level(
        static_cast<spec::QualityOfServiceLevel>(rtl_.queue_pair_quality_of_service_level));
    header.set_send_queue_sequence_number(static_cast<uint16_t>(number));
    header.set_length(length);
    header.set_version(spec::command_version);
    header.set_opcode(spec::Opcode::send);
    header.set_immediate_data(static_cast<uint32_t>(random_.bits()));
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes;
  }

  // One burst, or DWORDs and segments in any order.
  void write_command(uint32_t vcb, const Bytes& bytes) {
    if (random_.once(2)) {
      write_burst(vcb * vcb_stride_, bytes.data(), bytes.size(), BEAT_BYTES);
      return;
    }
    const uint32_t page = vcb * vcb_stride_;
    std::vector<uint32_t> places;
    for (uint32_t at = 0; at < bytes.size(); at += 8)
      places.push_back(at);
    for (size_t left = places.size(); left > 1; --left)
      std::swap(places[left - 1], places[random_.below(static_cast<uint32_t>(left))]);
    for (const uint32_t at : places) {
      if (random_.once(2)) {
        write_burst(page + at, bytes.data() + at, 8, 8);
      } else {
        write_burst(page + at + 4, bytes.data() + at + 4, 4, 4);
        write_burst(page + at, bytes.data() + at, 4, 4);
      }
    }
  }

  void wait() {
    const size_t before = expected_.size();
    for (unsigned clock = 0; clock < patience; ++clock) {
      step();
      if (expected_.size() < before)
        return;
    }
    differ(place_, "commands not started", before, 0);
  }

  void take_beat() {
    if (command_.empty() && last_write_ != 0)
      most_latency_ = std::max(most_latency_, place_.clock - last_write_);
    if (command_.empty())
      rtl_.record_begin = rtl_.now;
    ++beats_;
    const uint64_t keep = rtl_.command_tkeep;
    for (uint32_t lane = 0; lane < BEAT_BYTES; ++lane)
      if (keep >> lane & 1)
        command_.push_back(reinterpret_cast<const uint8_t*>(&rtl_.command_tdata)[lane]);
  }

  // The command is compared and ends at once: PCB and credits go back.
  void finish(const spec::KickUnit& unit) {
    const auto sent = expected_.find(static_cast<uint16_t>(unit.send_queue_sequence_number()));
    expect(place_, "a command that was written", sent != expected_.end(), 1);
    expect(place_, "bytes of a command", command_.size(), sent->second.size());
    for (size_t at = 0; at < command_.size(); ++at)
      expect(place_, "a byte of a command", command_[at], sent->second[at]);
    expected_.erase(sent);
    command_.clear();
    last_lane_ = unit.transmit_virtual_lane();
    rtl_.release_command = 1;
    rtl_.release_command_physical_collect_buffer = static_cast<uint8_t>(unit.physical_collect_buffer());
    spec::FinishUnit ended;
    ended.set_physical_collect_buffer(unit.physical_collect_buffer());
    ended.set_transmit_virtual_lane(unit.transmit_virtual_lane());
    ended.set_underlying_function(unit.underlying_function());
    ended.set_quality_of_service_level(unit.quality_of_service_level());
    ended.set_execution_credit_shared(unit.execution_credit_shared());
    ended.set_completion_credit_shared(unit.completion_credit_shared());
    ended.set_execution_credit_returned(1);
    ended.set_completion_credit_returned(1);
    ended.set_finished(1);
    ended.set_queue_pair_number(unit.queue_pair_number());
    std::memcpy(&rtl_.finish_unit, &ended, sizeof(ended));
    rtl_.finish = 1;
    expect(place_, "the record before", rtl_.record, 0);
    rtl_.record = 1;
    rtl_.record_type = static_cast<uint8_t>(spec::KickRecordType::sent);
    rtl_.record_opcode = static_cast<uint8_t>(spec::Opcode::send);
    std::memcpy(&rtl_.record_unit, &unit, sizeof(unit));
  }

  Vhca_front rtl_;
  Random random_;
  Place place_;
  HostMemory memory_;
  KickRecordRings rings_{memory_, place_};
  HostMemorySlave<Vhca_front> slave_;
  uint32_t control_ = 0;
  uint32_t functions_ = 0;
  uint32_t function_stride_ = 0;
  uint32_t vcb_stride_ = 0;
  std::map<uint16_t, Bytes> expected_; // By sequence number.
  Bytes command_;                      // That comes out of the stream.
  Bytes management_;                   // Likewise.
  uint64_t last_write_ = 0;
  uint64_t most_latency_ = 0;
  uint64_t beats_ = 0;
  uint32_t refusals_ = 0;
  uint32_t faults_ = 0;
  spec::EventUnit last_fault_;
  uint32_t last_lane_ = 0;
  bool is_held_ = false; // The stream.
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  const uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  const uint32_t commands = count > 2 ? static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)) : 200;
  fpga_verbs::bench::Bench bench(seed);
  const fpga_verbs::bench::Coverage coverage;
  return bench.run(commands);
}
