#pragma once

#include "spec/enums.h"
#include "spec/parameters.h"

#include <array>
#include <cstdint>
#include <span>

namespace fpga_verbs::link {

using MacAddress = std::array<uint8_t, 6>;

// An IPv6 address, or an IPv4 address a.b.c.d as ::ffff:a.b.c.d: a GID.
using NetworkAddress = std::array<uint8_t, 16>;

// The MAC address or LID, as a number, that selects the destination port of a packet.
using Address = uint64_t;

// Emulated boards have numbers that determine their addresses. The addresses of a port's functions are
// consecutive, as are those of a board's ports.
inline constexpr unsigned board_numbers = 1024;
inline constexpr unsigned addresses_per_port = 16;
inline constexpr unsigned addresses_per_board = addresses_per_port * spec::ports;
static_assert(spec::underlying_functions <= addresses_per_port);

// The address of function 0 at the first port. On Ethernet the MAC address is locally administered: 02:f0,
// followed by the IPv4 address 10.x.x.x.
constexpr Address first_address(spec::LinkLayer link_layer, unsigned board_number) {
  return link_layer == spec::LinkLayer::ethernet ? 0x02f0'0a00'0001 + (Address{board_number} << 8)
                                                 : Address{addresses_per_board} * (board_number + 1);
}

constexpr MacAddress mac_address(Address address) {
  MacAddress mac{};
  for (size_t i = mac.size(); i-- != 0; address >>= 8)
    mac[i] = static_cast<uint8_t>(address);
  return mac;
}

// fe80::/64 and the EUI-64 of a MAC address: ff:fe in the middle, the universal/local bit inverted (RFC 4291,
// appendix A). A LID is in the low bytes.
constexpr NetworkAddress link_local_address(Address address) {
  const MacAddress mac = mac_address(address);
  return {0xfe,   0x80,   0,    0,    0,      0,      0,     0, static_cast<uint8_t>(mac[0] ^ 0x02),
          mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
}

// The MAC address from which a link-local address was made; for any other address the result is not a valid
// MAC address.
constexpr Address mac_of_link_local(const NetworkAddress& address) {
  Address mac = address[8] ^ 0x02u;
  for (const unsigned at : {9u, 10u, 13u, 14u, 15u})
    mac = mac << 8 | address[at];
  return mac;
}

// ::ffff:a.b.c.d with the IPv4 address in an emulated board's MAC address.
constexpr NetworkAddress ipv4_address(Address address) {
  const MacAddress mac = mac_address(address);
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, mac[2], mac[3], mac[4], mac[5]};
}

// Whether the address is a multicast address: a MAC address with the group bit, or a multicast LID.
constexpr bool is_multicast(spec::LinkLayer link_layer, Address address) {
  return link_layer == spec::LinkLayer::ethernet ? (address >> 40 & 1) != 0
                                                 : address >= 0xc000 && address < 0xffff;
}

// Destination and source of a packet from its link header; ~0: the packet is too short.
Address destination_of(spec::LinkLayer link_layer, std::span<const uint8_t> packet);
Address source_of(spec::LinkLayer link_layer, std::span<const uint8_t> packet);

} // namespace fpga_verbs::link
