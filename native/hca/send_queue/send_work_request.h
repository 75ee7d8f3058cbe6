#pragma once

#include "hca/collect/physical_collect_buffer.h"
#include "spec/commands.h"
#include "spec/contexts.h"
#include "spec/enums.h"
#include "spec/operations.h"

#include <cstdint>
#include <span>

namespace fpga_verbs::hca {

// A send work request in a PCB.

constexpr bool is_atomic(spec::Opcode opcode) {
  return spec::operation_of(opcode).ordering == spec::OperationOrdering::atomic;
}

constexpr bool is_read_or_atomic(spec::Opcode opcode) {
  return spec::operation_of(opcode).data == spec::OperationData::returned;
}

// The operation works on local keys and sends nothing.
constexpr bool is_local_operation(spec::Opcode opcode) {
  return spec::operation_of(opcode).ordering == spec::OperationOrdering::local;
}

// The message takes a receive work request of the peer.
constexpr bool takes_receive(spec::Opcode opcode) {
  const spec::Operation& operation = spec::operation_of(opcode);
  return !is_local_operation(opcode) && (operation.packets == spec::PacketOperation::send ||
                                         operation.carries == spec::OperationCarries::immediate_data);
}

// The gather list; for a READ or atomic, the scatter list of the answer.
inline std::span<const spec::GatherEntry> gather_list(const PhysicalCollectBuffer& pcb) {
  const spec::CommandHeader& header = pcb.header();
  const uint32_t entries = header.inline_data() != 0 ? 0 : header.length() / spec::GatherEntry::bytes;
  return {reinterpret_cast<const spec::GatherEntry*>(pcb.data.data() + spec::CommandHeader::bytes), entries};
}

// The payload of bind_memory_window.
const spec::BindEntry& binding_of(const PhysicalCollectBuffer& pcb);

// Bytes that the message carries: inline data, or the length of the list; 0 if nothing is sent.
inline uint64_t send_message_length(const PhysicalCollectBuffer& pcb) {
  if (is_local_operation(pcb.header().opcode()))
    return 0;
  if (pcb.header().inline_data() != 0)
    return pcb.header().length();
  uint64_t length = 0;
  for (const spec::GatherEntry& entry : gather_list(pcb))
    length += entry.length();
  return length;
}

// Whether its fields are consistent and its queue pair can execute it: success, or the status with which it
// completes (InfiniBand volume 1, 10.8.2 and 11.6.2).
spec::CompletionStatus check_send_work_request(const PhysicalCollectBuffer& pcb,
                                               const spec::QueuePairControl& control);

} // namespace fpga_verbs::hca
