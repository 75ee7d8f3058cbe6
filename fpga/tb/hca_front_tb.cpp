// hca_front as a host sees it: the identity page, registers, commands written by AXI in pieces and in any
// order, and taken from the stream byte by byte as they were written. Arguments: seed, commands.
//
// The shape (BEAT_BYTES and the other parameters) is given to Verilator and, by the same names, to this file.
#include "Vhca_front.h"
#include "bench.h"
#include "spec/commands.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <verilated.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <type_traits>
#include <vector>

namespace fpga_verbs::bench {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t okay = 0; // Responses of AXI.
constexpr uint32_t slave_error = 2;
constexpr uint32_t vcbs_each = VIRTUAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;
constexpr unsigned patience = 1000; // Clocks.

class Bench {
public:
  explicit Bench(uint64_t seed) : random_(seed), place_{.seed = seed} {
    rtl_.notice_credit = 1;
    rtl_.pinned = 1;
    rtl_.queue_pair_found = 1;
    rtl_.queue_pair_quality_of_service_level = static_cast<uint8_t>(spec::QualityOfServiceLevel::low);
    rtl_.collect_bready = 1;
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    for (unsigned clock = 0; clock < QUEUE_PAIRS + 4; ++clock)
      step();
  }

  int run(uint32_t commands) {
    find_regions();
    write_before_enable();
    divide();
    refuse_and_cancel();
    close_and_open();
    for (uint32_t number = 0; number < commands; ++number) {
      send(random_.below(VIRTUAL_COLLECT_BUFFERS), number);
      while (expected_.size() > 1)
        wait();
    }
    while (!expected_.empty())
      wait();
    uint64_t kicks = 0;
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      kicks += read_64(page(function) + spec::underlying_function::kicks);
    expect(place_, "kicks counted", kicks, commands);
    expect(place_, "clock", read_64(page(0) + spec::underlying_function::clock) < place_.clock, 1);
    std::printf(
        "%u commands, %llu beats of the stream, most clocks from the last write to the first beat %llu\n",
        commands, static_cast<unsigned long long>(beats_), static_cast<unsigned long long>(most_latency_));
    return 0;
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
    spec::control::Control control;
    control.set_enable(1);
    expect(place_, "enable", write(control_ + spec::control::control, control.bits), okay);
    const spec::underlying_function::Status status{read(page(1) + spec::underlying_function::status)};
    expect(place_, "enabled", status.enabled(), 1);
    expect(place_, "function", status.underlying_function(), 1);
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
    expect(place_, "dividers", read(page(0) + spec::underlying_function::virtual_collect_buffer_sub_bar),
           sub_bar.bits);
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
    expect(place_, "refusals counted", read_64(page(0) + spec::underlying_function::commands_refused), 1);
    spec::control::CancelVirtualCollectBuffer cancel;
    expect(place_, "cancel", write(control_ + spec::control::cancel_virtual_collect_buffer, cancel.bits),
           okay);
    cancel.set_virtual_collect_buffer(VIRTUAL_COLLECT_BUFFERS);
    expect(place_, "no such VCB", write(control_ + spec::control::cancel_virtual_collect_buffer, cancel.bits),
           slave_error);
  }

  void close_and_open() {
    const uint64_t before = read_64(page(0) + spec::underlying_function::writes_dropped);
    spec::control::CloseVirtualCollectBuffer close;
    close.set_virtual_collect_buffer(vcbs_each - 1);
    expect(place_, "close", write(control_ + spec::control::close_virtual_collect_buffer, close.bits), okay);
    write_command(vcbs_each - 1, command(1, 0));
    for (unsigned clock = 0; clock < 8; ++clock)
      step();
    expect(place_, "writes dropped", read_64(page(0) + spec::underlying_function::writes_dropped) > before,
           1);
    spec::control::OpenVirtualCollectBuffer open;
    open.set_virtual_collect_buffer(vcbs_each - 1);
    expect(place_, "open", write(control_ + spec::control::open_virtual_collect_buffer, open.bits), okay);
  }

  void send(uint32_t vcb, uint32_t number) {
    const uint32_t length = random_.below(spec::command_payload_bytes + 1);
    const Bytes bytes = command(number, length);
    expected_[static_cast<uint16_t>(number)] = {bytes.begin(),
                                                bytes.begin() + spec::CommandHeader::bytes + length};
    write_command(vcb, bytes);
    last_write_ = place_.clock;
  }

  // Header and payload, in whole segments.
  Bytes command(uint32_t number, uint32_t length) {
    Bytes bytes(spec::CommandHeader::bytes + (length + 7) / 8 * 8);
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>(random_.bits());
    spec::CommandHeader header;
    header.set_queue_pair_number(random_.below(QUEUE_PAIRS));
    header.set_send_queue_sequence_number(static_cast<uint16_t>(number));
    header.set_length(length);
    header.set_version(spec::command_version);
    header.set_immediate_data(static_cast<uint32_t>(random_.bits()));
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes;
  }

