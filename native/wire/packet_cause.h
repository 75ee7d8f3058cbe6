#pragma once

#include "spec/enums.h"

#include <cstdint>

namespace fpga_verbs::wire {

enum class PacketOrigin : uint8_t {
  link,    // it came from another board
  command, // a request of a command of this board
  request, // this board's answer to a request
};

// The command or packet that caused a packet.
struct PacketCause {
  PacketOrigin origin = PacketOrigin::link;
  spec::Opcode opcode = spec::Opcode::send; // of the command
  uint16_t send_queue_sequence_number = 0;  // of the command
  uint32_t queue_pair_number = 0;           // of this board, that sends it
  uint32_t packet = 0;                      // of the command, from 0
};

} // namespace fpga_verbs::wire
