// host_memory in lockstep with the device model's kick records, queuing structures and mapping table of
// lanes: after each step, the memories of both hosts, counters, events and answers are equal. The host
// answers at random times, and with errors for addresses out of reach. Directed cases of rings and of the
// mapping table follow; finally the host has a long latency, and records arrive at full speed. Arguments:
// seed, steps, and one or more latencies of the host in clocks.
//
// The shape (BEAT_BYTES and the other parameters) is passed to Verilator and, by the same names, to this
// file.
#include "host_memory_bench.h"
#include "host_memory_lane_map.h"
#include "host_memory_rings.h"
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
#include <deque>
#include <vector>

namespace fpga_verbs::bench {
namespace {

class Bench : public HostMemoryBench {
public:
  using HostMemoryBench::HostMemoryBench;

  int run(uint32_t steps, const std::vector<uint32_t>& latencies) {
    set_up_all();
    for (uint32_t number = 0; number < steps; ++number) {
      act();
      settle();
      compare();
    }
    mend();
    KickRecordCases rings(*this);
    rings.overflow();
    rings.lose_ring();
    rings.turn_off();
    LaneMapCases(*this).run();
    std::printf("%u steps, %llu accesses, %zu faults, %u turned out, at most %zu under way\n", steps,
                static_cast<unsigned long long>(slave.bursts()), events.all.size(), turned_out_,
                slave.most_outstanding());
    for (const uint32_t latency : latencies)
      rings.stream(latency);
    return 0;
  }

private:
  void set_up_all() {
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      set_up(function);
    set_lane_table(lane_table);
  }
  void act() {
    const uint32_t function = random.below(UNDERLYING_FUNCTIONS);
    const uint32_t chance = random.below(100);
    slave.set_latency(random.once(2) ? 0 : random.below(40));
    if (structures.condemned() && random.once(2))
      turn_out();
    else if (records.control(function).enable() == 0 && random.once(4))
      begin_ring(function);
    else if (chance < 20)
      tell(function);
    else if (chance < 40)
      tell_several();
    else if (chance < 50)
      consume(function);
    else if (chance < 52)
      begin_ring(function);
    else if (chance < 66)
      append(function);
    else if (chance < 74)
      take();
    else if (chance < 79)
      fetch_lanes();
    else if (chance < 82)
      put_out_of_reach(function);
    else if (chance < 88)
      mend();
    else if (chance < 90)
      forget(function);
    else if (chance < 94)
      change_lanes();
    else
      change_entry(function);
  }

  // Resets a function: its registers read zero, no queue pair of it waits, and it sets up its structures
  // again.
  void forget(uint32_t function) {
    forget_all(function);
    records.reset_function(function);
    structures.reset_function(function);
    for (const uint32_t offset : {function_page::kick_record_control, function_page::queuing_structure_size})
      expect(place, "forgotten", read(function, offset), 0);
    for (const uint32_t offset :
         {function_page::kick_record_address, function_page::kick_record_head_address,
          function_page::queuing_structure_address, function_page::queuing_structure_address + 8})
      expect(place, "forgotten", read_64(function, offset), 0);
    expect(place, "some FIFO has an entry", rtl.any, structures.any());
    expect(place, "some FIFO is condemned", rtl.any_condemned, structures.condemned());
    set_up(function);
  }

  // Kicks of random functions in consecutive clocks, as many as can wait: the host gets their records one
  // after the other, and others follow one that fails.
  void tell_several() {
    const uint64_t before = slave.bursts() - host.accesses;
    const size_t faults = events.all.size();
    for (uint32_t left = 2 + random.below(7); left > 0; --left) {
      const spec::KickUnit unit = kick_unit(random.below(UNDERLYING_FUNCTIONS));
      model_clock.time = now;
      kick(unit, 0, spec::Opcode::send, left);
      records.kicked(unit, 0, spec::Opcode::send, left);
    }
    if (broken_.empty()) { // while they are in flight
      take();
      fetch_lanes();
    }
    settle();
    if (events.all.size() != faults)
      host.accesses = slave.bursts() - before; // accesses that followed a failed one
  }

