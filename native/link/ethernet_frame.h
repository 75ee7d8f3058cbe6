#pragma once

#include "link/address.h"
#include "spec/enums.h"
#include "spec/packets.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::link {

inline constexpr size_t ethernet_padding = spec::EthernetHeader::padding_width / 8; // not on the wire
inline constexpr size_t ethernet_bytes = spec::EthernetHeader::bytes - ethernet_padding;
inline constexpr size_t shortest_ethernet_frame = 60; // without its checksum (IEEE 802.3, 3.2.7)

// Puts an Ethernet header at `at`.
void write_ethernet_header(uint8_t* at, const MacAddress& to, const MacAddress& from, spec::EtherType type);

// Of an untagged frame that holds its header.
spec::EtherType ether_type_of(std::span<const uint8_t> frame);

// Where a frame of IPv4 or IPv6 with UDP goes, and its payload. Nothing: it is none, has a tag or is cut off.
struct DatagramFrame {
  NetworkAddress to;
  uint16_t port;
  std::span<const uint8_t> payload;
};
std::optional<DatagramFrame> datagram_of(std::span<const uint8_t> frame);

} // namespace fpga_verbs::link
