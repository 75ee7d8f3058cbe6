#pragma once

#include "link/ethernet_frame.h"

#include <cstdint>
#include <netinet/in.h>
#include <sys/socket.h>

namespace fpga_verbs::link {

// A socket address of either family, as system calls use it.
union SocketAddress {
  sockaddr generic;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;

  socklen_t length() const { return generic.sa_family == AF_INET ? sizeof ipv4 : sizeof ipv6; }
};

// `scope`: the interface of an IPv6 address if it is ambiguous; otherwise 0.
SocketAddress socket_address(const UdpAddress& address, uint32_t scope);
UdpAddress udp_address(const SocketAddress& address);

} // namespace fpga_verbs::link
