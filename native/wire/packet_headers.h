#pragma once

#include "spec/enums.h"
#include "spec/packets.h"
#include "wire/packet_template.h"

#include <cstdint>
#include <span>

// Builds packet headers. They end where the payload begins, at spec::packet_headroom of a packet buffer, so
// that the payload can be written first.
namespace fpga_verbs::wire {

// The fields that differ between packets of a queue pair. Only the fields of extended headers that the opcode
// has are used (wire/spec::packet_opcodes.h).
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

// Builds a packet around a payload in place: headers before it, and behind it pad, ICRC and, for InfiniBand,
// VCRC, at most 9 bytes. spec::packet_headroom bytes precede `payload`, which has `payload_bytes` (at most
// spec::packet_payload_bytes); the bytes in front of the headers change too. The template records the
// packet's length. Returns the whole packet.
std::span<uint8_t> build_packet(uint8_t* payload, PacketTemplate& packet_template, const PacketFields& fields,
                                uint32_t payload_bytes);

} // namespace fpga_verbs::wire
