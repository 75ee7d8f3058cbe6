#pragma once

#include "bench.h"
#include "host_memory_slave.h"
#include "spec/enums.h"
#include "spec/queues.h"

#include <cstdint>
#include <map>
#include <vector>

namespace fpga_verbs::bench {

// The host's side of kick records: a ring per function in its memory, and the expected records of written
// commands. All commands are SENDs, identified by sequence number.
class KickRecordRings {
public:
  static constexpr uint32_t entries_log2 = 4;

  struct Told {
    uint32_t virtual_collect_buffer = 0;
    uint32_t queue_pair_number = 0;
    uint32_t length = 0;
    bool is_kicked = false;
    uint32_t kick_number = 0;
  };

  KickRecordRings(HostMemory& memory, const Place& place) : memory_(memory), place_(place) {}

  static uint64_t ring(uint32_t function) { return 0x12'3400'0000 + function * HostMemory::page_bytes; }
  static uint64_t head(uint32_t function) { return 0x12'3401'0000 + 8 * function; }

  void begin(uint32_t function) {
    taken_[function] = 0;
    const std::vector<uint8_t> zeros(spec::KickRecord::bytes << entries_log2);
    memory_.write(ring(function), zeros.data(), zeros.size());
  }

  void tell(uint16_t sequence_number, Told told) { told_[sequence_number] = told; }
  void forget() { told_.clear(); }
  size_t untold() const { return told_.size(); }

  // Reads the rings as a driver does: a record is valid if its phase is, and its entry is free once the head
  // has passed it.
  void read() {
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function) {
      uint32_t& taken = taken_[function];
      for (;;) {
        spec::KickRecord record;
        memory_.read(ring(function) + spec::KickRecord::bytes * (taken % (1 << entries_log2)), &record,
                     sizeof(record));
        if (record.phase() != (~(taken >> entries_log2) & 1) || record.type() == spec::KickRecordType::none)
          break;
        expect(place_, "sequence of a record", record.sequence(), taken);
        expect(place_, "function of a record", record.underlying_function(), function);
        check(record);
        ++taken;
      }
      spec::RingHead host;
      host.set_head(taken);
      memory_.write(head(function), &host, sizeof(host));
    }
  }

private:
  void check(const spec::KickRecord& record) {
    const auto found = told_.find(static_cast<uint16_t>(record.send_queue_sequence_number()));
    expect(place_, "a command that was written", found != told_.end(), 1);
    Told& told = found->second;
    expect(place_, "queue pair", record.queue_pair_number(), told.queue_pair_number);
    expect(place_, "length", record.length(), told.length);
    expect(place_, "opcode", record.opcode() == spec::Opcode::send, 1);
    expect(place_, "times", record.begin() <= record.end() && record.end() <= record.written(), 1);
    if (!told.is_kicked) {
      expect(place_, "first of a command", record.type() == spec::KickRecordType::kicked, 1);
      expect(place_, "VCB", record.virtual_collect_buffer(), told.virtual_collect_buffer);
      told.is_kicked = true;
      told.kick_number = record.kick_number();
      return;
    }
    expect(place_, "second of a command", record.type() == spec::KickRecordType::sent, 1);
    expect(place_, "kick number", record.kick_number(), told.kick_number);
    expect(place_, "lane", record.transmit_virtual_lane() < TRANSMIT_VIRTUAL_LANES, 1);
    told_.erase(found);
  }

  HostMemory& memory_;
  const Place& place_;
  std::map<uint16_t, Told> told_; // until the record of the end is read
  uint32_t taken_[UNDERLYING_FUNCTIONS]{};
};

} // namespace fpga_verbs::bench
