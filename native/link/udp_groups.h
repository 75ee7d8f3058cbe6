#pragma once

#include "link/descriptor.h"
#include "link/ethernet_frame.h"

#include <cstdint>
#include <map>

namespace fpga_verbs::link {

// The multicast groups that a UDP link is in, by IGMP or MLD on the interface of its address: a socket for
// each, bound to the group's address, which others on the machine may be bound to as well. A socket that is
// bound to an address of one interface is given no multicasts.
class UdpGroups {
public:
  // `own`: address and port of the link.
  explicit UdpGroups(const UdpAddress& own);

  // Packets that a socket sends to groups leave by the interface of the own address, for its network alone
  // (time to live 1), and reach the other boards of this machine. False: it cannot.
  bool prepare_to_send(const Descriptor& socket) const;

  // Socket of a group that it was not in. Null: the system cannot receive from it, or has no route to it.
  const Descriptor* join(const NetworkAddress& group);
  void leave(const NetworkAddress& group) { sockets_.erase(group); }

  const std::map<NetworkAddress, Descriptor>& sockets() const { return sockets_; }

private:
  Descriptor socket_of(const NetworkAddress& group) const;
  bool has_route(const NetworkAddress& group) const;

  UdpAddress own_;
  uint32_t interface_; // index of that of the own address; 0: IPv4, where the address names it
  std::map<NetworkAddress, Descriptor> sockets_;
};

} // namespace fpga_verbs::link
