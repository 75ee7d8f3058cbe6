#include "hca/collect/kick_records.h"

#include "hca/base/store_line.h"
#include "hca/collect/physical_collect_buffer.h"

namespace fpga_verbs::hca {

namespace {

constexpr unsigned entries_log2_maximum = 16;
constexpr uint8_t no_lane = 0xff;
constexpr uint32_t nearly_full = 8; // an eighth of the ring is left

} // namespace

KickRecords::KickRecords(Counters& counters, HostPort& host, const Clock& clock, EventPort& events)
    : counters_(counters), host_(host), clock_(clock), events_(events) {}

void KickRecords::set_control(unsigned underlying_function,
                              spec::underlying_function::KickRecordControl control) {
  Ring& ring = rings_[underlying_function];
  if (control.entries_log2() > entries_log2_maximum)
    control.set_enable(0);
  if (underlying_function != control_function)
    control.set_all_functions(0);
  ring = {.control = control, .address = ring.address, .head_address = ring.head_address};
  follow_control(underlying_function);
}

void KickRecords::follow_control(unsigned underlying_function) {
  const auto control = rings_[underlying_function].control;
  const bool is_enabled = control.enable() != 0;
  set(underlying_function, ring_on, is_enabled);
  if (underlying_function != control_function)
    return;
  for (unsigned function = 0; function < on_.size(); ++function)
    set(function, gathered, is_enabled && control.all_functions() != 0 && function != control_function);
}

void KickRecords::watch(WatchPort* port, uint32_t functions) {
  watch_ = port;
  for (unsigned function = 0; function < on_.size(); ++function)
    set(function, watched, (functions >> function & 1) != 0);
}

// One function for each type, and the start time as the caller has it: less to pass and to test for each
// record.
template <spec::KickRecordType type, typename Begin>
void KickRecords::write(const spec::KickUnit& unit, uint16_t virtual_collect_buffer, spec::Opcode opcode,
                        Begin begin, uint8_t* place) {
  const uint64_t end = clock_.now();
  const unsigned function = unit.underlying_function();
  constexpr bool kicked = type == spec::KickRecordType::kicked;
  const bool has_buffer = unit.origin() != spec::KickOrigin::send_queue_mode;

  spec::KickRecord record;
  record.set_type(type);
  record.set_underlying_function(function);
  record.set_quality_of_service_level(unit.quality_of_service_level());
  record.set_origin(unit.origin());
  record.set_status(unit.status());
  record.set_kick_number(unit.kick_number());
  record.set_virtual_collect_buffer(virtual_collect_buffer);
  record.set_physical_collect_buffer(has_buffer ? unit.physical_collect_buffer() : no_buffer);
  record.set_transmit_virtual_lane(kicked ? no_lane : unit.transmit_virtual_lane());
  record.set_opcode(opcode);
  record.set_send_queue_sequence_number(unit.send_queue_sequence_number());
  record.set_queue_pair_number(unit.queue_pair_number());
  record.set_length(unit.length());
  if constexpr (kicked)
    record.set_begin(begin.value_or(end));
  else
    record.set_begin(begin);
  record.set_end(end);
  record.set_written(end); // in the same unit of work
  if ((on_[function] & watched) != 0)
    watch_->kick_record(record);
  if ((on_[function] & (ring_on | gathered)) != 0)
    write_to_rings(function, record, place);
}

template void KickRecords::write<spec::KickRecordType::kicked>(const spec::KickUnit&, uint16_t, spec::Opcode,
                                                               std::optional<uint64_t>, uint8_t*);
template void KickRecords::write<spec::KickRecordType::sent>(const spec::KickUnit&, uint16_t, spec::Opcode,
                                                             uint64_t, uint8_t*);

void KickRecords::write_to_rings(unsigned underlying_function, spec::KickRecord& record, uint8_t* place) {
  if (has_ring(underlying_function))
    write_to_ring(underlying_function, record, place);
  if ((on_[underlying_function] & gathered) != 0)
    write_to_ring(control_function, record, nullptr);
}

void KickRecords::write_to_ring(unsigned underlying_function, spec::KickRecord& record, uint8_t* place) {
  Ring& ring = rings_[underlying_function];
  const uint32_t entries = ring.entries();
  const bool is_nearly_full = ring.tail - ring.head >= entries - entries / nearly_full;
  if (is_nearly_full && !has_room_by_head(underlying_function)) [[unlikely]] {
    drop(underlying_function);
    return;
  }
  record.set_dropped(ring.dropped);
  record.set_phase(~(ring.tail >> ring.control.entries_log2()) & 1);
  record.set_sequence(ring.tail);
  if (place != nullptr) {
    store_line_in_order(place, record.dwords);
  } else if (const uint64_t address = ring.next_address();
             !write_by_dma(underlying_function, address, record)) {
    fault(underlying_function, address);
    drop(underlying_function);
    return;
  }
  ++ring.tail;
  ++counters_.function[underlying_function].kick_records_written;
}

// The record by value, because the stored one may not be in memory.
bool KickRecords::write_by_dma(unsigned underlying_function, uint64_t address,
                               const spec::KickRecord record) {
  return host_.write(underlying_function, address, &record, sizeof(record)) == DmaStatus::ok;
}

// Reads the host's head again only when the copy says that the ring is nearly full.
bool KickRecords::has_room_by_head(unsigned underlying_function) {
  Ring& ring = rings_[underlying_function];
  spec::RingHead head;
  if (host_.read(underlying_function, ring.head_address, &head, sizeof(head)) != DmaStatus::ok) {
    fault(underlying_function, ring.head_address);
    return false;
  }
  ring.head = head.head();
  return ring.tail - ring.head < ring.entries();
}

void KickRecords::drop(unsigned underlying_function) {
  ++rings_[underlying_function].dropped;
  ++counters_.function[underlying_function].kick_records_dropped;
}

void KickRecords::fault(unsigned underlying_function, uint64_t address) {
  rings_[underlying_function].control.set_enable(0);
  follow_control(underlying_function);
  ++counters_.function[underlying_function].dma_faults;
  spec::EventUnit event;
  event.set_type(spec::EventType::dma_fault);
  event.set_underlying_function(underlying_function);
  event.set_detail(address);
  events_.report(event);
}

} // namespace fpga_verbs::hca
