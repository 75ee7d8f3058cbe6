#pragma once

#include "hca_front_bench.h"
#include "spec/enums.h"
#include "spec/registers.h"

#include <cstdint>

namespace fpga_verbs::bench {

// The mapping table of lanes in host memory. There are four lanes: initially each function has one, and two
// are shared. Function 0 has no ring of kick records, so its commands cause no other access to host memory
// than reads of the table.
class LaneMapCases {
public:
  LaneMapCases(HcaFrontBench& bench, uint32_t number) : bench_(bench), number_(number) {}

  void run() {
    choose();
    lose();
    refuse();
    choose_for_others();
    for (uint32_t delay = 0; delay < delays; ++delay) {
      write_entry_meanwhile(delay);
      move_meanwhile(delay);
      invalidate_meanwhile(delay);
    }
    for (uint32_t round = 0; round < 2 * delays; ++round)
      reset_meanwhile(round);
  }

private:
  static constexpr uint64_t table = 0x5'ffff'fff8; // Crosses a page boundary, and 2^32.
  static constexpr uint64_t other_table = 0x14'0000'0010;
  static constexpr uint32_t delays = 40; // More than a fetch takes.
  static constexpr uint32_t latency = 12;
  static constexpr uint32_t address_register = spec::control::lane_map_address;

  // A command uses the entry that the host has written before the invalidation, and not an entry that was
  // never invalidated.
  void choose() {
    expect(place(), "address to begin with", read_64(address_register), 0);
    expect(place(), "not aligned", write_64(address_register, table + 4), slave_error);
    expect(place(), "address", read_64(address_register), 0);
    expect(place(), "aligned", write_64(address_register, table), okay);
    expect(place(), "address", read_64(address_register), table);
    expect(place(), "what is to be invalidated is not read",
           bench_.read(control() + spec::control::lane_map_invalidate), 0);
    const uint64_t before = bench_.slave().bursts();
    expect(place(), "first lane", lane_of_command(), 0);
    write_entry(0, 1 << 3);
    expect(place(), "lane of an entry that is valid", lane_of_command(), 0);
    invalidate(~1u);
    expect(place(), "lane, the others being invalidated", lane_of_command(), 0);
    expect(place(), "accesses", bench_.slave().bursts(), before);
    invalidate(1);
    expect(place(), "lane of the table", lane_of_command(), 3);
    expect(place(), "its entry", lanes_of(0), 1 << 3);
    write_entry(0, 1 << 1);
    expect(place(), "lane of the table before", lane_of_command(), 3);
    expect(place(), "accesses", bench_.slave().bursts(), before + 1);
    invalidate(1);
    expect(place(), "lane of the new table", lane_of_command(), 1);
    expect(place(), "its entry", lanes_of(0), 1 << 1);
    expect(place(), "accesses", bench_.slave().bursts(), before + 2);
  }

  // The table is unreachable: the control function gets one event, and the entry stays.
  void lose() {
    const uint64_t counted = bench_.read_64(bench_.page(0) + function_page::dma_faults);
    const uint32_t events = bench_.faults();
    write_entry(0, 1 << 3);
    bench_.memory().set_reachable(table, false);
    invalidate(1);
    expect(place(), "lane as before", lane_of_command(), 1);
    expect(place(), "events", bench_.faults(), events + 1);
    expect(place(), "where", bench_.last_fault().detail(), table);
    expect(place(), "whose", bench_.last_fault().underlying_function(), 0);
    expect(place(), "faults", bench_.read_64(bench_.page(0) + function_page::dma_faults), counted + 1);
    bench_.memory().set_reachable(table, true);
    expect(place(), "lane as before, without another access", lane_of_command(), 1);
    expect(place(), "its entry", lanes_of(0), 1 << 1);
  }

  // An entry that would leave its level without a lane changes nothing, nor does one with nonexistent lanes.
  void refuse() {
    const uint64_t shared = read_64(spec::control::shared_transmit_virtual_lanes);
    expect(place(), "no shared lanes", write_64(spec::control::shared_transmit_virtual_lanes, 0), okay);
    for (const uint64_t lanes : {uint64_t{0}, ~uint64_t{0} << TRANSMIT_VIRTUAL_LANES}) {
      write_entry(0, lanes);
      invalidate(1);
      expect(place(), "lane as before", lane_of_command(), 1);
      expect(place(), "its entry", lanes_of(0), 1 << 1);
    }
    expect(place(), "shared lanes", write_64(spec::control::shared_transmit_virtual_lanes, shared), okay);
    invalidate(1);
    expect(place(), "a shared lane", shared >> lane_of_command() & 1, 1);
    expect(place(), "its entry", lanes_of(0), 0);
  }

