#pragma once

#include "host_memory_bench.h"
#include "spec/enums.h"
#include "spec/queues.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace fpga_verbs::bench {

// Rings of kick records at their limits, without a model: the host can tell whether they are right.
class KickRecordCases {
public:
  explicit KickRecordCases(HostMemoryBench& bench) : bench_(bench) {}

  // More kicks than the host consumes: the RTL counts the records that it could not write, and later records
  // tell the number missing.
  void overflow() {
    start_ring(0);
    const uint64_t before = bench_.read(0, function_page::kick_records_written) +
                            bench_.read(0, function_page::kick_records_dropped);
    bench_.slave.set_speed(20);
    constexpr uint32_t kicks = 100;
    for (uint32_t number = 0; number < kicks; ++number)
      bench_.kick(bench_.kick_unit(0), 0, spec::Opcode::send, number);
    bench_.settle();
    const uint32_t written = bench_.read(0, function_page::kick_records_written);
    const uint32_t dropped = bench_.read(0, function_page::kick_records_dropped);
    expect(bench_.place, "kicks told or counted", uint64_t{written} + dropped, before + kicks);
    bench_.kick(bench_.kick_unit(0), 0, spec::Opcode::send, 0);
    bench_.settle();
    spec::KickRecord last;
    bench_.memory.read(ring_of(0) + (bench_.read(0, function_page::kick_records_written) - first_) * 64 - 64,
                       &last, sizeof(last));
    expect(bench_.place, "records missing", last.dropped(), dropped - first_dropped_);
    expect(bench_.place, "some were missing", last.dropped() != 0, 1);
  }

  // A ring becomes unreachable while records wait, at any latency of the host: the access that the RTL is
  // offering stays, whenever the error arrives. look_at_rings() checks the rest.
  void lose_ring() {
    constexpr uint32_t rounds = 100;
    for (uint64_t at = ring_of(0); at < ring_of(0) + ring_bytes; at += HostMemory::page_bytes)
      bench_.memory.set_reachable(at, false);
    bench_.slave.set_speed(60);
    for (uint32_t round = 0; round < rounds; ++round) {
      start_ring(0);
      bench_.slave.set_latency(bench_.random.below(20));
      for (uint32_t number = 0; number < 8; ++number)
        bench_.kick(bench_.kick_unit(0), 0, spec::Opcode::send, number);
      bench_.settle();
      function_page::KickRecordControl control{bench_.read(0, function_page::kick_record_control)};
      expect(bench_.place, "a ring out of reach is off", control.enable(), 0);
    }
    for (uint64_t at = ring_of(0); at < ring_of(0) + ring_bytes; at += HostMemory::page_bytes)
      bench_.memory.set_reachable(at, true);
  }

  // A ring is turned off while records wait: once the register write is accepted, the RTL writes nothing
  // more.
  void turn_off() {
    start_ring(0);
    for (uint32_t number = 0; number < 6; ++number)
      bench_.kick(bench_.kick_unit(0), 0, spec::Opcode::send, number);
    expect(bench_.place, "turned off", bench_.write(0, function_page::kick_record_control, 0), 1);
    const uint64_t before = bench_.slave.bursts();
    expect(bench_.place, "quiet", bench_.slave.is_quiet(), 1);
    for (unsigned clock = 0; clock < 200; ++clock)
      bench_.step();
    expect(bench_.place, "accesses after a ring was turned off", bench_.slave.bursts(), before);
    start_ring(0);
    for (uint32_t number = 0; number < 6; ++number)
      bench_.kick(bench_.kick_unit(0), 0, spec::Opcode::send, number);
    bench_.forget_all(0);
    const uint64_t before_forgotten = bench_.slave.bursts();
    for (unsigned clock = 0; clock < 200; ++clock)
      bench_.step();
    expect(bench_.place, "accesses after a ring was forgotten", bench_.slave.bursts(), before_forgotten);
    bench_.set_up(0);
    start_ring(0);
    for (uint32_t number = 0; number < 6; ++number)
      bench_.kick(bench_.kick_unit(0), 0, spec::Opcode::send, number);
    start_ring(0);
    const uint64_t written = bench_.read(0, function_page::kick_records_written);
    bench_.settle();
    expect(bench_.place, "records of the ring before", bench_.read(0, function_page::kick_records_written),
           written);
    turn_off_gathering();
  }

