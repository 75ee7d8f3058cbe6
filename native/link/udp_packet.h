#pragma once

#include "link/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fpga_verbs::link {

// An IPv4 address as a number, and a UDP port.
struct UdpAddress {
  uint32_t address = 0;
  uint16_t port = 0;
};

// What stands before the UDP payload of a frame: Ethernet, IPv4 and UDP headers.
inline constexpr size_t udp_headers_bytes = 14 + 20 + 8;

// The MAC address of an emulated board with this address.
constexpr Address mac_of(uint32_t address) { return Address{0x02f0} << 32 | address; }

// A RoCEv2 frame as a socket sends it.
struct UdpFrame {
  UdpAddress from;
  UdpAddress to;
  std::span<const uint8_t> payload; // from the BTH through the ICRC
};

// Takes a frame apart; nothing: it is none of IPv4 and UDP.
std::optional<UdpFrame> udp_frame_of(std::span<const uint8_t> packet);

// Puts the headers before a payload of `bytes` bytes that a socket has received, as they were when its ICRC
// was made: what the ICRC covers of them is what RoCEv2 prescribes (annex A17), and the addresses.
void write_udp_headers(uint8_t* payload, const UdpAddress& from, const UdpAddress& to, size_t bytes);

} // namespace fpga_verbs::link
