#include "hca/send_queue/send_work_request.h"

#include "hca/base/packet_sequence_number.h"
#include "hca/queue_pair/transport_context.h"

namespace fpga_verbs::hca {

namespace {

using spec::CompletionStatus;
using spec::Opcode;
using spec::ServiceType;

constexpr uint32_t atomic_bytes = 8;

// Inline data is not a list, and only sent data can be inline.
bool has_sound_list(const spec::CommandHeader& header) {
  if (is_local_operation(header.opcode())) {
    const uint32_t bytes = header.opcode() == Opcode::bind_memory_window ? spec::BindEntry::bytes : 0;
    return header.inline_data() == 0 && header.gather_count() == 0 && header.length() == bytes;
  }
  if (header.inline_data() != 0)
    return header.gather_count() == 0 && !is_read_or_atomic(header.opcode());
  return header.gather_count() * spec::GatherEntry::bytes == header.length();
}

} // namespace

const spec::BindEntry& binding_of(const PhysicalCollectBuffer& pcb) {
  return *reinterpret_cast<const spec::BindEntry*>(pcb.data.data() + spec::CommandHeader::bytes);
}

spec::CompletionStatus check_send_work_request(const PhysicalCollectBuffer& pcb,
                                               const spec::QueuePairControl& control) {
  const spec::CommandHeader& header = pcb.header();
  const Opcode opcode = header.opcode();
  if (!spec::operation_of(opcode).is_of(control.service_type()) || !has_sound_list(header) ||
      (is_read_or_atomic(opcode) && TransportPath(control).initiator_depth() == 0))
    return CompletionStatus::local_queue_pair_operation_error;
  const uint64_t length = pcb.execution.message_length;
  // A datagram is one packet.
  const uint64_t most = control.service_type() == ServiceType::unreliable_datagram
                            ? TransportPath(control).mtu_bytes()
                            : spec::message_bytes_maximum;
  if (length > most || (is_atomic(opcode) && length != atomic_bytes))
    return CompletionStatus::local_length_error;
  return CompletionStatus::success;
}

} // namespace fpga_verbs::hca
