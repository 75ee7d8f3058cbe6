#pragma once

#include "spec/enums.h"
#include "spec/packets.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::hca {

using PacketOperation = spec::PacketOperation;

// Where in its message a packet stands.
enum class PacketPosition : uint8_t { first, middle, last, only };

// Extended transport headers, bits in wire order.
enum ExtendedHeader : uint8_t {
  datagram_header = 1 << 0,           // DETH
  rdma_header = 1 << 1,               // RETH
  atomic_header = 1 << 2,             // AtomicETH
  acknowledge_header = 1 << 3,        // AETH
  atomic_acknowledge_header = 1 << 4, // AtomicAckETH
  immediate_header = 1 << 5,          // ImmDt
  invalidate_header = 1 << 6,         // IETH
};

// What is the same for all packets of an opcode (InfiniBand volume 1, 9.2.1 and table 38).
struct PacketOpcodeTraits {
  bool is_known = false;
  spec::ServiceType service = spec::ServiceType::reliable_connection; // a CNP has none
  PacketOperation operation = PacketOperation::send;
  PacketPosition position = PacketPosition::only;
  uint8_t extended_headers = 0; // of ExtendedHeader
  uint8_t extended_bytes = 0;   // of these headers
  bool has_payload = false;     // may have one; first and middle fill the path MTU, a last has at least 1 B

  constexpr bool has(ExtendedHeader header) const { return (extended_headers & header) != 0; }
  // First or only: a message begins.
  constexpr bool begins_message() const {
    return position == PacketPosition::first || position == PacketPosition::only;
  }
  // Last or only: a message ends.
  constexpr bool ends_message() const {
    return position == PacketPosition::last || position == PacketPosition::only;
  }
  // It answers a request: for the requester, not the responder.
  constexpr bool is_response() const {
    return operation == PacketOperation::rdma_read_response || operation == PacketOperation::acknowledge ||
           operation == PacketOperation::atomic_acknowledge;
  }
  // It takes a receive work request: it ends a SEND, or an RDMA WRITE with immediate.
  constexpr bool completes_receive() const {
    return ends_message() && (operation == PacketOperation::send ||
                              (operation == PacketOperation::rdma_write && has(immediate_header)));
  }
};

// By opcode.
extern const std::array<PacketOpcodeTraits, 256> packet_opcodes;

inline const PacketOpcodeTraits& traits_of(spec::PacketOpcode opcode) {
  return packet_opcodes[static_cast<uint8_t>(opcode)];
}

} // namespace fpga_verbs::hca
