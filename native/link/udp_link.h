#pragma once

#include "link/arrived_packets.h"
#include "link/descriptor.h"
#include "link/identifications.h"
#include "link/link.h"
#include "link/socket_watch.h"
#include "link/udp_groups.h"
#include "link/udp_packet.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fpga_verbs::link {

// RoCEv2 over a UDP socket on port 4791 of one IPv4 or IPv6 address, for boards of other processes and
// machines and for other implementations; needs no privileges. Like any network it loses packets. The kernel
// writes the headers, so packets must be built with the socket's own address and port: source(). For received
// packets the link reconstructs the headers over which the ICRC was computed. Multicast groups are IP groups
// on the address's interface.
class UdpLink final : public Link {
public:
  // Null: `failure` says why, and what would be right.
  static std::unique_ptr<UdpLink> make(const std::string& address, std::string& failure);

  void attach(LinkReceiver& receiver) override { watch_.attach(receiver); }
  void detach() override { watch_.detach(); }
  SendResult send(Lane lane, std::span<const uint8_t> packet) override;
  void flush() override;
  std::span<const uint8_t> front(Lane lane) override;
  void pop(Lane lane) override { arrived_.pop(lane); }
  bool has_arrived() override { return watch_.ask(); }
  bool join(const NetworkAddress& group) override;
  void leave(const NetworkAddress& group) override { groups_.leave(group); }
  std::optional<Source> source() const override {
    return Source{.address = mac_of(own_.address), .network_address = own_.address, .udp_port = own_.port};
  }

private:
  static constexpr size_t batch = 32; // packets of a system call

  struct Leaving {
    UdpAddress to;
    std::vector<uint8_t> payload;
  };

  // `scope`: the interface of a link-local IPv6 address and its peers; otherwise 0.
  UdpLink(Descriptor socket, Descriptor readable, const UdpAddress& own, uint32_t scope);
  void receive();
  bool receive_from(const Descriptor& socket, const UdpAddress& to);
  void accept(const UdpAddress& from, const UdpAddress& to, size_t bytes);

  Descriptor socket_;
  UdpAddress own_;
  uint32_t scope_;
  size_t headers_bytes_; // before the payload of a frame
  UdpGroups groups_;
  Identifications identifications_;
  Descriptor readable_; // epoll: one of the sockets is
  SocketWatch watch_;
  ArrivedPackets arrived_; // frames, their UDP payload where it was received
  std::array<Leaving, batch> leaving_;
  size_t leaving_count_ = 0;
};

} // namespace fpga_verbs::link