  // Of another function, and of the other level.
  void choose_for_others() {
    for (uint32_t entry = 0; entry < 4; ++entry)
      write_entry(entry, 1 << (3 - entry));
    invalidate(0xf);
    expect(place(), "function 1, low", lane_of_command(1), 1);
    bench_.rtl().queue_pair_quality_of_service_level =
        static_cast<uint8_t>(spec::QualityOfServiceLevel::high);
    expect(place(), "function 1, high", lane_of_command(1), 0);
    expect(place(), "function 0, high", lane_of_command(), 2);
    bench_.rtl().queue_pair_quality_of_service_level = static_cast<uint8_t>(spec::QualityOfServiceLevel::low);
    expect(place(), "function 0, low", lane_of_command(), 3);
  }

  // A register is written in any clock of an entry's read: both take effect.
  void write_entry_meanwhile(uint32_t delay) {
    const uint64_t lanes = 1 << delay % 4;
    const uint64_t other_lanes = 1 << (delay / 4 % 4);
    begin_fetch(lanes, delay);
    expect(place(), "another entry",
           write_64(spec::control::function_transmit_virtual_lanes + 16, other_lanes), okay);
    expect(place(), "lane", wait_for_lane(), delay % 4);
    expect(place(), "entry that was read", lanes_of(0), lanes);
    expect(place(), "entry that was written", lanes_of(2), other_lanes);
  }

  // The table moves to another address and back.
  void move_meanwhile(uint32_t delay) {
    begin_fetch(1 << 2, delay);
    bench_.memory().write(other_table, &delay, sizeof(delay));
    expect(place(), "elsewhere", write_64(address_register, other_table), okay);
    expect(place(), "address", read_64(address_register), other_table);
    wait_for_lane();
    expect(place(), "back", write_64(address_register, table), okay);
    expect(place(), "address", read_64(address_register), table);
  }

  // The host writes and invalidates an entry while the device reads it: the next command uses the new lanes.
  void invalidate_meanwhile(uint32_t delay) {
    begin_fetch(1 << 2, delay);
    write_entry(0, 1 << 3);
    invalidate(1);
    wait_for_lane();
    expect(place(), "lane of the next command", lane_of_command(), 3);
    expect(place(), "its entry", lanes_of(0), 1 << 3);
  }

  // Resets the device during a read: the reset waits for the answer, and no access follows it. In every other
  // round no command waits for the entry.
  void reset_meanwhile(uint32_t round) {
    expect(place(), "address", write_64(address_register, table), okay);
    if (round % 2 == 0)
      begin_fetch(1 << 3, round / 2);
    else
      invalidate(1);
    const bool is_quiet = bench_.reset();
    expect(place(), "no access under way at the end of the reset", is_quiet, 1);
    const uint64_t before = bench_.slave().bursts();
    bench_.enable();
    expect(place(), "address after a reset", read_64(address_register), 0);
    expect(place(), "entry after a reset", lanes_of(0), 1);
    expect(place(), "lane after a reset", lane_of_command(), 0);
    expect(place(), "accesses after a reset", bench_.slave().bursts(), before);
  }

  // Sends a command that needs an entry, this many clocks after its last write.
  void begin_fetch(uint64_t lanes, uint32_t delay) {
    write_entry(0, lanes);
    invalidate(1);
    bench_.slave().set_latency(latency);
    bench_.send(0, number_++);
    bench_.steps(delay);
  }

  uint32_t lane_of_command(uint32_t function = 0) {
    bench_.send(function * vcbs_each, number_++);
    return wait_for_lane();
  }
  // Waits until the command has left its lane.
  uint32_t wait_for_lane() {
    bench_.wait_for_all();
    bench_.steps(20);
    return bench_.stream().last_lane();
  }

  void write_entry(uint32_t entry, uint64_t lanes) {
    bench_.memory().write(table + 8 * entry, &lanes, sizeof(lanes));
  }
  void invalidate(uint32_t entries) {
    expect(place(), "invalidate", bench_.write(control() + spec::control::lane_map_invalidate, entries),
           okay);
  }
  uint64_t lanes_of(uint32_t entry) {
    return read_64(spec::control::function_transmit_virtual_lanes + 8 * entry);
  }

  uint64_t read_64(uint32_t offset) { return bench_.read_64(control() + offset); }
  uint32_t write_64(uint32_t offset, uint64_t data) { return bench_.write_64(control() + offset, data); }
  uint32_t control() const { return bench_.control(); }
  const Place& place() const { return bench_.place(); }

  HcaFrontBench& bench_;
  uint32_t number_; // Of the next command.
};

} // namespace fpga_verbs::bench
