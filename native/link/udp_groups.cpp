#include "link/udp_groups.h"

#include "link/socket_address.h"
#include "wire/packet_gid.h"

#include <arpa/inet.h>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <utility>

namespace fpga_verbs::link {

namespace {

// Interface index of an IPv6 address of this machine; 0: none.
uint32_t interface_of(const NetworkAddress& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0)
    return 0;
  uint32_t found = 0;
  for (const ifaddrs* each = list; each != nullptr && found == 0; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET6)
      continue;
    const auto* const candidate = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr);
    if (std::memcmp(&candidate->sin6_addr, address.data(), address.size()) == 0)
      found = if_nametoindex(each->ifa_name);
  }
  freeifaddrs(list);
  return found;
}

template <class Value> bool set(const Descriptor& socket, int level, int option, const Value& value) {
  return setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
}

in_addr ipv4_of(const NetworkAddress& address) { return {.s_addr = htonl(wire::ipv4_address(address))}; }

} // namespace

UdpGroups::UdpGroups(const UdpAddress& own)
    : own_(own), interface_(wire::is_ipv4(own.address) ? 0 : interface_of(own.address)) {}

bool UdpGroups::prepare_to_send(const Descriptor& socket) const {
  if (!wire::is_ipv4(own_.address))
    return set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, interface_);
  return set(socket, IPPROTO_IP, IP_MULTICAST_IF, ipv4_of(own_.address));
}

const Descriptor* UdpGroups::join(const NetworkAddress& group) {
  if (wire::is_ipv4(group) != wire::is_ipv4(own_.address) || !has_route(group))
    return nullptr;
  Descriptor made = socket_of(group);
  return made ? &sockets_.insert_or_assign(group, std::move(made)).first->second : nullptr;
}

// Receives only packets of the group, and only from the interface.
Descriptor UdpGroups::socket_of(const NetworkAddress& group) const {
  const SocketAddress bound = socket_address({group, own_.port}, interface_);
  Descriptor made(socket(bound.generic.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  const int no = 0;
  if (!made || !set(made, SOL_SOCKET, SO_REUSEADDR, yes) ||
      bind(made.get(), &bound.generic, bound.length()) != 0)
    return {};
  bool is_in = false;
  if (wire::is_ipv4(group)) {
    const ip_mreq membership{.imr_multiaddr = ipv4_of(group), .imr_interface = ipv4_of(own_.address)};
    is_in =
        set(made, IPPROTO_IP, IP_MULTICAST_ALL, no) && set(made, IPPROTO_IP, IP_ADD_MEMBERSHIP, membership);
  } else {
    const ipv6_mreq membership{.ipv6mr_multiaddr = bound.ipv6.sin6_addr, .ipv6mr_interface = interface_};
    is_in = set(made, IPPROTO_IPV6, IPV6_MULTICAST_ALL, no) &&
            set(made, IPPROTO_IPV6, IPV6_JOIN_GROUP, membership);
  }
  return is_in ? std::move(made) : Descriptor();
}

// The kernel silently drops a packet to a group without a route; a separate socket looks up the route here.
bool UdpGroups::has_route(const NetworkAddress& group) const {
  const SocketAddress to = socket_address({group, own_.port}, 0);
  const Descriptor probe(socket(to.generic.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return probe && prepare_to_send(probe) && connect(probe.get(), &to.generic, to.length()) == 0;
}

} // namespace fpga_verbs::link
