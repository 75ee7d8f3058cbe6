// hca_board as a host sees it: commands of every length arrive by AXI, one after the other. Each must end, so
// that no PCB or credit is lost, and produce two kick records. Before that, queue pairs pass through a
// queuing structure. Arguments: seed, commands.
//
// The shape (BEAT_BYTES and the other parameters) is passed to Verilator and, by the same names, to this
// file.
#include "Vhca_board.h"
#include "axi_host.h"
#include "bench.h"
#include "host_memory_slave.h"
#include "spec/commands.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <verilated.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace fpga_verbs::bench {
namespace {

constexpr uint32_t control_region = 0x10000;
constexpr uint32_t function_pages = 0x20000;
constexpr uint64_t rings = 0x8000'0000;
constexpr uint32_t entries_log2 = 10; // of a ring: room for all records
constexpr uint64_t structures = 0x13'0000'0000;
constexpr auto opcode = spec::Opcode::rdma_write;

class Bench : public AxiHost<Bench> {
public:
  explicit Bench(uint64_t seed)
      : random_(seed), place_{.seed = seed}, slave_(rtl_, memory_, random_, place_) {
    begin();
  }

  int run(uint32_t commands) {
    expect(place_, "magic", read(spec::identity::magic), spec::identity::magic_reset);
    spec::control::Control control;
    control.set_enable(1);
    write(control_region + spec::control::control, control.bits);
    queue();
    const uint32_t kicks_before = read(page(0) + spec::underlying_function::kicks);
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      begin_ring(function);
    for (uint32_t number = 0; number < commands; ++number) {
      send(number);
      for (unsigned clock = 0; clock < clock_limit && ended_ <= number; ++clock)
        step();
      expect(place_, "commands ended", ended_, number + 1);
    }
    steps(clock_limit);
    uint32_t kicks = 0;
    uint32_t records = 0;
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function) {
      kicks += read(page(function) + spec::underlying_function::kicks);
      records += read(page(function) + spec::underlying_function::kick_records_written);
      read_records(function);
    }
    expect(place_, "kicks counted", kicks, kicks_before + commands);
    expect(place_, "records written", records, 2 * commands);
    expect(place_, "records of kicks", kicked_.size(), commands);
    expect(place_, "records of ends", sent_, commands);
    std::printf("%u commands\n", commands);
    return 0;
  }

  Vhca_board& rtl() { return rtl_; }
  const Place& place() const { return place_; }

  void begin_clock() {
    slave_.drive();
    rtl_.clock = 0;
    rtl_.eval();
  }

  void end_clock() {
    ended_ += rtl_.command_ended;
    taken_ += rtl_.queue_pair_taken;
    slave_.take([](uint64_t, uint32_t) {});
    rtl_.clock = 1;
    rtl_.eval();
    slave_.settle();
    ++place_.clock;
  }

private:
  static uint32_t page(uint32_t function) {
    return function_pages + function * uint32_t{spec::underlying_function::bytes};
  }
  static uint64_t ring(uint32_t function) {
    return rings + function * (spec::KickRecord::bytes << entries_log2);
  }

  // A queue pair whose doorbell is rung, and one whose command finds no PCB, enter the queuing structure of
  // their function and return. Without a structure, or for a stop doorbell, none enters.
  void queue() {
    const uint32_t vcb = VIRTUAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS; // the first of function 1
    const uint64_t bursts = slave_.bursts();
    ring_doorbell(vcb, spec::DoorbellSlot::start, 1);
    expect(place_, "accesses without a queuing structure", slave_.bursts(), bursts);
    spec::underlying_function::QueuingStructureSize size;
    size.set_entries_log2(1);
    write(page(1) + spec::underlying_function::queuing_structure_size, size.bits);
    write(page(1) + spec::underlying_function::queuing_structure_address + 4, structures >> 32);
    for (uint32_t number = 0; number < 6; ++number) {
      ring_doorbell(vcb, spec::DoorbellSlot::start, number % QUEUE_PAIRS);
      expect_queued(number, number % QUEUE_PAIRS);
    }
    ring_doorbell(vcb, spec::DoorbellSlot::stop, 0);
    // No queue pair has this number: refused, and the VCB enters the error state.
    ring_doorbell(vcb, spec::DoorbellSlot::start, QUEUE_PAIRS);
    expect(place_, "queue pairs taken", taken_, 6);
    cancel(vcb);
    // Function 1 has one PCB.
    write_burst(vcb * uint32_t{spec::virtual_collect_buffer_stride} + 8, std::array<uint8_t, 8>{}.data(), 8,
                8);
    send_to(vcb + 1, command(0, QUEUE_PAIRS - 1, 256));
    steps(clock_limit);
    expect_queued(6, QUEUE_PAIRS - 1);
    expect(place_, "commands ended", ended_, 0);
    cancel(vcb);
  }

