#include "hca/transmit/request_opcode.h"

#include "spec/operations.h"
#include "spec/packet_opcodes.h"

#include <array>
#include <cassert>

namespace fpga_verbs::hca {

namespace {

constexpr unsigned services = 4;
constexpr unsigned positions = 4; // of spec::PacketPosition

using Positions = std::array<uint8_t, positions>;
using Table = std::array<std::array<Positions, spec::operation_opcodes>, services>;

// Inverts the table of all packet opcodes.
constexpr Table make_table() {
  Table table{};
  for (unsigned command = 0; command < spec::operation_opcodes; ++command) {
    const spec::Operation& operation = spec::operations[command];
    if (!operation.exists || operation.ordering == spec::OperationOrdering::local)
      continue;
    for (unsigned value = 0; value < spec::packet_opcodes.size(); ++value) {
      const spec::PacketOpcodeTraits& traits = spec::packet_opcodes[value];
      const spec::OperationCarries carries =
          traits.ends_message() ? operation.carries : spec::OperationCarries::nothing;
      if (traits.is_known && traits.operation == operation.packets &&
          traits.has(spec::ExtendedHeader::immediate) ==
              (carries == spec::OperationCarries::immediate_data) &&
          traits.has(spec::ExtendedHeader::invalidate) ==
              (carries == spec::OperationCarries::invalidated_key))
        table[static_cast<unsigned>(traits.service)][command][static_cast<unsigned>(traits.position)] =
            static_cast<uint8_t>(value);
    }
  }
  return table;
}

} // namespace

spec::PacketOpcode request_opcode(spec::ServiceType service, spec::Opcode opcode, bool first, bool last) {
  static constexpr Table table = make_table();
  const spec::PacketPosition position =
      first ? (last ? spec::PacketPosition::only : spec::PacketPosition::first)
            : (last ? spec::PacketPosition::last : spec::PacketPosition::middle);
  const Positions& packets = table[static_cast<unsigned>(service)][static_cast<unsigned>(opcode)];
  // A READ or atomic is one packet, wherever a retry resumes it.
  const bool is_one_packet = packets[static_cast<unsigned>(spec::PacketPosition::first)] == 0 &&
                             spec::operation_of(opcode).packets != spec::PacketOperation::send;
  return static_cast<spec::PacketOpcode>(
      packets[static_cast<unsigned>(is_one_packet ? spec::PacketPosition::only : position)]);
}

} // namespace fpga_verbs::hca
