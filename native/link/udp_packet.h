#pragma once

#include "link/address.h"
#include "link/ethernet_frame.h"

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::link {

// Bytes in front of the UDP payload of a frame between such addresses: Ethernet, IP and UDP headers.
size_t udp_headers_bytes(const NetworkAddress& address);

// The MAC address of a multicast group, or of an emulated board with this address: 02:f0 and the IPv4
// address, the one in a link-local address (EUI-64), or 02:f1 and 32 bits of the address's FNV-1a.
Address mac_of(const NetworkAddress& address);

// Writes the headers in front of a payload of `bytes` bytes that a socket has received, with the values that
// this board's own ICRC would cover: those that RoCEv2 prescribes (annex A17), the addresses, and for IPv4
// identification 0 and "do not fragment". Identifications finds the values of other senders.
void write_udp_headers(uint8_t* payload, const UdpAddress& from, const UdpAddress& to, size_t bytes);

} // namespace fpga_verbs::link
