#include "hca/collect/kick_records.h"

namespace fpga_verbs::hca {

namespace {

constexpr unsigned entries_log2_maximum = 16;

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
  constexpr uint32_t part_left = 8; // of a ring that is nearly full: one of eight
  const uint32_t entries = uint32_t{1} << (control.enable() != 0 ? control.entries_log2() : 0);
  ring = {.control = control,
          .address = ring.address,
          .head_address = ring.head_address,
          .entries = entries,
          .many = entries - entries / part_left};
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

void KickRecords::kicked(const spec::KickUnit& unit, uint16_t virtual_collect_buffer, spec::Opcode opcode,
                         std::optional<uint64_t> begin) {
  const uint64_t end = this->begin(unit.underlying_function());
  kicked(unit, virtual_collect_buffer, opcode, begin.value_or(end), end, nullptr);
}

void KickRecords::write_sent(const spec::KickUnit& unit, uint16_t virtual_collect_buffer, spec::Opcode opcode,
                             uint64_t begin) {
  spec::KickRecord record =
      record_of(spec::KickRecordType::sent, unit, virtual_collect_buffer, opcode, clock_.now());
  record.set_transmit_virtual_lane(unit.transmit_virtual_lane());
  record.set_begin(begin);
  write(unit.underlying_function(), record, nullptr);
}

void KickRecords::write_everywhere(spec::KickRecord record, uint8_t* place) {
  const unsigned function = record.underlying_function();
  const uint8_t on = on_[function];
  if ((on & watched) != 0)
    watch_->kick_record(record);
  if ((on & ring_on) != 0)
    write_to_ring(function, record, place);
  if ((on & gathered) != 0)
    write_to_ring(control_function, record, nullptr);
}

bool KickRecords::write_by_dma(unsigned underlying_function, spec::KickRecord record) {
  const uint64_t address = rings_[underlying_function].next_address();
  if (host_.write(underlying_function, address, &record, sizeof(record)) == DmaStatus::ok)
    return true;
  fault(underlying_function, address);
  drop(underlying_function);
  return false;
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
  return ring.tail - ring.head < ring.entries;
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
