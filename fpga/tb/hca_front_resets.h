#pragma once

#include "hca_front_bench.h"
#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/registers.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace fpga_verbs::bench {

// Resets of the device and of a function during all kinds of activity.
class ResetCases {
public:
  explicit ResetCases(HcaFrontBench& bench) : bench_(bench) {}

  // A command half written, one in the stream, records in flight, a burst begun.
  void reset_device(uint32_t number) {
    bench_.write_half(0, number);
    bench_.send(vcbs_each, number);
    bench_.send(vcbs_each, number + 1);
    bench_.begin_burst(bench_.vcb(1), 2, 8);
    const uint32_t address = bench_.control() + spec::control::control;
    spec::control::Control control;
    control.set_reset(1);
    control.set_enable(1);
    expect(place(), "reset", bench_.write(address, control.bits), okay);
    bench_.steps(clock_limit);
    control.bits = bench_.read(address);
    expect(place(), "reset waits for the burst", control.reset(), 1);
    expect_resetting(1, 1);
    for (uint32_t beat = 0; beat < 2; ++beat)
      bench_.send_beat(bench_.vcb(1) + 8 * beat, std::array<uint8_t, 8>{}.data(), 8, beat == 1);
    bench_.until("the end of the reset", [&] { return bench_.rtl().device_reset != 0; });
    expect(place(), "after the reset", bench_.read(address), 0);
    expect_forgotten();
    begin_again();
    reset_while_writing(number);
    spec::control::InspectSelect select;
    expect(place(), "a command half written before",
           bench_.inspect(select).state() == spec::VirtualCollectBufferState::free, 1);
  }

  // Function 0 is reset while the stream is held, with commands of both functions in it and half-written
  // ones. The reset ends only after the function's command has ended. No command of the other function is
  // lost, and management continues.
  void reset_function(uint32_t number) {
    bench_.rings().read();
    bench_.rings().forget(); // The function whose ring became unreachable.
    bench_.stream().hold(true);
    bench_.send(0, number);
    bench_.send(vcbs_each, number + 1);
    for (const uint32_t vcb : {1u, vcbs_each + 1})
      bench_.write_half(vcb, number);
    bench_.steps(clock_limit);
    bench_.rings().read();
    manage(1);
    expect_lock(0);
    function_page::Reset reset;
    reset.set_reset(1);
    expect(place(), "reset", bench_.write(bench_.page(0) + function_page::reset, reset.bits), okay);
    bench_.steps(clock_limit);
    expect(place(), "ring", bench_.read(bench_.page(0) + function_page::kick_record_control), 0);
    expect_resetting(0, 1);
    expect_resetting(1, 0);
    bench_.stream().hold(false);
    bench_.wait_for_all();
    bench_.steps(clock_limit);
    expect_resetting(0, 0);
    expect_lock(1); // The one PCB for management pages belonged to the function that was reset.
    bench_.rings().read();
    expect(place(), "commands without a record of their end", bench_.rings().untold(), 1);
    bench_.rings().forget();
    spec::control::InspectSelect select;
    select.set_virtual_collect_buffer(1);
    expect(place(), "half written, of the function",
           bench_.inspect(select).state() == spec::VirtualCollectBufferState::free, 1);
    select.set_virtual_collect_buffer(vcbs_each + 1);
    expect(place(), "half written, of the other",
           bench_.inspect(select).state() == spec::VirtualCollectBufferState::collecting, 1);
  }

  // A function is reset while one of its records is on the way to a slow host: the reset waits for that
  // write. Afterwards nothing is written to the ring, because its memory may have another use by then.
  void reset_function_while_writing(uint32_t number) {
    bench_.begin_ring(0);
    bench_.slave().set_speed(2);
    bench_.send(0, number);
    bench_.until("an access to host memory", [&] { return !bench_.slave().is_quiet(); });
    function_page::Reset reset;
    reset.set_reset(1);
    expect(place(), "reset", bench_.write(bench_.page(0) + function_page::reset, reset.bits), okay);
    function_page::Status status;
    do
      status.bits = bench_.read(bench_.page(0) + function_page::status);
    while (status.reset_in_progress());
    expect(place(), "ring after the reset", bench_.read(bench_.page(0) + function_page::kick_record_control),
           0);
    bench_.slave().set_speed(60);
    bench_.wait_for_all();
    bench_.steps(clock_limit);
    bench_.rings().forget();
    const uint64_t bursts = bench_.slave().bursts();
    bench_.send(0, number + 1);
    bench_.wait_for_all();
    bench_.steps(clock_limit);
    expect(place(), "accesses for a function without a ring", bench_.slave().bursts(), bursts);
    bench_.rings().forget();
  }

