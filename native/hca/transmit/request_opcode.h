#pragma once

#include "spec/enums.h"

namespace fpga_verbs::hca {

// The OpCode of a request packet, from the command's operation and the packet's position in its message. The
// service must have the operation (InfiniBand volume 1, 9.2.1).
spec::PacketOpcode request_opcode(spec::ServiceType service, spec::Opcode opcode, bool first, bool last);

} // namespace fpga_verbs::hca
