#pragma once

#include "spec/enums.h"
#include "spec/packets.h"
#include "wire/packet_template.h"

#include <cstdint>
#include <span>

// The headers of packets. They are written to end where the payload begins, at spec::packet_headroom of a
// packet buffer, so that the payload can be there first.
namespace fpga_verbs::wire {

// The fields of a packet that differ from one to the next. Of those of extended headers count those that the
// opcode has (wire/spec::packet_opcodes.h).
struct PacketFields {
  spec::PacketOpcode opcode{};
  bool solicited_event = false;
  bool acknowledge_request = false;
  uint32_t packet_sequence_number = 0;

  uint64_t virtual_address = 0;         // RETH, AtomicETH
  uint32_t remote_key = 0;              // RETH, AtomicETH, IETH
  uint32_t dma_length = 0;              // RETH
  uint64_t swap_add = 0;                // AtomicETH
  uint64_t compare = 0;                 // AtomicETH
  uint64_t original_data = 0;           // AtomicAckETH
  uint32_t message_sequence_number = 0; // AETH
  uint8_t syndrome = 0;                 // AETH
  uint32_t immediate_data = 0;          // ImmDt, the number in it
  uint32_t queue_key = 0;               // DETH
  uint32_t source_queue_pair = 0;       // DETH
};

// The bytes behind a payload that make its length a multiple of 4.
constexpr uint32_t pad_bytes(uint32_t payload_bytes) { return -payload_bytes & 3u; }

// Builds a packet around a payload that lies where it belongs: headers before it, and behind it pad, ICRC
// and, for InfiniBand, VCRC, at most 9 bytes. Before `payload`, of `payload_bytes` (at most
// spec::packet_payload_bytes), lie spec::packet_headroom bytes, of which those before the headers change too.
// The template takes note of the packet's length. Returns the whole packet.
std::span<uint8_t> build_packet(uint8_t* payload, PacketTemplate& packet_template, const PacketFields& fields,
                                uint32_t payload_bytes);

} // namespace fpga_verbs::wire
