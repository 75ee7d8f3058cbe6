#pragma once

#include "link/address.h"
#include "link/ethernet_frame.h"

#include <cstddef>
#include <cstdint>

namespace fpga_verbs::link {

// Bytes before the UDP payload of a frame between such addresses: Ethernet, IP and UDP headers.
size_t udp_headers_bytes(const NetworkAddress& address);

// The MAC address of a multicast group, or of an emulated board with this address: 02:f0 and the IPv4
// address, that of which a link-local address was made (EUI-64), or 02:f1 and 32 bits of the address's
// FNV-1a.
Address mac_of(const NetworkAddress& address);

// Puts the headers before a payload of `bytes` bytes that a socket has received, as they were when its ICRC
// was made, if they were this board's: what the ICRC covers of them is what RoCEv2 prescribes (annex A17),
// the addresses, and of IPv4 identification 0 and "do not fragment"; Identifications finds those of others.
void write_udp_headers(uint8_t* payload, const UdpAddress& from, const UdpAddress& to, size_t bytes);

} // namespace fpga_verbs::link
