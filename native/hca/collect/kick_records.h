#pragma once

#include "hca/base/clock.h"
#include "hca/base/counters.h"
#include "hca/base/event_port.h"
#include "hca/base/host_port.h"
#include "hca/base/store_line.h"
#include "hca/base/watch_port.h"
#include "hca/collect/physical_collect_buffer.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/queues.h"
#include "spec/registers.h"

#include <array>
#include <cstdint>
#include <optional>

namespace fpga_verbs::hca {

// Writes kick records into a ring of each function in host memory; that of the control function can have the
// records of all functions. A full ring drops and counts records and never stalls the device. A ring that DMA
// cannot reach is switched off, with one event. Observers get the records of the functions that they watch,
// even if the rings are off. When off, it costs one test.
class KickRecords {
public:
  KickRecords(Counters& counters, HostPort& host, const Clock& clock, EventPort& events);

  // The function's registers with the same names. Writing kick_record_control restarts the ring; more than
  // 2^16 entries leave it off.
  void set_control(unsigned underlying_function, spec::underlying_function::KickRecordControl control);
  spec::underlying_function::KickRecordControl control(unsigned underlying_function) const {
    return rings_[underlying_function].control;
  }
  void set_address(unsigned underlying_function, uint64_t address) {
    rings_[underlying_function].address = address;
  }
  uint64_t address(unsigned underlying_function) const { return rings_[underlying_function].address; }
  void set_head_address(unsigned underlying_function, uint64_t address) {
    rings_[underlying_function].head_address = address;
  }
  uint64_t head_address(unsigned underlying_function) const {
    return rings_[underlying_function].head_address;
  }

  // The time for a record of the function, in clock ticks; 0 while its records are off.
  uint64_t begin(unsigned underlying_function) const { return is_on(underlying_function) ? clock_.now() : 0; }

  // This write may kick a command of the function: prepares the place of its record. Returns the place, for
  // kicked(), or null: the record is written with HostPort::write.
  uint8_t* expect(unsigned underlying_function) {
    return has_ring(underlying_function)
               ? host_.expect_line(underlying_function, rings_[underlying_function].next_address())
               : nullptr;
  }

  // Records a kick; no lane is chosen yet. `begin`: time of the first write; `end`: of the kick, by begin().
  // `place`: the result of expect(), or null: not called yet.
  [[gnu::always_inline]] inline void kicked(const spec::KickUnit& unit, uint16_t virtual_collect_buffer,
                                            spec::Opcode opcode, uint64_t begin, uint64_t end,
                                            uint8_t* place);
  // The same of a kick now; without `begin` it is the first write itself.
  void kicked(const spec::KickUnit& unit, uint16_t virtual_collect_buffer, spec::Opcode opcode,
              std::optional<uint64_t> begin);

  // Records that the last packet of a command leaves. `begin`: start of its execution, in clock ticks.
  void sent(const spec::KickUnit& unit, uint16_t virtual_collect_buffer, spec::Opcode opcode,
            uint64_t begin) {
    if (is_on(unit.underlying_function()))
      write_sent(unit, virtual_collect_buffer, opcode, begin);
  }

  // Passes the records of functions, one bit each, to a port as well.
  void watch(WatchPort* port, uint32_t functions);

  // Switches the ring of a function off and clears its address.
  void reset_function(unsigned underlying_function) {
    rings_[underlying_function] = {};
    follow_control(underlying_function);
  }

private:
  // A cache line each: what a record needs of its ring.
  struct alignas(64) Ring {
    spec::underlying_function::KickRecordControl control;
    uint64_t address = 0;      // DMA address of the ring
    uint64_t head_address = 0; // DMA address of the host's head
    uint32_t tail = 0;         // records written, modulo 2^32
    uint32_t head = 0;         // the host's, as of the last time it was read
    uint32_t dropped = 0;      // records dropped since the ring began
    uint32_t entries = 1;      // as `control` says
    uint32_t many = 1;         // from so many records on the ring is nearly full

    uint64_t next_address() const {
      const uint32_t slot = tail & (entries - 1);
      return address + uint64_t{slot} * spec::KickRecord::bytes;
    }
  };

  // Bits of what is on for a function.
  static constexpr uint8_t ring_on = 1;
  static constexpr uint8_t watched = 2;
  static constexpr uint8_t gathered = 4; // into the ring of the control function, by another function
  static constexpr unsigned control_function = 0;

