#pragma once

#include "spec/enums.h"
#include "spec/operations.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

// The OpCodes of request packets: by service, operation of the command, and position in the message.
class RequestOpcodes {
public:
  constexpr RequestOpcodes();

  spec::PacketOpcode of(spec::ServiceType service, spec::Opcode opcode, bool first, bool last) const {
    return static_cast<spec::PacketOpcode>(
        table_[static_cast<unsigned>(service)][static_cast<unsigned>(opcode)][position(first, last)]);
  }

private:
  static constexpr unsigned services = 4;
  static constexpr unsigned positions = 4;

  static constexpr unsigned position(bool first, bool last) { return unsigned{first} | unsigned{last} << 1; }

  std::array<std::array<std::array<uint8_t, positions>, spec::operation_opcodes>, services> table_{};
};

extern const RequestOpcodes request_opcodes;

// The OpCode of a request packet, from the command's operation and the packet's position in its message. The
// service must have the operation (InfiniBand volume 1, 9.2.1).
inline spec::PacketOpcode request_opcode(spec::ServiceType service, spec::Opcode opcode, bool first,
                                         bool last) {
  return request_opcodes.of(service, opcode, first, last);
}

} // namespace fpga_verbs::hca
