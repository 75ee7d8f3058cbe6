#pragma once

#include "hca/packet_framing.h"
#include "spec/contexts.h"
#include "spec/enums.h"
#include "spec/packets.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>

// The headers of packets. They are written to end where the payload begins, at spec::packet_headroom of a
// packet buffer, so that the payload can be there first.
namespace fpga_verbs::hca {

using Gid = std::array<uint8_t, 16>;
using MacAddress = std::array<uint8_t, 6>;

// What a packet takes from the port that it leaves by, and from an entry of its tables.
struct PacketSource {
  spec::LinkLayer link_layer = spec::LinkLayer::ethernet;
  MacAddress mac{};
  uint16_t local_identifier = 0; // its low bits are replaced by the path bits
  Gid gid{};                     // ::ffff:a.b.c.d on Ethernet: IPv4
  uint16_t partition_key = 0xffff;
};

// What is the same for all packets from one queue pair to another: everything before the extended headers,
// but for lengths, IPv4 checksum, opcode, flags and PSN. Made once per connected queue pair, per send of a
// datagram.
struct PacketTemplate {
  // Ethernet with 802.1Q tag, IPv6, UDP and BTH, and what fills it up to whole copies.
  static constexpr unsigned bytes = 80;

  alignas(8) std::array<uint8_t, bytes> headers{}; // at its end
  PacketFraming framing = PacketFraming::ethernet_ipv4;
  uint8_t link_bytes = 0; // of Ethernet header and tag; 0 for InfiniBand, whose ICRC begins with the LRH
  uint8_t size = 0;       // of all headers through the BTH
  uint32_t ipv4_checksum_sum = 0; // the IPv4 header's words without its length
};

// The template of packets to `destination` from queue pair `source_queue_pair` to `destination_queue_pair`.
// An address vector for Ethernet has is_global set. Without a UDP source port it gets one of C000h to FFFFh
// from a hash of both numbers.
PacketTemplate make_packet_template(const spec::AddressVector& destination, const PacketSource& source,
                                    uint32_t source_queue_pair, uint32_t destination_queue_pair);

// The fields of a packet that differ from one to the next. Of those of extended headers count those that the
// opcode has (hca/packet_opcodes.h).
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

  bool operator==(const PacketFields&) const = default;
};

// The bytes behind a payload that make its length a multiple of 4.
constexpr uint32_t pad_bytes(uint32_t payload_bytes) { return -payload_bytes & 3u; }

// Writes the headers of a packet with `payload_bytes` (at most 4096) of payload, so that they end at
// `payload`, before which lie at least spec::packet_headroom bytes; those before the headers change too.
// Returns the headers' length.
uint32_t write_packet_headers(uint8_t* payload, const PacketTemplate& packet_template,
                              const PacketFields& fields, uint32_t payload_bytes);

// The ICRC register over the headers that write_packet_headers has written, `header_bytes` of them.
uint32_t icrc_of_packet_headers(const uint8_t* payload, const PacketTemplate& packet_template,
                                uint32_t header_bytes);

// Writes pad, ICRC and, for InfiniBand, VCRC behind a payload that lies behind its headers. `icrc` is the
// register after headers and payload. At most 9 bytes; returns the length of the whole packet, which begins
// at payload - header_bytes.
uint32_t write_packet_trailer(uint8_t* payload, const PacketTemplate& packet_template, uint32_t header_bytes,
                              uint32_t payload_bytes, uint32_t icrc);

// All of it, for a payload that lies where it belongs: headers before it, pad and checks behind it. Returns
// the length of the whole packet; its first byte is put into `begin`.
uint32_t build_packet(uint8_t* payload, const PacketTemplate& packet_template, const PacketFields& fields,
                      uint32_t payload_bytes, uint8_t*& begin);

} // namespace fpga_verbs::hca
