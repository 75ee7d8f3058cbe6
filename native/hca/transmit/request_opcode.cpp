#include "hca/transmit/request_opcode.h"

#include "spec/packet_opcodes.h"

namespace fpga_verbs::hca {

// Inverts the table of all packet opcodes.
constexpr RequestOpcodes::RequestOpcodes() {
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
        table_[static_cast<unsigned>(traits.service)][command]
              [position(traits.begins_message(), traits.ends_message())] = static_cast<uint8_t>(value);
    }
    // A READ or atomic is one packet, wherever a retry resumes it.
    if (operation.data == spec::OperationData::returned)
      for (auto& of_service : table_)
        of_service[command].fill(of_service[command][position(true, true)]);
  }
}

constinit const RequestOpcodes request_opcodes;

} // namespace fpga_verbs::hca