  // A kick, or a record of another block.
  void tell(uint32_t function) {
    const spec::KickUnit unit = kick_unit(function);
    const auto opcode = static_cast<spec::Opcode>(random.below(8));
    const uint64_t begin = random.bits();
    const uint32_t buffer = random.below(VIRTUAL_COLLECT_BUFFERS);
    model_clock.time = now;
    if (random.once(2)) {
      kick(unit, buffer, opcode, begin);
      records.kicked(unit, static_cast<uint16_t>(buffer), opcode, begin);
      return;
    }
    const bool is_sent = random.once(2);
    rtl.record = 1;
    rtl.record_type =
        static_cast<uint8_t>(is_sent ? spec::KickRecordType::sent : spec::KickRecordType::kicked);
    rtl.record_opcode = static_cast<uint8_t>(opcode);
    rtl.record_begin = begin;
    std::memcpy(&rtl.record_unit, &unit, sizeof(unit));
    until("record_ready", [&] { return rtl.record_ready != 0; });
    rtl.record = 0;
    if (is_sent)
      records.sent(unit, 0xffff, opcode, begin);
    else
      records.kicked(unit, 0xffff, opcode, begin);
  }

  // The host consumes records of the ring.
  void consume(uint32_t function) {
    const uint32_t written = read(function, function_page::kick_records_written);
    consumed[function] += random.below(std::min(written, 60u) + 1);
    write_head(function);
  }
  void append(uint32_t function) {
    // A queue pair belongs to one function, and has one generation at a time.
    const uint32_t index = random.below(QUEUE_PAIRS) / UNDERLYING_FUNCTIONS * UNDERLYING_FUNCTIONS + function;
    spec::ScheduleRequest request;
    request.set_underlying_function(function);
    request.set_quality_of_service_level(
        static_cast<spec::QualityOfServiceLevel>(index / UNDERLYING_FUNCTIONS % levels));
    request.set_queue_pair_number(index | random.below(3) << spec::queue_pair_index_bits);
    std::memcpy(&rtl.append_unit, &request, sizeof(request));
    rtl.append = 1;
    until("append_ready", [&] { return rtl.append_ready != 0; });
    rtl.append = 0;
    structures.append(request);
    appended_.push_front(request.queue_pair_number());
    appended_.resize(4);
  }

  void take() {
    expect(place, "some FIFO has an entry", rtl.any, structures.any());
    if (!structures.any())
      return;
    rtl.take = 1;
    until("take_ready", [&] { return rtl.take_ready != 0; });
    rtl.take = 0;
    spec::ScheduleRequest taken;
    bool is_condemned = false;
    until("taken or condemned", [&] {
      std::memcpy(&taken, &rtl.taken_unit, sizeof(taken));
      is_condemned = rtl.condemned != 0;
      return rtl.taken || rtl.condemned;
    });
    const auto waiting = structures.take();
    expect(place, "condemned", is_condemned, !waiting);
    if (!waiting)
      return;
    expect(place, "queue pair taken", taken.queue_pair_number(), waiting->queue_pair_number);
    expect(place, "function of it", taken.underlying_function(), waiting->underlying_function);
  }

  void turn_out() {
    expect(place, "some FIFO is condemned", rtl.any_condemned, structures.condemned());
    if (!structures.condemned())
      return;
    rtl.turn_out = 1;
    until("turn_out_ready", [&] { return rtl.turn_out_ready != 0; });
    rtl.turn_out = 0;
    rtl.clock = 0;
    rtl.eval();
    const auto turned_out = structures.turn_out();
    expect(place, "turned out", rtl.turned_out, turned_out.has_value());
    if (!turned_out)
      return;
    ++turned_out_;
    spec::ScheduleRequest unit;
    std::memcpy(&unit, &rtl.turned_out_unit, sizeof(unit));
    expect(place, "queue pair turned out", unit.queue_pair_number(), turned_out->waiting.queue_pair_number);
    expect(place, "function of it", unit.underlying_function(), turned_out->waiting.underlying_function);
    expect(place, "why", rtl.turned_out_refusal, static_cast<uint8_t>(turned_out->refusal));
  }

  // Reads an entry of the mapping table.
  void fetch_lanes() {
    const uint32_t entry = random.below(lane_entries);
    const auto lanes = fetch(entry);
    lane_map.invalidate(1U << entry);
    const auto expected =
        lane_map.read_invalid(entry / levels, static_cast<spec::QualityOfServiceLevel>(entry % levels));
    expect(place, "an entry could be read", lanes.has_value(), expected.has_value());
    expect(place, "lanes of an entry", lanes.value_or(0), expected.value_or(0));
  }

  // The control function writes an entry, or moves its table, also to the end of the address space.
  void change_lanes() {
    const uint64_t lanes = random.bits();
    const uint64_t elsewhere[] = {lane_table, lane_table + random.below(8), random.bits(), ~uint64_t{7}};
    if (random.once(3))
      set_lane_table(elsewhere[random.below(4)]);
    else
      write_memory(lane_map.address() + 8 * random.below(lane_entries), &lanes, sizeof(lanes));
  }
  void set_lane_table(uint64_t address) {
    expect(place, "the address of the mapping table is taken", set_lane_map_address(address),
           lane_map.set_address(address));
    expect(place, "address of the mapping table", rtl.lane_map_address, lane_map.address());
  }

