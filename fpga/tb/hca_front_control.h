#pragma once

#include "hca_front_bench.h"
#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <cstdint>

namespace fpga_verbs::bench {

// Registers by which the control function divides resources, cancels, closes and inspects, each with its
// effect.
class ControlCases {
public:
  explicit ControlCases(HcaFrontBench& bench) : bench_(bench) {}

  void write_before_enable() {
    bench_.write_command(0, bench_.command(1, 0));
    bench_.enable();
    const function_page::Status status{bench_.read(bench_.page(1) + function_page::status)};
    expect(place(), "enabled", status.enabled(), 1);
    expect(place(), "function", status.underlying_function(), 1);
  }

  void divide() {
    const uint32_t first = spec::control::function_physical_collect_buffers;
    spec::control::FunctionPhysicalCollectBuffers allotment{read(first)};
    expect(place(), "allotment to begin with", allotment.shared(),
           PHYSICAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS);
    allotment.set_low(PHYSICAL_COLLECT_BUFFERS);
    expect(place(), "too many PCBs", write(first, allotment.bits), slave_error);
    allotment.set_low(allotment.shared());
    allotment.set_shared(0);
    expect(place(), "PCBs of the low level", write(first, allotment.bits), okay);
    expect(place(), "allotment", read(first), allotment.bits);
    spec::control::FunctionVirtualCollectBufferSubBar sub_bar;
    sub_bar.set_low(vcbs_each);
    sub_bar.set_high(vcbs_each);
    expect(place(), "dividers", write(spec::control::function_virtual_collect_buffer_sub_bar, sub_bar.bits),
           okay);
    expect(place(), "dividers", bench_.read(bench_.page(0) + function_page::virtual_collect_buffer_sub_bar),
           sub_bar.bits);
    expect(place(), "part of a DWORD", bench_.write(bench_.control() + spec::control::control, 0, 3),
           slave_error);
    expect(place(), "a register that is not there", write(spec::control::bytes - 4, 0), slave_error);
  }

  // A command of an unknown version puts its VCB in the error state until it is cancelled.
  void refuse_and_cancel() {
    Bytes bytes = bench_.command(1, 0);
    spec::CommandHeader header = HcaFrontBench::header_of(bytes);
    header.set_version(spec::command_version + 1);
    HcaFrontBench::set_header(bytes, header);
    bench_.write_command(0, bytes);
    for (unsigned clock = 0; clock < clock_limit && bench_.refusals() == 0; ++clock)
      bench_.step();
    expect(place(), "refusals", bench_.refusals(), 1);
    expect(place(), "refusals counted", bench_.read_64(bench_.page(0) + function_page::commands_refused), 1);
    expect(place(), "cancel", cancel(0), okay);
    expect(place(), "no such VCB", cancel(VIRTUAL_COLLECT_BUFFERS), slave_error);
  }

  void close_and_open() {
    const uint32_t dropped = bench_.page(0) + function_page::writes_dropped;
    const uint64_t before = bench_.read_64(dropped);
    spec::control::CloseVirtualCollectBuffer close;
    close.set_virtual_collect_buffer(vcbs_each - 1);
    expect(place(), "close", write(spec::control::close_virtual_collect_buffer, close.bits), okay);
    bench_.write_command(vcbs_each - 1, bench_.command(1, 0));
    bench_.steps(8);
    expect(place(), "writes dropped", bench_.read_64(dropped) > before, 1);
    spec::control::OpenVirtualCollectBuffer open;
    open.set_virtual_collect_buffer(vcbs_each - 1);
    expect(place(), "open", write(spec::control::open_virtual_collect_buffer, open.bits), okay);
  }

  // Reads a VCB and its PCB through the inspect window, while the VCB collects and afterwards.
  void inspect() {
    const uint32_t vcb = VIRTUAL_COLLECT_BUFFERS - 1;
    for (const uint32_t each : {vcb - 1, vcb})
      bench_.write_half(each, 1);
    bench_.steps(8);
    spec::control::InspectSelect select;
    select.set_virtual_collect_buffer(vcb);
    const uint32_t buffer = bench_.inspect(select).physical_collect_buffer();
    expect(place(), "it collects",
           bench_.inspect(select).state() == spec::VirtualCollectBufferState::collecting, 1);
    select.set_physical_collect_buffer(buffer);
    expect(place(), "in its PCB", bench_.inspect(select).physical_collect_buffer(), buffer);
    const auto physical = [&] {
      return spec::control::InspectPhysicalCollectBuffer{
          read(spec::control::inspect_physical_collect_buffer)};
    };
    expect(place(), "the PCB collects", physical().state() == spec::PhysicalCollectBufferState::collecting,
           1);
    expect(place(), "for the VCB", physical().virtual_collect_buffer(), vcb);
    const uint64_t missing = ((uint64_t{1} << spec::segments) - 1) & ~uint64_t{0xfe};
    const uint32_t scoreboard = bench_.control() + spec::control::inspect_scoreboard;
    expect(place(), "scoreboard", bench_.read_64(scoreboard), missing);
    expect(place(), "mask", bench_.read_64(bench_.control() + spec::control::inspect_scoreboard_mask),
           missing);
    cancel(vcb);
    expect(place(), "cancelled", bench_.inspect(select).state() == spec::VirtualCollectBufferState::free, 1);
    expect(place(), "the PCB is free", physical().state() == spec::PhysicalCollectBufferState::free, 1);
    expect(place(), "no scoreboard", bench_.read_64(scoreboard), 0);
    cancel(vcb - 1);
  }

  // A started, unfinished command holds a credit of each kind of its lane.
  void hold_credits(uint32_t number) {
    expect_credits(0);
    bench_.stream().hold(true);
    bench_.send(0, number);
    bench_.steps(100);
    expect_credits(1);
    bench_.stream().hold(false);
    bench_.wait();
    bench_.steps(100);
    expect_credits(0);
  }

private:
  void expect_credits(uint32_t held) {
    uint32_t execution = 0;
    uint32_t completion = 0;
    for (uint32_t number = 0; number < TRANSMIT_VIRTUAL_LANES; ++number) {
      const spec::control::LaneState lane{
          read(spec::control::lane_state + spec::control::lane_state_stride * number)};
      expect(place(), "commands on a list", lane.commands(), 0);
      expect(place(), "shared credits of a lane",
             lane.shared_execution_credits() + lane.shared_completion_credits(), 0);
      execution += lane.execution_credits();
      completion += lane.completion_credits();
    }
    expect(place(), "execution credits", execution,
           TRANSMIT_VIRTUAL_LANES * spec::execution_credits_per_lane - held);
    expect(place(), "completion credits", completion,
           TRANSMIT_VIRTUAL_LANES * spec::completion_credits_per_lane - held);
    expect(place(), "shared execution credits", read(spec::control::shared_execution_credits),
           spec::shared_execution_credits);
    expect(place(), "shared completion credits", read(spec::control::shared_completion_credits),
           spec::shared_completion_credits);
  }

  // Returns the response.
  uint32_t cancel(uint32_t vcb) {
    spec::control::CancelVirtualCollectBuffer named;
    named.set_virtual_collect_buffer(vcb);
    return write(spec::control::cancel_virtual_collect_buffer, named.bits);
  }

  uint32_t read(uint32_t offset) { return bench_.read(bench_.control() + offset); }
  uint32_t write(uint32_t offset, uint32_t data) { return bench_.write(bench_.control() + offset, data); }
  const Place& place() const { return bench_.place(); }

  HcaFrontBench& bench_;
};

} // namespace fpga_verbs::bench
