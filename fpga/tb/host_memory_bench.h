#pragma once

#include "Vhost_memory.h"
#include "bench.h"
#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/parameters.h"
#include "hca/collect/kick_records.h"
#include "hca/kick/lane_map_reader.h"
#include "hca/send_queue/queuing_structures.h"
#include "host_memory_slave.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

// host_memory, and the blocks of the device model that do the same, each with its own host.
namespace fpga_verbs::bench {

namespace function_page = spec::underlying_function;

constexpr uint32_t settled = 12;       // Clocks without DMA after which nothing is in flight.
constexpr uint32_t clock_limit = 4000; // Clocks.
constexpr uint32_t levels = spec::quality_of_service_levels;
constexpr uint32_t ring_entries_log2_maximum = 7; // Two pages.

// Addresses of the structures in host memory.
constexpr uint64_t base = 0x3'4567'0000;
constexpr uint64_t ring_bytes = 0x4000;
inline uint64_t ring_of(uint32_t function) { return base + function * ring_bytes; }
inline uint64_t head_of(uint32_t function) { return base + 0x10'0000 + function * 0x1000 + 0x38; }
inline uint64_t structure_of(uint32_t function, uint32_t level) {
  return base + 0x20'0000 + (function * levels + level) * 0x1000 + 0xf80;
}
// The mapping table crosses a page boundary, and 2^32.
constexpr uint64_t lane_table = 0x3'ffff'fff0;
constexpr uint32_t lane_entries = levels * UNDERLYING_FUNCTIONS;
constexpr uint64_t lane_entry_of(uint32_t entry) { return lane_table + 8 * entry; }

struct ModelClock final : hca::Clock {
  uint64_t time = 0;
  uint64_t now() const override { return time; }
};

struct ModelHost final : hca::HostPort {
  HostMemory memory;
  uint64_t accesses = 0;
  hca::DmaStatus read(unsigned, uint64_t address, void* destination, size_t bytes) override {
    ++accesses;
    if (!memory.is_reachable(address))
      return hca::DmaStatus::fault;
    memory.read(address, destination, bytes);
    return hca::DmaStatus::ok;
  }
  hca::DmaStatus write(unsigned, uint64_t address, const void* source, size_t bytes) override {
    ++accesses;
    if (!memory.is_reachable(address))
      return hca::DmaStatus::fault;
    memory.write(address, source, bytes);
    return hca::DmaStatus::ok;
  }
  void interrupt(unsigned, unsigned) override {}
};

struct Events final : hca::EventPort {
  std::vector<spec::EventUnit> all;
  void report(const spec::EventUnit& event) override { all.push_back(event); }
};

inline hca::HcaParameters parameters() {
  hca::HcaParameters shape;
  shape.underlying_functions = UNDERLYING_FUNCTIONS;
  shape.queue_pairs = QUEUE_PAIRS;
  return shape;
}

class HostMemoryBench {
public:
  explicit HostMemoryBench(uint64_t seed)
      : random(seed), place{.seed = seed}, slave(rtl, memory, random, place),
        records(counters, host, model_clock, events), structures(parameters(), counters, host, events),
        lane_map(counters, host, events) {
    rtl.reset = 1;
    step();
    step();
    rtl.reset = 0;
    for (unsigned clock = 0; clock < QUEUE_PAIRS + 4; ++clock)
      step();
  }

  // Sets up the rings and queuing structures of a function, in RTL and model.
  void set_up(uint32_t function) {
    expect(place, "a ring that is not aligned", write(function, function_page::kick_record_address, 0x800),
           0);
    expect(place, "a head that is not aligned", write(function, function_page::kick_record_head_address, 4),
           0);
    expect(place, "a structure that is not aligned",
           write(function, function_page::queuing_structure_address, 4), 0);
    expect(place, "a register that is not there", write(function, function_page::status, 0), 0);
    write_64(function, function_page::kick_record_address, ring_of(function));
    write_64(function, function_page::kick_record_head_address, head_of(function));
    records.set_address(function, ring_of(function));
    records.set_head_address(function, head_of(function));
    for (uint32_t level = 0; level < levels; ++level) {
      write_64(function, function_page::queuing_structure_address + 8 * level, structure_of(function, level));
      structures.set_address(function, static_cast<spec::QualityOfServiceLevel>(level),
                             structure_of(function, level));
    }
    // One in three is too small for all queue pairs.
    function_page::QueuingStructureSize size;
    size.set_entries_log2(random.once(3) ? 2 : 4);
    expect(place, "size", write(function, function_page::queuing_structure_size, size.bits), 1);
    structures.set_size(function, size);
    begin_ring(function);
  }

  void begin_ring(uint32_t function) {
    function_page::KickRecordControl control;
    control.set_enable(!random.once(8));
    control.set_entries_log2(random.once(20) ? 17 : random.below(ring_entries_log2_maximum));
    control.set_all_functions(random.once(2)); // has an effect only for function 0
    expect(place, "control", write(function, function_page::kick_record_control, control.bits), 1);
    records.set_control(function, control);
    if (control.entries_log2() <= ring_entries_log2_maximum)
      expect(place, "control as read", read(function, function_page::kick_record_control),
             records.control(function).bits);
    consumed[function] = 0;
    write_head(function);
  }

  // The RTL forgets the structures of a function.
  void forget_all(uint32_t function) {
    rtl.forget_underlying_function = static_cast<uint8_t>(function);
    rtl.forget_records = 1;
    until("forget_records_done", [&] { return rtl.forget_records_done != 0; });
    rtl.forget_records = 0;
    rtl.forget_structures = 1;
    until("forget_structures_done", [&] { return rtl.forget_structures_done != 0; });
    rtl.forget_structures = 0;
  }

  spec::KickUnit kick_unit(uint32_t function) {
    spec::KickUnit unit;
    unit.set_underlying_function(function);
    unit.set_quality_of_service_level(static_cast<spec::QualityOfServiceLevel>(random.below(levels)));
    unit.set_origin(static_cast<spec::KickOrigin>(random.below(3)));
    unit.set_queue_pair_number(random.below(1 << 24));
    unit.set_send_queue_sequence_number(random.below(1 << 16));
    unit.set_length(random.below(257));
    unit.set_kick_number(static_cast<uint32_t>(random.bits()));
    unit.set_physical_collect_buffer(random.below(72));
    unit.set_transmit_virtual_lane(random.below(64));
    return unit;
  }

  void kick(const spec::KickUnit& unit, uint32_t buffer, spec::Opcode opcode, uint64_t begin) {
    rtl.kick_record = 1;
    rtl.kick_virtual_collect_buffer = static_cast<uint8_t>(buffer);
    rtl.kick_opcode = static_cast<uint8_t>(opcode);
    rtl.kick_first_write = begin;
    std::memcpy(&rtl.kick_unit, &unit, sizeof(unit));
    step();
    rtl.kick_record = 0;
  }

  void write_head(uint32_t function) {
    spec::RingHead head;
    head.set_head(consumed[function]);
    write_memory(head_of(function), &head, sizeof(head));
  }
  void write_memory(uint64_t address, const void* source, size_t bytes) {
    memory.write(address, source, bytes);
    host.memory.write(address, source, bytes);
  }

  uint32_t read(uint32_t function, uint32_t offset) {
    rtl.read_underlying_function = static_cast<uint8_t>(function);
    rtl.read_offset = static_cast<uint16_t>(offset);
    rtl.clock = 0;
    rtl.eval();
    return static_cast<uint32_t>(rtl.read_value);
  }

  // An address of a queuing structure is there a clock after its offset.
  uint64_t read_64(uint32_t function, uint32_t offset) {
    read(function, offset);
    step();
    read(function, offset);
    return rtl.read_value;
  }

  // Returns whether the write was allowed.
  bool write(uint32_t function, uint32_t offset, uint32_t data) {
    if (offset == function_page::kick_record_control)
      is_lost_[function] = false;
    rtl.write_underlying_function = static_cast<uint8_t>(function);
    rtl.write_offset = static_cast<uint16_t>(offset);
    rtl.write_data = data;
    rtl.write = 1;
    bool is_allowed = false;
    until("write_ready", [&] {
      is_allowed = rtl.write_allowed;
      return rtl.write_ready != 0;
    });
    rtl.write = 0;
    return is_allowed;
  }
  void write_64(uint32_t function, uint32_t offset, uint64_t data) {
    expect(place, "low half", write(function, offset, static_cast<uint32_t>(data)), 1);
    expect(place, "high half", write(function, offset + 4, static_cast<uint32_t>(data >> 32)), 1);
    expect(place, "a register of 64 bits", read_64(function, offset), data);
  }

  // Requests an entry of the mapping table, as virtual_kick does, and accepts it some clocks later.
  std::optional<uint64_t> fetch(uint32_t entry) {
    ask_for(entry);
    std::optional<uint64_t> lanes;
    uint32_t clocks = random.below(3);
    until("lanes_read", [&] { return rtl.lanes_read && clocks-- == 0 && take_lanes(lanes); });
    end_fetch();
    return lanes;
  }
  void ask_for(uint32_t entry) {
    rtl.fetch_lanes = 1;
    rtl.fetch_lanes_underlying_function = static_cast<uint8_t>(entry / levels);
    rtl.fetch_lanes_quality_of_service_level = static_cast<uint8_t>(entry % levels);
  }
  // In the evaluated clock. Returns true.
  bool take_lanes(std::optional<uint64_t>& lanes) {
    if (rtl.lanes_read_known)
      lanes = rtl.lanes_read_lanes;
    rtl.fetched_lanes = 1;
    rtl.eval();
    return true;
  }
  void end_fetch() { rtl.fetch_lanes = rtl.fetched_lanes = 0; }

  // Returns whether the write was allowed.
  bool set_lane_map_address(uint64_t address) {
    rtl.set_lane_map_address = 1;
    rtl.set_lane_map_address_address = address;
    bool is_allowed = false;
    until("set_lane_map_address_ready", [&] {
      is_allowed = rtl.set_lane_map_address_allowed;
      return rtl.set_lane_map_address_ready != 0;
    });
    rtl.set_lane_map_address = 0;
    return is_allowed;
  }

  // Returns the clocks until the condition holds, including that clock.
  template <class Condition> void until(const char* what, Condition condition) {
    for (unsigned clock = 0; clock < clock_limit; ++clock) {
      slave.drive();
      rtl.clock = 0;
      rtl.eval();
      const bool is_so = condition();
      finish_step();
      if (is_so)
        return;
    }
    differ(place, what, 0, 1);
  }

  void settle() {
    unsigned quiet = 0;
    for (unsigned clock = 0; clock < clock_limit && quiet < settled; ++clock) {
      step();
      quiet = rtl.idle ? quiet + 1 : 0;
    }
    expect(place, "nothing is under way any more", quiet, settled);
  }

  void step() {
    slave.drive();
    rtl.clock = 0;
    rtl.eval();
    finish_step();
  }

  void finish_step() {
    rtl.now = now;
    rtl.eval();
    slave.take([&](uint64_t address, uint32_t bytes) { see(address, bytes); });
    look_at_rings();
    if (rtl.fault) {
      spec::EventUnit event;
      std::memcpy(&event, &rtl.fault_event, sizeof(event));
      faults.push_back(event);
      if (is_of_ring(event.underlying_function(), event.detail()))
        is_lost_[event.underlying_function()] = true;
    }
    rtl.clock = 1;
    rtl.eval();
    slave.settle();
    ++place.clock;
    ++now;
  }

  Vhost_memory rtl;
  Random random;
  Place place;
  HostMemory memory; // Of the RTL's host.
  HostMemorySlave<Vhost_memory> slave;
  hca::Counters counters;
  ModelHost host;
  ModelClock model_clock;
  Events events;
  hca::KickRecords records;
  hca::QueuingStructures structures;
  hca::LaneMapReader lane_map;
  uint64_t now = 1;
  uint32_t consumed[UNDERLYING_FUNCTIONS]{}; // Records that the host has consumed.
  std::vector<spec::EventUnit> faults;

private:
  // From the clock after its fault on, the RTL begins no access to a ring that is turned off.
  void look_at_rings() {
    const bool begins_write = rtl.memory_awvalid && !was_write_offered_;
    const bool begins_read = rtl.memory_arvalid && !was_read_offered_;
    was_write_offered_ = rtl.memory_awvalid && !rtl.memory_awready;
    was_read_offered_ = rtl.memory_arvalid && !rtl.memory_arready;
    if (begins_write && is_lost_[rtl.memory_awuser])
      expect(place, "a write to a ring that is off", is_of_ring(rtl.memory_awuser, rtl.memory_awaddr), 0);
    if (begins_read && is_lost_[rtl.memory_aruser])
      expect(place, "a read of the head of a ring that is off",
             is_of_ring(rtl.memory_aruser, rtl.memory_araddr), 0);
  }
  static bool is_of_ring(uint32_t function, uint64_t address) {
    return address == head_of(function) ||
           (address >= ring_of(function) && address < ring_of(function) + ring_bytes);
  }

  // The model writes a record when it is made, the RTL later. Only the time stamp of the write may differ.
  void see(uint64_t address, uint32_t bytes) {
    if (bytes != spec::KickRecord::bytes)
      return;
    spec::KickRecord record;
    memory.read(address, &record, sizeof(record));
    expect(place, "written after its end", record.written() > record.end() && record.written() < now, 1);
    record.set_written(record.end());
    memory.write(address, &record, sizeof(record));
  }

  bool was_write_offered_ = false;
  bool was_read_offered_ = false;
  bool is_lost_[UNDERLYING_FUNCTIONS]{}; // The ring is off, because an access to it has failed.
};

} // namespace fpga_verbs::bench
