#pragma once

#include "spec/enums.h"
#include "spec/packet_opcodes.h"
#include "spec/packets.h"
#include "wire/packet_framing.h"
#include "wire/packet_headers.h"

#include <array>
#include <cstdint>
#include <span>

namespace fpga_verbs::wire {

// Fields of a received packet. Offsets count from its first byte.
struct ParsedPacket {
  PacketFraming framing = PacketFraming::ethernet_ipv4;
  bool forward_congestion = false;  // FECN, or ECN of the IP header: congestion experienced
  bool backward_congestion = false; // BECN
  uint8_t network_offset = 0;       // of the IP header or LRH
  uint8_t transport_offset = 0;     // of the BTH
  uint8_t payload_offset = 0;
  uint16_t payload_bytes = 0; // without pad
  uint16_t partition_key = 0;
  uint16_t source_local_identifier = 0; // InfiniBand
  uint8_t service_level = 0;            // InfiniBand
  MacAddress source_mac{};              // Ethernet
  uint32_t destination_queue_pair = 0;
  PacketFields fields{}; // those of headers that it does not have are 0

  const spec::PacketOpcodeTraits& traits() const { return spec::traits_of(fields.opcode); }
};

// Parses and checks a packet of `bytes` bytes, from its first link byte to its last check (without an
// Ethernet frame check sequence). Checks lengths, versions, checksums, opcode, pad, ICRC and VCRC, but not
// its destination, nor its payload against the path MTU. Returns the reason to drop it, or none; `parsed` is
// valid only if none. The caller must own the packet exclusively: the function changes it temporarily and
// restores it.
spec::PacketDrop parse_packet(spec::LinkLayer link_layer, uint8_t* packet, uint32_t bytes,
                              ParsedPacket& parsed);
// The same for a packet that the caller may not change.
spec::PacketDrop parse_copy(spec::LinkLayer link_layer, std::span<const uint8_t> packet,
                            ParsedPacket& parsed);

// Source and destination of a packet with GRH or IP header, IPv4 addresses as ::ffff:a.b.c.d.
struct PacketAddresses {
  Gid source{};
  Gid destination{};
};
PacketAddresses addresses_of(const uint8_t* packet, const ParsedPacket& parsed);

} // namespace fpga_verbs::wire