  void ring_doorbell(uint32_t vcb, spec::DoorbellSlot slot, uint32_t queue_pair) {
    spec::DoorbellSlotWrite ring;
    ring.set_queue_pair_number(queue_pair);
    write_burst(vcb * uint32_t{spec::virtual_collect_buffer_stride} + spec::doorbell_slots_offset +
                    static_cast<uint32_t>(slot) * 8,
                reinterpret_cast<const uint8_t*>(&ring), sizeof(ring), 8);
    steps(clock_limit);
  }

  void expect_queued(uint32_t sequence, uint32_t queue_pair) {
    spec::QueuingStructureEntry entry;
    memory_.read(structures + sequence % 2 * sizeof(entry), &entry, sizeof(entry));
    expect(place_, "sequence of an entry", entry.sequence(), sequence);
    expect(place_, "queue pair of an entry", entry.queue_pair_number(), queue_pair);
    expect(place_, "queue pairs taken", taken_, sequence + 1);
  }

  void cancel(uint32_t vcb) {
    spec::control::CancelVirtualCollectBuffer cancel;
    cancel.set_virtual_collect_buffer(vcb);
    write(control_region + spec::control::cancel_virtual_collect_buffer, cancel.bits);
  }

  void begin_ring(uint32_t function) {
    write(page(function) + spec::underlying_function::kick_record_address,
          static_cast<uint32_t>(ring(function)));
    spec::underlying_function::KickRecordControl control;
    control.set_enable(1);
    control.set_entries_log2(entries_log2);
    write(page(function) + spec::underlying_function::kick_record_control, control.bits);
  }

  void read_records(uint32_t function) {
    const uint32_t written = read(page(function) + spec::underlying_function::kick_records_written);
    for (uint32_t number = 0; number < written; ++number) {
      spec::KickRecord record;
      memory_.read(ring(function) + uint64_t{number} * sizeof(record), &record, sizeof(record));
      expect(place_, "opcode", static_cast<uint8_t>(record.opcode()), static_cast<uint8_t>(opcode));
      expect(place_, "times", record.begin() < record.end() && record.end() < record.written(), 1);
      if (record.type() == spec::KickRecordType::kicked) {
        kicked_.insert(record.kick_number());
        continue;
      }
      expect(place_, "a kick that was told", kicked_.contains(record.kick_number()), 1);
      ++sent_;
    }
  }

  void send(uint32_t number) {
    const uint32_t length = random_.below(spec::command_payload_bytes + 1);
    const spec::CommandHeader header = command(number, random_.below(QUEUE_PAIRS), length);
    send_to(random_.below(VIRTUAL_COLLECT_BUFFERS), header);
  }

  static spec::CommandHeader command(uint32_t number, uint32_t queue_pair, uint32_t length) {
    spec::CommandHeader header;
    header.set_queue_pair_number(queue_pair);
    header.set_send_queue_sequence_number(static_cast<uint16_t>(number));
    header.set_length(length);
    header.set_version(spec::command_version);
    header.set_opcode(opcode);
    return header;
  }

  // The payload is zeros.
  void send_to(uint32_t vcb, const spec::CommandHeader& header) {
    std::array<uint8_t, spec::command_bytes> bytes{};
    std::memcpy(bytes.data(), &header, sizeof(header));
    const uint32_t whole = spec::CommandHeader::bytes + (header.length() + 7) / 8 * 8;
    write_burst(vcb * uint32_t{spec::virtual_collect_buffer_stride}, bytes.data(), whole, BEAT_BYTES);
  }

  Vhca_board rtl_;
  Random random_;
  Place place_;
  HostMemory memory_;
  HostMemorySlave<Vhca_board> slave_;
  uint32_t ended_ = 0;
  uint32_t taken_ = 0;
  std::set<uint32_t> kicked_; // kick numbers that a record has reported
  uint32_t sent_ = 0;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  const uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  const uint32_t commands = count > 2 ? static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)) : 400;
  fpga_verbs::bench::Bench bench(seed);
  const fpga_verbs::bench::Coverage coverage;
  return bench.run(commands);
}
