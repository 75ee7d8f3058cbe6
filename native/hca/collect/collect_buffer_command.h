#pragma once

#include "hca/collect/collect_buffer.h"
#include "spec/commands.h"

// The ends of a command's way through collect_buffer, in whatever pieces the command is written: its PCB, the
// check of its segment 0, its kick. Inlined into both ways.
namespace fpga_verbs::hca {

// The function that owns the VCB, unless the write came through another function's BAR.
inline bool CollectBuffer::may_write(const BarWrite& write) const {
  const uint8_t owner = functions_.owner(write.page).underlying_function;
  if (write.underlying_function != owner && write.underlying_function != BarWrite::any_function) [[unlikely]]
    return false;
  return owner != UnderlyingFunctionTable::no_function;
}

// A reduced division may promise PCBs that are not yet returned; then none is free.
inline uint16_t CollectBuffer::take_free(const UnderlyingFunctionTable::Owner& owner) {
  const size_t found = free_.find_first();
  if (found >= parameters_.physical_collect_buffers || !groups_.take(owner.underlying_function, owner.part))
    return no_buffer;
  free_.take_first();
  return static_cast<uint16_t>(found);
}

// Checks the fields of segment 0 that every command has: version, reserved bits, length.
inline spec::Refusal CollectBuffer::check_format(const spec::CommandHeader& segment_0) {
  using spec::Refusal;
  if (segment_0.version() != spec::command_version)
    return Refusal::unknown_version;
  if (!segment_0.reserved_is_zero())
    return Refusal::reserved_not_zero;
  if (segment_0.length() > spec::command_payload_bytes)
    return Refusal::length_over_maximum;
  return Refusal::none;
}

// Segment 0 decides whether a command is collected at all.
inline CollectBuffer::Admission CollectBuffer::admit(unsigned underlying_function,
                                                     const spec::CommandHeader& segment_0) {
  using spec::Refusal;
  const Refusal refusal = check_format(segment_0);
  if (refusal != Refusal::none)
    return {.refusal = refusal};
  const spec::QueuePairControl* control =
      queue_pairs_.find_control(underlying_function, segment_0.queue_pair_number());
  if (control == nullptr)
    return {.refusal = Refusal::unknown_queue_pair};
  if (control->quality_of_service_level() != segment_0.quality_of_service_level())
    return {.refusal = Refusal::wrong_quality_of_service_level};
  return {.checksum_secret = control->checksum_secret()};
}

inline spec::KickUnit CollectBuffer::kick_unit(spec::KickOrigin origin, unsigned underlying_function,
                                               const spec::CommandHeader& header, uint32_t kick_number) {
  spec::KickUnit unit;
  unit.set_underlying_function(underlying_function);
  unit.set_quality_of_service_level(header.quality_of_service_level());
  unit.set_origin(origin);
  unit.set_queue_pair_number(header.queue_pair_number());
  unit.set_send_queue_sequence_number(header.send_queue_sequence_number());
  unit.set_length(header.length());
  unit.set_kick_number(kick_number);
  return unit;
}

inline spec::KickUnit CollectBuffer::pass_on(uint16_t physical_collect_buffer, PhysicalCollectBuffer& pcb,
                                             std::optional<uint64_t> begin, uint8_t* record_place) {
  const uint64_t end = kick_records_.begin(pcb.underlying_function);
  const uint8_t function = pcb.underlying_function;
  pcb.state = spec::PhysicalCollectBufferState::kicked;
  pcb.kick_number = take_kick_number();
  const spec::CommandHeader& header = pcb.header();
  spec::KickUnit unit = kick_unit(spec::KickOrigin::collected, function, header, pcb.kick_number);
  unit.set_physical_collect_buffer(physical_collect_buffer);
  kick_records_.kicked(unit, pcb.virtual_collect_buffer, header.opcode(), begin.value_or(end), end,
                       record_place);
  kicks_collected_.push(unit);
  ++counters_.function[function].kicks;
  return unit;
}

} // namespace fpga_verbs::hca
