#include "link/socket_address.h"

#include "wire/packet_gid.h"

#include <arpa/inet.h>
#include <cstring>

namespace fpga_verbs::link {

SocketAddress socket_address(const UdpAddress& address, uint32_t scope) {
  SocketAddress made = {};
  if (wire::is_ipv4(address.address)) {
    made.ipv4 = {};
    made.ipv4.sin_family = AF_INET;
    made.ipv4.sin_addr.s_addr = htonl(wire::ipv4_address(address.address));
    made.ipv4.sin_port = htons(address.port);
  } else {
    made.ipv6 = {};
    made.ipv6.sin6_family = AF_INET6;
    std::memcpy(&made.ipv6.sin6_addr, address.address.data(), address.address.size());
    made.ipv6.sin6_port = htons(address.port);
    made.ipv6.sin6_scope_id = scope;
  }
  return made;
}

UdpAddress udp_address(const SocketAddress& address) {
  if (address.generic.sa_family == AF_INET)
    return {wire::ipv4_gid(ntohl(address.ipv4.sin_addr.s_addr)), ntohs(address.ipv4.sin_port)};
  UdpAddress made{.port = ntohs(address.ipv6.sin6_port)};
  std::memcpy(made.address.data(), &address.ipv6.sin6_addr, made.address.size());
  return made;
}

} // namespace fpga_verbs::link