  void put_out_of_reach(uint32_t function) {
    const uint64_t places[] = {ring_of(function),         head_of(function),
                               structure_of(function, 0), structure_of(function, 1),
                               lane_map.address(),        lane_map.address() + 8 * (lane_entries - 1)};
    const uint64_t address = places[random.below(6)];
    const uint64_t pages = address == ring_of(function) ? ring_bytes / HostMemory::page_bytes : 1;
    for (uint64_t page = 0; page < pages; ++page) {
      const uint64_t at = address + page * HostMemory::page_bytes;
      memory.set_reachable(at, false);
      host.memory.set_reachable(at, false);
      broken_.push_back(at);
    }
  }
  void mend() {
    for (const uint64_t address : broken_) {
      memory.set_reachable(address, true);
      host.memory.set_reachable(address, true);
    }
    broken_.clear();
  }

  // The host changes an entry of a queuing structure.
  void change_entry(uint32_t function) {
    const uint64_t address = structure_of(function, random.below(levels)) + 8 * random.below(16);
    spec::QueuingStructureEntry entry;
    memory.read(address, &entry, sizeof(entry));
    spec::QueuingStructureEntry other;
    memory.read(structure_of(random.below(UNDERLYING_FUNCTIONS), random.below(levels)) + 8 * random.below(16),
                &other, sizeof(other));
    switch (random.below(4)) {
    case 0:
      entry.set_sequence(entry.sequence() ^ 16);
      break;
    case 1:
      entry.set_valid(0);
      break;
    case 2: // Another generation.
      entry.set_queue_pair_number(entry.queue_pair_number() ^ 1 << spec::queue_pair_index_bits);
      break;
    default: // A queue pair that may wait elsewhere, also at the head.
      name_in_all(address / 128 * 128,
                  random.once(2) ? other.queue_pair_number() : appended_[random.below(4)]);
      return;
    }
    write_memory(address, &entry, sizeof(entry));
  }

  void name_in_all(uint64_t begin, uint32_t queue_pair_number) {
    for (uint64_t address = begin; address < begin + 16 * sizeof(spec::QueuingStructureEntry); address += 8) {
      spec::QueuingStructureEntry entry;
      memory.read(address, &entry, sizeof(entry));
      entry.set_queue_pair_number(queue_pair_number);
      write_memory(address, &entry, sizeof(entry));
    }
  }

  void compare() {
    expect(place, "accesses", slave.bursts(), host.accesses);
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function) {
      const hca::FunctionCounters& counted = counters.function[function];
      expect(place, "records written", read(function, function_page::kick_records_written),
             counted.kick_records_written);
      expect(place, "records dropped", read(function, function_page::kick_records_dropped),
             counted.kick_records_dropped);
      expect(place, "faults", read(function, function_page::dma_faults), counted.dma_faults);
      expect(place, "control", read(function, function_page::kick_record_control),
             records.control(function).bits);
      for (uint64_t offset = 0; offset < 64u << ring_entries_log2_maximum; offset += 8)
        compare_word("ring", ring_of(function) + offset);
      for (uint32_t level = 0; level < levels; ++level)
        for (uint64_t offset = 0; offset < 128; offset += 8)
          compare_word("queuing structure", structure_of(function, level) + offset);
    }
    expect(place, "events", faults.size(), events.all.size());
    for (size_t number = compared_faults_; number < faults.size(); ++number) {
      expect(place, "event", std::memcmp(&faults[number], &events.all[number], sizeof(faults[number])), 0);
    }
    compared_faults_ = faults.size();
  }
  void compare_word(const char* what, uint64_t address) {
    uint64_t rtl = 0;
    uint64_t model = 0;
    memory.read(address, &rtl, sizeof(rtl));
    host.memory.read(address, &model, sizeof(model));
    expect(place, what, rtl, model);
  }

  std::vector<uint64_t> broken_; // Pages out of reach.
  size_t compared_faults_ = 0;
  uint32_t turned_out_ = 0;
  std::deque<uint32_t> appended_ = std::deque<uint32_t>(4); // the newest queue pairs
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  const uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  const uint32_t steps = count > 2 ? static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)) : 2000;
  fpga_verbs::bench::Bench bench(seed);
  const fpga_verbs::bench::Coverage coverage;
  std::vector<uint32_t> latencies;
  for (int number = 3; number < count; ++number)
    latencies.push_back(static_cast<uint32_t>(std::strtoul(arguments[number], nullptr, 10)));
  return bench.run(steps, latencies);
}
