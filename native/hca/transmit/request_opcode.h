#pragma once

#include "spec/enums.h"

namespace fpga_verbs::hca {

// The OpCode of a request packet: of what a command asks for, and where in its message the packet stands. The
// service has the operation (InfiniBand volume 1, 9.2.1).
spec::PacketOpcode request_opcode(spec::ServiceType service, spec::Opcode opcode, bool first, bool last);

} // namespace fpga_verbs::hca
