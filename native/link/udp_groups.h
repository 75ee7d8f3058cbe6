#pragma once

#include "link/descriptor.h"
#include "link/ethernet_frame.h"

#include <cstdint>
#include <map>

namespace fpga_verbs::link {

// The multicast groups that a UDP link has joined, by IGMP or MLD on the interface of its address. Each has a
// socket bound to the group's address, which other sockets on the machine may share. A socket bound to an
// interface address gets no multicast packets.
class UdpGroups {
public:
  // `own`: address and port of the link.
  explicit UdpGroups(const UdpAddress& own);

  // Makes multicast packets of a socket leave by the interface of this address, for its own network only
  // (time to live 1), and reach the other boards of this machine. False: not possible.
  bool prepare_to_send(const Descriptor& socket) const;

  // Joins a new group and returns its socket. Null: the system cannot receive from it, or has no route to it.
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
