#pragma once

#include "link/address.h"
#include "spec/enums.h"
#include "spec/packets.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::link {

inline constexpr size_t ethernet_padding = spec::EthernetHeader::padding_width / 8; // not on the wire
inline constexpr size_t ethernet_bytes = spec::EthernetHeader::bytes - ethernet_padding;
inline constexpr size_t shortest_ethernet_frame = 60; // without its checksum (IEEE 802.3, 3.2.7)

// Writes an Ethernet header to `at`.
void write_ethernet_header(uint8_t* at, const MacAddress& to, const MacAddress& from, spec::EtherType type);

// Of an untagged frame that holds its header.
spec::EtherType ether_type_of(std::span<const uint8_t> frame);

// Bytes of a header with a VLAN tag, which replaces the ethernet_bytes at the start of `frame`.
inline constexpr size_t tagged_ethernet_bytes = ethernet_bytes + spec::VirtualLanHeader::bytes;
std::array<uint8_t, tagged_ethernet_bytes> tagged_header(std::span<const uint8_t> frame, unsigned vlan);

// Removes the VLAN tag from a frame that holds its header; VLAN 0: removes a tag that has only a priority, if
// there is one. Returns the remaining bytes. Nothing: the frame belongs to another VLAN or is truncated.
std::optional<size_t> untag(std::span<uint8_t> frame, unsigned vlan);

// A UDP port of an IP address.
struct UdpAddress {
  NetworkAddress address{};
  uint16_t port = 0;

  bool operator==(const UdpAddress&) const = default;
};

// The parts of an IPv4 or IPv6 frame with UDP. Nothing: another frame, tagged or truncated.
struct DatagramFrame {
  UdpAddress from;
  UdpAddress to;
  std::span<const uint8_t> payload;
};
std::optional<DatagramFrame> datagram_of(std::span<const uint8_t> frame);

} // namespace fpga_verbs::link
