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

// Writes the headers of a packet with `payload_bytes` (at most spec::packet_payload_bytes) of payload, so
// that they end at `payload`. Before it lie spec::packet_headroom bytes; those before the headers change too.
// Returns the length of the headers.
uint32_t write_packet_headers(uint8_t* payload, const PacketTemplate& packet_template,
                              const PacketFields& fields, uint32_t payload_bytes);

// The ICRC register after `header_bytes` of headers that write_packet_headers has written.
uint32_t icrc_of_packet_headers(const uint8_t* payload, const PacketTemplate& packet_template,
                                uint32_t header_bytes);

// Writes pad, ICRC and, for InfiniBand, VCRC behind a payload that lies behind its headers: at most 9 bytes.
// `icrc` is the register after headers and payload. Returns the whole packet.
std::span<uint8_t> write_packet_trailer(uint8_t* payload, const PacketTemplate& packet_template,
                                        uint32_t header_bytes, uint32_t payload_bytes, uint32_t icrc);

// All of it, around a payload that lies where it belongs. Returns the whole packet.
std::span<uint8_t> build_packet(uint8_t* payload, const PacketTemplate& packet_template,
                                const PacketFields& fields, uint32_t payload_bytes);

} // namespace fpga_verbs::wire