  // Function 1, which holds the lock, is reset while a command of its management page is in flight. Only the
  // PCB shows that command, so the reset waits until the PCB is released.
  void reset_function_while_managing() {
    bench_.rtl().management_tready = 0;
    const size_t before = bench_.management().size();
    const size_t bytes = write_management(1).size();
    bench_.steps(clock_limit);
    function_page::Reset reset;
    reset.set_reset(1);
    expect(place(), "reset", bench_.write(bench_.page(1) + function_page::reset, reset.bits), okay);
    bench_.steps(clock_limit);
    expect_resetting(1, 1);
    bench_.rtl().management_tready = 1;
    bench_.steps(clock_limit);
    expect(place(), "bytes for management", bench_.management().size() - before, bytes);
    expect_resetting(1, 0);
  }

  // Disabling the device cancels half-written commands, up to the last VCB.
  void disable_device(uint32_t number) {
    constexpr uint32_t last = VIRTUAL_COLLECT_BUFFERS - 1;
    bench_.write_half(last, number);
    bench_.steps(clock_limit);
    expect(place(), "disable", bench_.write(bench_.control() + spec::control::control, 0), okay);
    bench_.enable();
    spec::control::InspectSelect select;
    select.set_virtual_collect_buffer(last);
    expect(place(), "half written before the device was disabled",
           bench_.inspect(select).state() == spec::VirtualCollectBufferState::free, 1);
  }

private:
  // All settings have their initial values, and the device no longer accesses host memory.
  void expect_forgotten() {
    const uint64_t bursts = bench_.slave().bursts();
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function) {
      const uint32_t page = bench_.page(function);
      expect(place(), "kicks", bench_.read_64(page + function_page::kicks), 0);
      expect(place(), "records written", bench_.read_64(page + function_page::kick_records_written), 0);
      expect(place(), "ring", bench_.read(page + function_page::kick_record_control), 0);
      expect(place(), "place of the ring", bench_.read_64(page + function_page::kick_record_address), 0);
    }
    const spec::control::FunctionPhysicalCollectBuffers allotment{
        bench_.read(bench_.control() + spec::control::function_physical_collect_buffers)};
    expect(place(), "allotment", allotment.shared(), PHYSICAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS);
    bench_.forget();
    bench_.steps(QUEUE_PAIRS + clock_limit);
    expect(place(), "accesses after the reset", bench_.slave().bursts(), bursts);
  }

  // Records are on the way to a slow host: the reset waits for them.
  void reset_while_writing(uint32_t number) {
    bench_.slave().set_speed(5);
    bench_.send(vcbs_each, number);
    bench_.until("an access to host memory", [&] { return !bench_.slave().is_quiet(); });
    expect(place(), "host memory is left alone", bench_.reset(), 1);
    bench_.slave().set_speed(60);
    begin_again();
  }

  void begin_again() {
    bench_.enable();
    bench_.begin_rings();
  }

  void expect_resetting(uint32_t function, uint32_t is_resetting) {
    const function_page::Status status{bench_.read(bench_.page(function) + function_page::status)};
    expect(place(), "reset in progress", status.reset_in_progress(), is_resetting);
  }

  void expect_lock(uint32_t function) {
    const function_page::ManagementLock lock{
        bench_.read(bench_.page(function) + function_page::management_lock)};
    expect(place(), "lock", lock.granted(), 1);
  }

  // Sends a command through the management page.
  void manage(uint32_t function) {
    const Bytes bytes = write_management(function);
    bench_.steps(100);
    expect(place(), "bytes for management", bench_.management().size(), bytes.size());
    expect(place(), "what they are", std::memcmp(bench_.management().data(), bytes.data(), bytes.size()), 0);
  }

  // In DWORDs, last one first.
  Bytes write_management(uint32_t function) {
    const uint32_t page = bench_.page(function);
    const function_page::ManagementLock lock{bench_.read(page + function_page::management_lock)};
    expect(place(), "lock", lock.granted(), 1);
    expect(place(), "PCB", lock.physical_collect_buffer(), PHYSICAL_COLLECT_BUFFERS);
    Bytes bytes = bench_.command(7, 24);
    spec::CommandHeader header = HcaFrontBench::header_of(bytes);
    header.set_queue_pair_number(0);
    HcaFrontBench::set_header(bytes, header);
    for (size_t at = bytes.size(); at != 0;) {
      at -= 4;
      uint32_t data = 0;
      std::memcpy(&data, bytes.data() + at, sizeof(data));
      const uint32_t address = page + function_page::management_page + static_cast<uint32_t>(at);
      expect(place(), "management page", bench_.write(address, data), okay);
    }
    return bytes;
  }

  const Place& place() const { return bench_.place(); }

  HcaFrontBench& bench_;
};

} // namespace fpga_verbs::bench
