#pragma once

#include "link/address.h"

#include <optional>
#include <string>
#include <sys/un.h>

namespace fpga_verbs::link {

// A router, and the prefix of the addresses that need no router.
struct Gateway {
  NetworkAddress address{};  // of IPv4
  unsigned prefix_bits = 32; // as many as those share with it

  bool is_between(const NetworkAddress& destination) const;
};

// Options of an Ethernet link in its name: OWN,PEER[,vlan=NUMBER][,gateway=ADDRESS/BITS].
struct EthernetOptions {
  sockaddr_un own_path{};
  sockaddr_un peer_path{};
  unsigned vlan = 0; // of all frames on the wire, which have its tag there; 0: none
  std::optional<Gateway> gateway;
};

// Nothing: `failure` says what would be right.
std::optional<EthernetOptions> ethernet_options(const std::string& name, std::string& failure);

} // namespace fpga_verbs::link
