#pragma once

#include <cstdint>

namespace fpga_verbs::wire {

// Headers before the BTH.
enum class PacketFraming : uint8_t {
  ethernet_ipv4,     // Ethernet, IPv4 and UDP (RoCEv2)
  ethernet_ipv6,     // Ethernet, IPv6 and UDP (RoCEv2)
  infiniband_local,  // LRH
  infiniband_global, // LRH and GRH
};

constexpr bool is_ethernet(PacketFraming framing) { return framing <= PacketFraming::ethernet_ipv6; }

} // namespace fpga_verbs::wire
