// host_memory in lockstep with the device model's kick records and queuing structures: after each step the
// memories of both hosts, counters, events and answers are the same. The host answers when chance has it so,
// and with errors for what is out of reach. In the end it is far away, and records come as fast as they are
// taken. Arguments: seed, steps, and clocks of the host's latency, once or more often.
//
// The shape (BEAT_BYTES and the other parameters) is given to Verilator and, by the same names, to this file.
#include "Vhost_memory.h"
#include "bench.h"
#include "hca/clock.h"
#include "hca/counters.h"
#include "hca/event_port.h"
#include "hca/host_port.h"
#include "hca/kick_records.h"
#include "hca/parameters.h"
#include "hca/queuing_structures.h"
#include "host_memory_slave.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fpga_verbs::bench {
namespace {

namespace function_page = spec::underlying_function;

constexpr uint32_t settled = 12;    // Clocks without DMA after which nothing is under way.
constexpr uint32_t patience = 4000; // Clocks.
constexpr uint32_t levels = spec::quality_of_service_levels;
constexpr uint32_t ring_entries_log2_maximum = 7; // Two pages.

// Where what is in host memory.
constexpr uint64_t base = 0x3'4567'0000;
constexpr uint64_t ring_bytes = 0x4000;
uint64_t ring_of(uint32_t function) { return base + function * ring_bytes; }
uint64_t head_of(uint32_t function) { return base + 0x10'0000 + function * 0x1000 + 0x38; }
uint64_t structure_of(uint32_t function, uint32_t level) {
  return base + 0x20'0000 + (function * levels + level) * 0x1000 + 0xf80;
}

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

hca::HcaParameters parameters() {
  hca::HcaParameters shape;
  shape.underlying_functions = UNDERLYING_FUNCTIONS;
  shape.queue_pairs = QUEUE_PAIRS;
  return shape;
}

class Bench {
public:
  explicit Bench(uint64_t seed)
      : random_(seed), place_{.seed = seed}, slave_(rtl_, memory_, random_, place_),
        records_(counters_, host_, clock_, events_), structures_(parameters(), counters_, host_, events_) {
    rtl_.reset = 1;
    step();
    step();
    rtl_.reset = 0;
    for (unsigned clock = 0; clock < QUEUE_PAIRS + 4; ++clock)
      step();
  }

  int run(uint32_t steps, const std::vector<uint32_t>& latencies) {
    set_up();
    for (uint32_t number = 0; number < steps; ++number) {
      act();
      settle();
      compare();
    }
    mend();
    overflow();
    lose_ring();
    turn_off();
    std::printf("%u steps, %llu accesses, %zu faults, %u turned out, at most %zu under way\n", steps,
                static_cast<unsigned long long>(slave_.bursts()), events_.all.size(), turned_out_,
                slave_.most_outstanding());
    for (const uint32_t latency : latencies)
      stream(latency);
    return 0;
  }

private:
  void set_up() {
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      set_up(function);
  }
  void set_up(uint32_t function) {
    expect(place_, "a ring that is not aligned", write(function, function_page::kick_record_address, 0x800),
           0);
    expect(place_, "a head that is not aligned", write(function, function_page::kick_record_head_address, 4),
           0);
    expect(place_, "a structure that is not aligned",
           write(function, function_page::queuing_structure_address, 4), 0);
    expect(place_, "a register that is not there", write(function, function_page::status, 0), 0);
    write_64(function, function_page::kick_record_address, ring_of(function));
    write_64(function, function_page::kick_record_head_address, head_of(function));
    records_.set_address(function, ring_of(function));
    records_.set_head_address(function, head_of(function));
    for (uint32_t level = 0; level < levels; ++level) {
      write_64(function, function_page::queuing_structure_address + 8 * level, structure_of(function, level));
      structures_.set_address(function, static_cast<spec::QualityOfServiceLevel>(level),
                              structure_of(function, level));
    }
    // One in three has no room for all.
    function_page::QueuingStructureSize size;
    size.set_entries_log2(random_.once(3) ? 2 : 4);
    expect(place_, "size", write(function, function_page::queuing_structure_size, size.bits), 1);
    structures_.set_size(function, size);
    begin_ring(function);
  }

  void begin_ring(uint32_t function) {
    function_page::KickRecordControl control;
    control.set_enable(!random_.once(8));
    control.set_entries_log2(random_.once(20) ? 17 : random_.below(ring_entries_log2_maximum));
    expect(place_, "control", write(function, function_page::kick_record_control, control.bits), 1);
    records_.set_control(function, control);
    consumed_[function] = 0;
    write_head(function);
  }

  void act() {
    const uint32_t function = random_.below(UNDERLYING_FUNCTIONS);
    const uint32_t chance = random_.below(100);
    slave_.set_latency(random_.once(2) ? 0 : random_.below(40));
    if (structures_.condemned() && random_.once(2))
      turn_out();
    else if (records_.control(function).enable() == 0 && random_.once(4))
      begin_ring(function);
    else if (chance < 20)
      tell(function);
    else if (chance < 40)
      tell_several();
    else if (chance < 50)
      consume(function);
    else if (chance < 52)
      begin_ring(function);
    else if (chance < 70)
      append(function);
    else if (chance < 79)
      take();
    else if (chance < 82)
      put_out_of_reach(function);
    else if (chance < 88)
      mend();
    else if (chance < 90)
      forget(function);
    else
      change_entry(function);
  }

  // A function is reset: its registers read zero, nobody of it waits, and it sets up anew.
  void forget(uint32_t function) {
    forget_all(function);
    records_.reset_function(function);
    structures_.reset_function(function);
    for (const uint32_t offset : {function_page::kick_record_control, function_page::queuing_structure_size})
      expect(place_, "forgotten", read(function, offset), 0);
    for (const uint32_t offset :
         {function_page::kick_record_address, function_page::kick_record_head_address,
          function_page::queuing_structure_address, function_page::queuing_structure_address + 8})
      expect(place_, "forgotten", read_64(function, offset), 0);
    expect(place_, "some FIFO has an entry", rtl_.any, structures_.any());
    expect(place_, "some FIFO is condemned", rtl_.any_condemned, structures_.condemned());
    set_up(function);
  }
  void forget_all(uint32_t function) {
    rtl_.forget_underlying_function = static_cast<uint8_t>(function);
    rtl_.forget_records = 1;
    until("forget_records_done", [&] { return rtl_.forget_records_done != 0; });
    rtl_.forget_records = 0;
    rtl_.forget_structures = 1;
    until("forget_structures_done", [&] { return rtl_.forget_structures_done != 0; });
    rtl_.forget_structures = 0;
  }

  // Kicks of any functions in clocks on end, as many as have a place to wait: records follow each other to
  // the host, and one that fails has others behind it.
  void tell_several() {
    const uint64_t before = slave_.bursts() - host_.accesses;
    const size_t faults = events_.all.size();
    for (uint32_t left = 2 + random_.below(7); left > 0; --left) {
      const spec::KickUnit unit = kick_unit(random_.below(UNDERLYING_FUNCTIONS));
      clock_.time = now_;
      kick(unit, 0, spec::Opcode::send, left);
      records_.kicked(unit, 0, spec::Opcode::send, left);
    }
    if (broken_.empty())
      take(); // while they are under way
    settle();
    if (events_.all.size() != faults)
      host_.accesses = slave_.bursts() - before; // what was under way behind one that failed
  }

  // A kick, or a record of another block.
  void tell(uint32_t function) {
    const spec::KickUnit unit = kick_unit(function);
    const auto opcode = static_cast<spec::Opcode>(random_.below(8));
    const uint64_t begin = random_.bits();
    const uint32_t buffer = random_.below(VIRTUAL_COLLECT_BUFFERS);
    clock_.time = now_;
    if (random_.once(2)) {
      kick(unit, buffer, opcode, begin);
      records_.kicked(unit, static_cast<uint16_t>(buffer), opcode, begin);
      return;
    }
    const bool is_sent = random_.once(2);
    rtl_.record = 1;
    rtl_.record_type =
        static_cast<uint8_t>(is_sent ? spec::KickRecordType::sent : spec::KickRecordType::kicked);
    rtl_.record_opcode = static_cast<uint8_t>(opcode);
    rtl_.record_begin = begin;
    std::memcpy(&rtl_.record_unit, &unit, sizeof(unit));
    until("record_ready", [&] { return rtl_.record_ready != 0; });
    rtl_.record = 0;
    if (is_sent)
      records_.sent(unit, 0xffff, opcode, begin);
    else
      records_.kicked(unit, 0xffff, opcode, begin);
  }

  spec::KickUnit kick_unit(uint32_t function) {
    spec::KickUnit unit;
    unit.set_underlying_function(function);
    unit.set_quality_of_service_level(static_cast<spec::QualityOfServiceLevel>(random_.below(levels)));
    unit.set_origin(static_cast<spec::KickOrigin>(random_.below(3)));
    unit.set_queue_pair_number(random_.below(1 << 24));
    unit.set_send_queue_sequence_number(random_.below(1 << 16));
    unit.set_length(random_.below(257));
    unit.set_kick_number(static_cast<uint32_t>(random_.bits()));
    unit.set_physical_collect_buffer(random_.below(72));
    unit.set_transmit_virtual_lane(random_.below(64));
    return unit;
  }

  void kick(const spec::KickUnit& unit, uint32_t buffer, spec::Opcode opcode, uint64_t begin) {
    rtl_.kick_record = 1;
    rtl_.kick_virtual_collect_buffer = static_cast<uint8_t>(buffer);
    rtl_.kick_opcode = static_cast<uint8_t>(opcode);
    rtl_.kick_first_write = begin;
    std::memcpy(&rtl_.kick_unit, &unit, sizeof(unit));
    step();
    rtl_.kick_record = 0;
  }

  // The host takes records out of the ring.
  void consume(uint32_t function) {
    const uint32_t written = read(function, function_page::kick_records_written);
    consumed_[function] += random_.below(std::min(written, 60u) + 1);
    write_head(function);
  }
  void write_head(uint32_t function) {
    spec::RingHead head;
    head.set_head(consumed_[function]);
    write_memory(head_of(function), &head, sizeof(head));
  }
  void write_memory(uint64_t address, const void* source, size_t bytes) {
    memory_.write(address, source, bytes);
    host_.memory.write(address, source, bytes);
  }

  void append(uint32_t function) {
    // One queue pair belongs to one function, in one generation at a time.
    const uint32_t index =
        random_.below(QUEUE_PAIRS) / UNDERLYING_FUNCTIONS * UNDERLYING_FUNCTIONS + function;
    spec::ScheduleRequest request;
    request.set_underlying_function(function);
    request.set_quality_of_service_level(
        static_cast<spec::QualityOfServiceLevel>(index / UNDERLYING_FUNCTIONS % levels));
    request.set_queue_pair_number(index | random_.below(3) << spec::queue_pair_index_bits);
    std::memcpy(&rtl_.append_unit, &request, sizeof(request));
    rtl_.append = 1;
    until("append_ready", [&] { return rtl_.append_ready != 0; });
    rtl_.append = 0;
    structures_.append(request);
  }

  void take() {
    expect(place_, "some FIFO has an entry", rtl_.any, structures_.any());
    if (!structures_.any())
      return;
    rtl_.take = 1;
    until("take_ready", [&] { return rtl_.take_ready != 0; });
    rtl_.take = 0;
    spec::ScheduleRequest taken;
    bool is_condemned = false;
    until("taken or condemned", [&] {
      std::memcpy(&taken, &rtl_.taken_unit, sizeof(taken));
      is_condemned = rtl_.condemned != 0;
      return rtl_.taken || rtl_.condemned;
    });
    const auto waiting = structures_.take();
    expect(place_, "condemned", is_condemned, !waiting);
    if (!waiting)
      return;
    expect(place_, "queue pair taken", taken.queue_pair_number(), waiting->queue_pair_number);
    expect(place_, "function of it", taken.underlying_function(), waiting->underlying_function);
  }

  void turn_out() {
    expect(place_, "some FIFO is condemned", rtl_.any_condemned, structures_.condemned());
    if (!structures_.condemned())
      return;
    rtl_.turn_out = 1;
    until("turn_out_ready", [&] { return rtl_.turn_out_ready != 0; });
    rtl_.turn_out = 0;
    rtl_.clock = 0;
    rtl_.eval();
    const auto turned_out = structures_.turn_out();
    expect(place_, "turned out", rtl_.turned_out, turned_out.has_value());
    if (!turned_out)
      return;
    ++turned_out_;
    spec::ScheduleRequest unit;
    std::memcpy(&unit, &rtl_.turned_out_unit, sizeof(unit));
    expect(place_, "queue pair turned out", unit.queue_pair_number(), turned_out->waiting.queue_pair_number);
    expect(place_, "function of it", unit.underlying_function(), turned_out->waiting.underlying_function);
    expect(place_, "why", rtl_.turned_out_refusal, static_cast<uint8_t>(turned_out->refusal));
  }

  void put_out_of_reach(uint32_t function) {
    const uint64_t places[] = {ring_of(function), head_of(function), structure_of(function, 0),
                               structure_of(function, 1)};
    const uint64_t address = places[random_.below(4)];
    const uint64_t bytes = address == ring_of(function) ? ring_bytes : 1; // a ring as a whole
    for (uint64_t at = address; at < address + bytes; at += HostMemory::page_bytes) {
      memory_.set_reachable(at, false);
      host_.memory.set_reachable(at, false);
      broken_.push_back(at);
    }
  }
  void mend() {
    for (const uint64_t address : broken_) {
      memory_.set_reachable(address, true);
      host_.memory.set_reachable(address, true);
    }
    broken_.clear();
  }

  // Somebody else writes into a queuing structure.
  void change_entry(uint32_t function) {
    const uint64_t address = structure_of(function, random_.below(levels)) + 8 * random_.below(16);
    spec::QueuingStructureEntry entry;
    memory_.read(address, &entry, sizeof(entry));
    spec::QueuingStructureEntry other;
    memory_.read(structure_of(random_.below(UNDERLYING_FUNCTIONS), random_.below(levels)) +
                     8 * random_.below(16),
                 &other, sizeof(other));
    switch (random_.below(4)) {
    case 0:
      entry.set_sequence(entry.sequence() ^ 16);
      break;
    case 1:
      entry.set_valid(0);
      break;
    case 2: // Another generation.
      entry.set_queue_pair_number(entry.queue_pair_number() ^ 1 << spec::queue_pair_index_bits);
      break;
    default:
      entry.set_queue_pair_number(other.queue_pair_number());
    }
    write_memory(address, &entry, sizeof(entry));
  }

  void compare() {
    expect(place_, "accesses", slave_.bursts(), host_.accesses);
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function) {
      const hca::FunctionCounters& counters = counters_.function[function];
      expect(place_, "records written", read(function, function_page::kick_records_written),
             counters.kick_records_written);
      expect(place_, "records dropped", read(function, function_page::kick_records_dropped),
             counters.kick_records_dropped);
      expect(place_, "faults", read(function, function_page::dma_faults), counters.dma_faults);
      expect(place_, "control", read(function, function_page::kick_record_control),
             records_.control(function).bits);
      for (uint64_t offset = 0; offset < 64u << ring_entries_log2_maximum; offset += 8)
        compare_word("ring", ring_of(function) + offset);
      for (uint32_t level = 0; level < levels; ++level)
        for (uint64_t offset = 0; offset < 128; offset += 8)
          compare_word("queuing structure", structure_of(function, level) + offset);
    }
    expect(place_, "events", faults_.size(), events_.all.size());
    for (size_t number = compared_faults_; number < faults_.size(); ++number) {
      expect(place_, "event", std::memcmp(&faults_[number], &events_.all[number], sizeof(faults_[number])),
             0);
    }
    compared_faults_ = faults_.size();
  }
  void compare_word(const char* what, uint64_t address) {
    uint64_t rtl = 0;
    uint64_t model = 0;
    memory_.read(address, &rtl, sizeof(rtl));
    host_.memory.read(address, &model, sizeof(model));
    expect(place_, what, rtl, model);
  }

  // More kicks than the host takes: what is not written is counted, and records say how many are missing.
  void overflow() {
    start_ring(0);
    const uint64_t before =
        read(0, function_page::kick_records_written) + read(0, function_page::kick_records_dropped);
    slave_.set_speed(20);
    constexpr uint32_t kicks = 100;
    for (uint32_t number = 0; number < kicks; ++number)
      kick(kick_unit(0), 0, spec::Opcode::send, number);
    settle();
    const uint32_t written = read(0, function_page::kick_records_written);
    const uint32_t dropped = read(0, function_page::kick_records_dropped);
    expect(place_, "kicks told or counted", uint64_t{written} + dropped, before + kicks);
    kick(kick_unit(0), 0, spec::Opcode::send, 0);
    settle();
    spec::KickRecord last;
    memory_.read(ring_of(0) + (read(0, function_page::kick_records_written) - first_) * 64 - 64, &last,
                 sizeof(last));
    expect(place_, "records missing", last.dropped(), dropped - first_dropped_);
    expect(place_, "some were missing", last.dropped() != 0, 1);
  }

  // A ring that cannot be reached, with records that wait, at any distance of the host: whenever the answer
  // comes, the one that is about to go out stays. look_at_rings() sees it.
  void lose_ring() {
    constexpr uint32_t rounds = 100;
    for (uint64_t at = ring_of(0); at < ring_of(0) + ring_bytes; at += HostMemory::page_bytes)
      memory_.set_reachable(at, false);
    slave_.set_speed(60);
    for (uint32_t round = 0; round < rounds; ++round) {
      start_ring(0);
      slave_.set_latency(random_.below(20));
      for (uint32_t number = 0; number < 8; ++number)
        kick(kick_unit(0), 0, spec::Opcode::send, number);
      settle();
      function_page::KickRecordControl control{read(0, function_page::kick_record_control)};
      expect(place_, "a ring out of reach is off", control.enable(), 0);
    }
    for (uint64_t at = ring_of(0); at < ring_of(0) + ring_bytes; at += HostMemory::page_bytes)
      memory_.set_reachable(at, true);
  }

  // A ring that is turned off while records wait: once that is taken, nothing is written any more.
  void turn_off() {
    start_ring(0);
    for (uint32_t number = 0; number < 6; ++number)
      kick(kick_unit(0), 0, spec::Opcode::send, number);
    expect(place_, "turned off", write(0, function_page::kick_record_control, 0), 1);
    const uint64_t before = slave_.bursts();
    expect(place_, "quiet", slave_.is_quiet(), 1);
    for (unsigned clock = 0; clock < 200; ++clock)
      step();
    expect(place_, "accesses after a ring was turned off", slave_.bursts(), before);
    start_ring(0);
    for (uint32_t number = 0; number < 6; ++number)
      kick(kick_unit(0), 0, spec::Opcode::send, number);
    forget_all(0);
    const uint64_t before_forgotten = slave_.bursts();
    for (unsigned clock = 0; clock < 200; ++clock)
      step();
    expect(place_, "accesses after a ring was forgotten", slave_.bursts(), before_forgotten);
    set_up(0);
    start_ring(0);
    for (uint32_t number = 0; number < 6; ++number)
      kick(kick_unit(0), 0, spec::Opcode::send, number);
    start_ring(0);
    const uint64_t written = read(0, function_page::kick_records_written);
    settle();
    expect(place_, "records of the ring before", read(0, function_page::kick_records_written), written);
  }

  // Records as fast as they are taken, while the host reads along, and a queue pair that is put into its
  // queuing structure meanwhile.
  void stream(uint32_t latency) {
    constexpr uint32_t records = 1000;
    constexpr uint64_t ring = base + 0x40'0000;
    mend();
    settle();
    write_64(0, function_page::kick_record_address, ring);
    start_ring(0, 10);
    const uint32_t before = first_;
    slave_.set_speed(100);
    slave_.set_latency(latency);
    const uint64_t start = now_;
    rtl_.record = 1;
    rtl_.record_type = static_cast<uint8_t>(spec::KickRecordType::sent);
    const auto tell_next = [&](uint32_t number) {
      spec::KickUnit unit = kick_unit(0);
      unit.set_kick_number(number);
      std::memcpy(&rtl_.record_unit, &unit, sizeof(unit));
    };
    uint32_t told = 0;
    uint32_t written = 0;
    uint64_t appended = 0;
    tell_next(0);
    while (written < records) {
      rtl_.append = told >= records / 2 && appended == 0;
      slave_.drive();
      rtl_.clock = 0;
      rtl_.eval();
      const bool is_taken = rtl_.record && rtl_.record_ready;
      if (rtl_.append && rtl_.append_ready)
        appended = now_;
      finish_step();
      if (is_taken)
        tell_next(++told);
      rtl_.record = told < records;
      written = read(0, function_page::kick_records_written) - before;
      spec::RingHead head;
      head.set_head(written);
      memory_.write(head_of(0), &head, sizeof(head));
      expect(place_, "records go on", now_ < start + records * (latency + 20), 1);
      if (appended != 0 && now_ > appended + 8 * latency + 200)
        expect(place_, "a queue pair gets its turn among records", rtl_.append_ready, 1);
    }
    const uint64_t clocks = now_ - start;
    settle();
    for (uint32_t number = 0; number < records; ++number) {
      spec::KickRecord record;
      memory_.read(ring + number * sizeof(record), &record, sizeof(record));
      expect(place_, "record of the stream", record.kick_number(), number);
    }
    expect(place_, "no more under way than there can be", slave_.most_outstanding() <= OUTSTANDING, 1);
    expect(place_, "none was dropped", read(0, function_page::kick_records_dropped), first_dropped_);
    std::printf("latency %u: %u records in %llu clocks\n", latency, records,
                static_cast<unsigned long long>(clocks));
  }

  void start_ring(uint32_t function, uint32_t entries_log2 = ring_entries_log2_maximum) {
    consumed_[function] = 0;
    write_head(function);
    first_ = read(function, function_page::kick_records_written);
    first_dropped_ = read(function, function_page::kick_records_dropped);
    function_page::KickRecordControl control;
    control.set_enable(1);
    control.set_entries_log2(entries_log2);
    expect(place_, "control", write(function, function_page::kick_record_control, control.bits), 1);
  }

  uint32_t read(uint32_t function, uint32_t offset) {
    rtl_.read_underlying_function = static_cast<uint8_t>(function);
    rtl_.read_offset = static_cast<uint16_t>(offset);
    rtl_.clock = 0;
    rtl_.eval();
    return static_cast<uint32_t>(rtl_.read_value);
  }

  uint64_t read_64(uint32_t function, uint32_t offset) {
    read(function, offset);
    return rtl_.read_value;
  }

  // Whether it was allowed.
  bool write(uint32_t function, uint32_t offset, uint32_t data) {
    if (offset == function_page::kick_record_control)
      is_lost_[function] = false;
    rtl_.write_underlying_function = static_cast<uint8_t>(function);
    rtl_.write_offset = static_cast<uint16_t>(offset);
    rtl_.write_data = data;
    rtl_.write = 1;
    bool is_allowed = false;
    until("write_ready", [&] {
      is_allowed = rtl_.write_allowed;
      return rtl_.write_ready != 0;
    });
    rtl_.write = 0;
    return is_allowed;
  }
  void write_64(uint32_t function, uint32_t offset, uint64_t data) {
    expect(place_, "low half", write(function, offset, static_cast<uint32_t>(data)), 1);
    expect(place_, "high half", write(function, offset + 4, static_cast<uint32_t>(data >> 32)), 1);
    rtl_.read_underlying_function = static_cast<uint8_t>(function);
    rtl_.read_offset = static_cast<uint16_t>(offset);
    rtl_.clock = 0;
    rtl_.eval();
    expect(place_, "a register of 64 bits", rtl_.read_value, data);
  }

  // Clocks until it is so, that one too.
  template <class Condition> void until(const char* what, Condition condition) {
    for (unsigned clock = 0; clock < patience; ++clock) {
      slave_.drive();
      rtl_.clock = 0;
      rtl_.eval();
      const bool is_so = condition();
      finish_step();
      if (is_so)
        return;
    }
    differ(place_, what, 0, 1);
  }

  void settle() {
    unsigned quiet = 0;
    for (unsigned clock = 0; clock < patience && quiet < settled; ++clock) {
      step();
      quiet = rtl_.idle ? quiet + 1 : 0;
    }
    expect(place_, "nothing is under way any more", quiet, settled);
  }

  void step() {
    slave_.drive();
    rtl_.clock = 0;
    rtl_.eval();
    finish_step();
  }

  void finish_step() {
    rtl_.now = now_;
    rtl_.eval();
    slave_.take([&](uint64_t address, uint32_t bytes) { see(address, bytes); });
    look_at_rings();
    if (rtl_.fault) {
      spec::EventUnit event;
      std::memcpy(&event, &rtl_.fault_event, sizeof(event));
      faults_.push_back(event);
      if (is_of_ring(event.underlying_function(), event.detail()))
        is_lost_[event.underlying_function()] = true;
    }
    rtl_.clock = 1;
    rtl_.eval();
    slave_.settle();
    ++place_.clock;
    ++now_;
  }

  // From the clock after its fault on, nothing of a ring that is turned off is begun any more.
  void look_at_rings() {
    const bool begins_write = rtl_.memory_awvalid && !was_write_offered_;
    const bool begins_read = rtl_.memory_arvalid && !was_read_offered_;
    was_write_offered_ = rtl_.memory_awvalid && !rtl_.memory_awready;
    was_read_offered_ = rtl_.memory_arvalid && !rtl_.memory_arready;
    if (begins_write && is_lost_[rtl_.memory_awuser])
      expect(place_, "a write to a ring that is off", is_of_ring(rtl_.memory_awuser, rtl_.memory_awaddr), 0);
    if (begins_read && is_lost_[rtl_.memory_aruser])
      expect(place_, "a read of the head of a ring that is off",
             is_of_ring(rtl_.memory_aruser, rtl_.memory_araddr), 0);
  }
  static bool is_of_ring(uint32_t function, uint64_t address) {
    return address == head_of(function) ||
           (address >= ring_of(function) && address < ring_of(function) + ring_bytes);
  }

  // The model hands a record over when it is made; the RTL later, which is all that may differ.
  void see(uint64_t address, uint32_t bytes) {
    if (bytes != spec::KickRecord::bytes)
      return;
    spec::KickRecord record;
    memory_.read(address, &record, sizeof(record));
    expect(place_, "written after its end", record.written() > record.end() && record.written() < now_, 1);
    record.set_written(record.end());
    memory_.write(address, &record, sizeof(record));
  }

  Vhost_memory rtl_;
  Random random_;
  Place place_;
  HostMemory memory_; // Of the RTL's host.
  HostMemorySlave<Vhost_memory> slave_;
  hca::Counters counters_;
  ModelHost host_;
  ModelClock clock_;
  Events events_;
  hca::KickRecords records_;
  hca::QueuingStructures structures_;
  uint64_t now_ = 1;
  uint32_t consumed_[UNDERLYING_FUNCTIONS]{};
  std::vector<uint64_t> broken_;
  bool was_write_offered_ = false;
  bool was_read_offered_ = false;
  bool is_lost_[UNDERLYING_FUNCTIONS]{}; // A ring: an access of it has failed.
  std::vector<spec::EventUnit> faults_;
  size_t compared_faults_ = 0;
  uint32_t first_ = 0; // Records written when the ring began; dropped.
  uint32_t first_dropped_ = 0;
  uint32_t turned_out_ = 0;
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