  // One burst, or DWORDs and segments in any order.
  void write_command(uint32_t vcb, const Bytes& bytes) {
    if (random_.once(2)) {
      write_burst(vcb, 0, bytes.data(), bytes.size(), BEAT_BYTES);
      return;
    }
    std::vector<uint32_t> places;
    for (uint32_t at = 0; at < bytes.size(); at += 8)
      places.push_back(at);
    for (size_t left = places.size(); left > 1; --left)
      std::swap(places[left - 1], places[random_.below(static_cast<uint32_t>(left))]);
    for (const uint32_t at : places) {
      if (random_.once(2)) {
        write_burst(vcb, at, bytes.data() + at, 8, 8);
      } else {
        write_burst(vcb, at + 4, bytes.data() + at + 4, 4, 4);
        write_burst(vcb, at, bytes.data() + at, 4, 4);
      }
    }
  }

  void write_burst(uint32_t vcb, uint32_t offset, const uint8_t* data, size_t bytes, uint32_t beat) {
    rtl_.collect_awaddr = vcb * vcb_stride_ + offset;
    rtl_.collect_awlen = static_cast<uint8_t>((bytes + beat - 1) / beat - 1);
    rtl_.collect_awsize = static_cast<uint8_t>(std::countr_zero(beat));
    rtl_.collect_awuser = 0;
    rtl_.collect_awvalid = 1;
    until("awready", [&] { return rtl_.collect_awready != 0; });
    rtl_.collect_awvalid = 0;
    for (size_t at = 0; at < bytes; at += beat) {
      const size_t here = std::min<size_t>(beat, bytes - at);
      const size_t lane = (offset + at) % BEAT_BYTES;
      std::memcpy(reinterpret_cast<uint8_t*>(&rtl_.collect_wdata) + lane, data + at, here);
      const uint64_t strobes = here == 64 ? ~uint64_t{0} : (uint64_t{1} << here) - 1;
      rtl_.collect_wstrb =
          static_cast<std::remove_reference_t<decltype(rtl_.collect_wstrb)>>(strobes << lane);
      rtl_.collect_wlast = at + beat >= bytes;
      rtl_.collect_wvalid = 1;
      until("wready", [&] { return rtl_.collect_wready != 0; });
      rtl_.collect_wvalid = 0;
    }
  }

  uint32_t page(uint32_t function) const { return functions_ + function * function_stride_; }

  uint32_t read(uint32_t address) {
    rtl_.register_araddr = address;
    rtl_.register_arvalid = 1;
    until("arready", [&] { return rtl_.register_arready != 0; });
    rtl_.register_arvalid = 0;
    rtl_.register_rready = 1;
    uint32_t data = 0;
    until("rvalid", [&] {
      data = rtl_.register_rdata;
      return rtl_.register_rvalid != 0;
    });
    rtl_.register_rready = 0;
    return data;
  }

  uint64_t read_64(uint32_t address) {
    const uint64_t low = read(address);
    return low | uint64_t{read(address + 4)} << 32;
  }

  uint32_t write(uint32_t address, uint32_t data, uint8_t strobes = 15) {
    rtl_.register_awaddr = address;
    rtl_.register_wdata = data;
    rtl_.register_wstrb = strobes;
    rtl_.register_awvalid = rtl_.register_wvalid = 1;
    until("register_awready", [&] { return rtl_.register_awready && rtl_.register_wready; });
    rtl_.register_awvalid = rtl_.register_wvalid = 0;
    rtl_.register_bready = 1;
    uint32_t response = 0;
    until("bvalid", [&] {
      response = rtl_.register_bresp;
      return rtl_.register_bvalid != 0;
    });
    rtl_.register_bready = 0;
    return response;
  }

  // Clocks until it is so, that one too.
  template <class Condition> void until(const char* what, Condition condition) {
    for (unsigned clock = 0; clock < patience; ++clock) {
      rtl_.clock = 0;
      rtl_.eval();
      const bool is_so = condition();
      step();
      if (is_so)
        return;
    }
    differ(place_, what, 0, 1);
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

  void step() {
    rtl_.command_tready = random_.percent(70);
    rtl_.clock = 0;
    rtl_.eval();
    refusals_ += rtl_.refused;
    const bool was_taken = rtl_.finish && rtl_.finish_ready;
    const bool was_released = rtl_.release_command && rtl_.release_command_ready;
    const bool comes = rtl_.command_tvalid && rtl_.command_tready;
    if (comes)
      take_beat();
    const bool ends = comes && rtl_.command_tlast;
    spec::KickUnit unit;
    std::memcpy(&unit, &rtl_.command_tuser, sizeof(unit));
    rtl_.clock = 1;
    rtl_.eval();
    ++place_.clock;
    if (was_taken)
      rtl_.finish = 0;
    if (was_released)
      rtl_.release_command = 0;
    if (ends)
      finish(unit);
  }

  void take_beat() {
    if (command_.empty() && last_write_ != 0)
      most_latency_ = std::max(most_latency_, place_.clock - last_write_);
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
  }

  Vhca_front rtl_;
  Random random_;
  Place place_;
  uint32_t control_ = 0;
  uint32_t functions_ = 0;
  uint32_t function_stride_ = 0;
  uint32_t vcb_stride_ = 0;
  std::map<uint16_t, Bytes> expected_; // By sequence number.
  Bytes command_;                      // That comes out of the stream.
  uint64_t last_write_ = 0;
  uint64_t most_latency_ = 0;
  uint64_t beats_ = 0;
  uint32_t refusals_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  const uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  const uint32_t commands = count > 2 ? static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)) : 200;
  return fpga_verbs::bench::Bench(seed).run(commands);
}
