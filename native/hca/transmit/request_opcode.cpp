#include "hca/transmit/request_opcode.h"

#include "wire/packet_opcodes.h"

#include <array>
#include <cassert>

namespace fpga_verbs::hca {

namespace {

constexpr unsigned services = 4;
constexpr unsigned operations = 16; // commands' opcodes
constexpr unsigned positions = 4;   // of PacketPosition

using Positions = std::array<uint8_t, positions>;
using Table = std::array<std::array<Positions, operations>, services>;

PacketOperation operation_of(spec::Opcode opcode) {
  switch (opcode) {
  case spec::Opcode::rdma_write:
  case spec::Opcode::rdma_write_with_immediate:
    return PacketOperation::rdma_write;
  case spec::Opcode::rdma_read:
    return PacketOperation::rdma_read_request;
  case spec::Opcode::atomic_compare_and_swap:
    return PacketOperation::compare_and_swap;
  case spec::Opcode::atomic_fetch_and_add:
    return PacketOperation::fetch_and_add;
  default:
    return PacketOperation::send;
  }
}

bool has_immediate(spec::Opcode opcode) {
  return opcode == spec::Opcode::send_with_immediate || opcode == spec::Opcode::rdma_write_with_immediate;
}

// Turns the table of all packet opcodes round.
Table make_table() {
  Table table{};
  for (unsigned command = 1; command <= static_cast<unsigned>(spec::Opcode::atomic_fetch_and_add); ++command)
    for (unsigned value = 0; value < packet_opcodes.size(); ++value) {
      const PacketOpcodeTraits& traits = packet_opcodes[value];
      const auto opcode = static_cast<spec::Opcode>(command);
      const bool immediate = has_immediate(opcode) && traits.ends_message();
      const bool invalidate = opcode == spec::Opcode::send_with_invalidate && traits.ends_message();
      if (traits.is_known && traits.operation == operation_of(opcode) &&
          traits.has(immediate_header) == immediate && traits.has(invalidate_header) == invalidate)
        table[static_cast<unsigned>(traits.service)][command][static_cast<unsigned>(traits.position)] =
            static_cast<uint8_t>(value);
    }
  return table;
}

} // namespace

spec::PacketOpcode request_opcode(spec::ServiceType service, spec::Opcode opcode, bool first, bool last) {
  static const Table table = make_table();
  const PacketPosition position = first ? (last ? PacketPosition::only : PacketPosition::first)
                                        : (last ? PacketPosition::last : PacketPosition::middle);
  const Positions& packets = table[static_cast<unsigned>(service)][static_cast<unsigned>(opcode)];
  // A READ or atomic is one packet, wherever a retry resumes it.
  const bool is_one_packet = packets[static_cast<unsigned>(PacketPosition::first)] == 0 &&
                             operation_of(opcode) != PacketOperation::send;
  return static_cast<spec::PacketOpcode>(
      packets[static_cast<unsigned>(is_one_packet ? PacketPosition::only : position)]);
}

} // namespace fpga_verbs::hca