  bool is_on(unsigned underlying_function) const { return on_[underlying_function] != 0; }
  bool has_ring(unsigned underlying_function) const { return (on_[underlying_function] & ring_on) != 0; }
  void set(unsigned underlying_function, uint8_t bit, bool on) {
    uint8_t& bits = on_[underlying_function];
    bits = static_cast<uint8_t>((bits & ~bit) | (on ? bit : 0));
  }
  // Takes what a function's control says of its ring.
  void follow_control(unsigned underlying_function);
  [[gnu::always_inline]] inline void write(unsigned underlying_function, spec::KickRecord& record,
                                           uint8_t* place);
  [[gnu::always_inline]] inline void write_to_ring(unsigned underlying_function, spec::KickRecord& record,
                                                   uint8_t* place);
  // The record by value: the one that is stored at its place is not in memory before.
  void write_everywhere(spec::KickRecord record, uint8_t* place);
  bool write_by_dma(unsigned underlying_function, spec::KickRecord record);
  void write_sent(const spec::KickUnit& unit, uint16_t virtual_collect_buffer, spec::Opcode opcode,
                  uint64_t begin);
  [[gnu::always_inline]] static inline spec::KickRecord record_of(spec::KickRecordType type,
                                                                  const spec::KickUnit& unit,
                                                                  uint16_t virtual_collect_buffer,
                                                                  spec::Opcode opcode, uint64_t end);
  bool has_room_by_head(unsigned underlying_function);
  void drop(unsigned underlying_function);
  void fault(unsigned underlying_function, uint64_t address);

  Counters& counters_;
  HostPort& host_;
  const Clock& clock_;
  EventPort& events_;
  WatchPort* watch_ = nullptr;
  std::array<uint8_t, spec::underlying_functions> on_{}; // by function
  std::array<Ring, spec::underlying_functions> rings_{};
};

// The fields that the records of both types have in common.
inline spec::KickRecord KickRecords::record_of(spec::KickRecordType type, const spec::KickUnit& unit,
                                               uint16_t virtual_collect_buffer, spec::Opcode opcode,
                                               uint64_t end) {
  const bool has_buffer = unit.origin() != spec::KickOrigin::send_queue_mode;
  spec::KickRecord record;
  record.set_type(type);
  record.set_underlying_function(unit.underlying_function());
  record.set_quality_of_service_level(unit.quality_of_service_level());
  record.set_origin(unit.origin());
  record.set_status(unit.status());
  record.set_kick_number(unit.kick_number());
  record.set_virtual_collect_buffer(virtual_collect_buffer);
  record.set_physical_collect_buffer(has_buffer ? unit.physical_collect_buffer() : no_buffer);
  record.set_opcode(opcode);
  record.set_send_queue_sequence_number(unit.send_queue_sequence_number());
  record.set_queue_pair_number(unit.queue_pair_number());
  record.set_length(unit.length());
  record.set_end(end);
  record.set_written(end); // in the same unit of work
  return record;
}

inline void KickRecords::kicked(const spec::KickUnit& unit, uint16_t virtual_collect_buffer,
                                spec::Opcode opcode, uint64_t begin, uint64_t end, uint8_t* place) {
  constexpr uint8_t no_lane = 0xff;
  const unsigned function = unit.underlying_function();
  if (!is_on(function))
    return;
  spec::KickRecord record =
      record_of(spec::KickRecordType::kicked, unit, virtual_collect_buffer, opcode, end);
  record.set_transmit_virtual_lane(no_lane);
  record.set_begin(begin);
  write(function, record, place);
}

inline void KickRecords::write(unsigned underlying_function, spec::KickRecord& record, uint8_t* place) {
  if (on_[underlying_function] == ring_on) [[likely]] {
    write_to_ring(underlying_function, record, place != nullptr ? place : expect(underlying_function));
  } else if (on_[underlying_function] == watched) {
    const spec::KickRecord seen = record; // a copy, so that the record above need not be in memory
    watch_->kick_record(seen);
  } else {
    write_everywhere(record, place);
  }
}

inline void KickRecords::write_to_ring(unsigned underlying_function, spec::KickRecord& record,
                                       uint8_t* place) {
  Ring& ring = rings_[underlying_function];
  if (ring.tail - ring.head >= ring.many && !has_room_by_head(underlying_function)) [[unlikely]] {
    drop(underlying_function);
    return;
  }
  record.set_dropped(ring.dropped);
  record.set_phase((ring.tail & ring.entries) == 0 ? 1 : 0);
  record.set_sequence(ring.tail);
  if (place != nullptr) [[likely]]
    store_line_in_order(place, record.dwords);
  else if (!write_by_dma(underlying_function, record))
    return;
  ++ring.tail;
  ++counters_.function[underlying_function].kick_records_written;
}

} // namespace fpga_verbs::hca