  // Records as fast as the RTL accepts them, while the host consumes them, and a queue pair is appended to
  // its queuing structure.
  void stream(uint32_t latency) {
    constexpr uint32_t records = 1000;
    constexpr uint64_t ring = base + 0x40'0000;
    bench_.settle();
    bench_.write_64(0, function_page::kick_record_address, ring);
    start_ring(0, 10);
    const uint32_t before = first_;
    bench_.slave.set_speed(100);
    bench_.slave.set_latency(latency);
    const uint64_t start = bench_.now;
    bench_.rtl.record = 1;
    bench_.rtl.record_type = static_cast<uint8_t>(spec::KickRecordType::sent);
    const auto tell_next = [&](uint32_t number) {
      spec::KickUnit unit = bench_.kick_unit(0);
      unit.set_kick_number(number);
      std::memcpy(&bench_.rtl.record_unit, &unit, sizeof(unit));
    };
    uint32_t told = 0;
    uint32_t written = 0;
    uint64_t appended = 0;
    tell_next(0);
    while (written < records) {
      bench_.rtl.append = told >= records / 2 && appended == 0;
      bench_.slave.drive();
      bench_.rtl.clock = 0;
      bench_.rtl.eval();
      const bool is_taken = bench_.rtl.record && bench_.rtl.record_ready;
      if (bench_.rtl.append && bench_.rtl.append_ready)
        appended = bench_.now;
      bench_.finish_step();
      if (is_taken)
        tell_next(++told);
      bench_.rtl.record = told < records;
      written = bench_.read(0, function_page::kick_records_written) - before;
      spec::RingHead head;
      head.set_head(written);
      bench_.memory.write(head_of(0), &head, sizeof(head));
      expect(bench_.place, "records go on", bench_.now < start + records * (latency + 20), 1);
      if (appended != 0 && bench_.now > appended + 8 * latency + 200)
        expect(bench_.place, "a queue pair gets its turn among records", bench_.rtl.append_ready, 1);
    }
    const uint64_t clocks = bench_.now - start;
    bench_.settle();
    for (uint32_t number = 0; number < records; ++number) {
      spec::KickRecord record;
      bench_.memory.read(ring + number * sizeof(record), &record, sizeof(record));
      expect(bench_.place, "record of the stream", record.kick_number(), number);
    }
    expect(bench_.place, "no more under way than there can be",
           bench_.slave.most_outstanding() <= OUTSTANDING, 1);
    expect(bench_.place, "none was dropped", bench_.read(0, function_page::kick_records_dropped),
           first_dropped_);
    std::printf("latency %u: %u records in %llu clocks\n", latency, records,
                static_cast<unsigned long long>(clocks));
  }

private:
  // The same with records of another function, which wait for the ring of function 0 too.
  void turn_off_gathering() {
    expect(bench_.place, "its own is off", bench_.write(1, function_page::kick_record_control, 0), 1);
    start_ring(0, ring_entries_log2_maximum, true);
    for (uint32_t number = 0; number < 6; ++number)
      bench_.kick(bench_.kick_unit(1), 0, spec::Opcode::send, number);
    start_ring(0, ring_entries_log2_maximum, true);
    const uint32_t before = bench_.read(0, function_page::kick_records_written);
    bench_.settle();
    expect(bench_.place, "records that waited for the ring before",
           bench_.read(0, function_page::kick_records_written), before);
    bench_.kick(bench_.kick_unit(1), 0, spec::Opcode::send, 0);
    bench_.settle();
    expect(bench_.place, "a record of another function", bench_.read(0, function_page::kick_records_written),
           before + 1);
  }

  void start_ring(uint32_t function, uint32_t entries_log2 = ring_entries_log2_maximum,
                  bool all_functions = false) {
    bench_.consumed[function] = 0;
    bench_.write_head(function);
    first_ = bench_.read(function, function_page::kick_records_written);
    first_dropped_ = bench_.read(function, function_page::kick_records_dropped);
    function_page::KickRecordControl control;
    control.set_enable(1);
    control.set_entries_log2(entries_log2);
    control.set_all_functions(all_functions);
    expect(bench_.place, "control", bench_.write(function, function_page::kick_record_control, control.bits),
           1);
  }

  HostMemoryBench& bench_;
  uint32_t first_ = 0; // At the start of the ring: records written; records dropped.
  uint32_t first_dropped_ = 0;
};

} // namespace fpga_verbs::bench
