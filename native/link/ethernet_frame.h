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

// Puts an Ethernet header at `at`.
void write_ethernet_header(uint8_t* at, const MacAddress& to, const MacAddress& from, spec::EtherType type);

// Of an untagged frame that holds its header.
spec::EtherType ether_type_of(std::span<const uint8_t> frame);

// A header with the tag of a virtual LAN, in the place of the ethernet_bytes that `frame` begins with.
inline constexpr size_t tagged_ethernet_bytes = ethernet_bytes + spec::VirtualLanHeader::bytes;
std::array<uint8_t, tagged_ethernet_bytes> tagged_header(std::span<const uint8_t> frame, unsigned vlan);

// Takes the tag of a virtual LAN out of a frame that holds its header; 0: that of none, which tells a
// priority alone, if there is a tag. Gives the bytes that are left. Nothing: the frame is of another one, or
// cut off.
std::optional<size_t> untag(std::span<uint8_t> frame, unsigned vlan);

// A UDP port of an IP address.
struct UdpAddress {
  NetworkAddress address{};
  uint16_t port = 0;

  bool operator==(const UdpAddress&) const = default;
};

// A frame of IPv4 or IPv6 with UDP taken apart. Nothing: it is none, has a tag or is cut off.
struct DatagramFrame {
  UdpAddress from;
  UdpAddress to;
  std::span<const uint8_t> payload;
};
std::optional<DatagramFrame> datagram_of(std::span<const uint8_t> frame);

} // namespace fpga_verbs::link
