#pragma once

#include "link/address.h"
#include "link/arrived_packets.h"
#include "link/descriptor.h"
#include "link/ethernet_options.h"
#include "link/link.h"
#include "link/neighbor_messages.h"
#include "link/socket_watch.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fpga_verbs::link {

// Ethernet frames over Unix datagram sockets, one frame per datagram: a cable to the network card of a
// virtual machine (QEMU's `-netdev dgram`) or to another such link. The link drops frames other than RoCEv2
// and neighbor discovery. It answers neighbors that query the addresses of its port's functions. It also
// resolves the MAC address of a packet's destination, or of the router on the way, and writes it into the
// packet, which waits until then.
class EthernetLink final : public Link {
public:
  // The addresses of a port: the MAC address of its function 0, followed by those of the other functions,
  // each with a link-local address and an IPv4 address.
  struct Addresses {
    Address first = 0;
    unsigned count = 0;
  };

  // `name`: parsed by ethernet_options(). Creates this end's socket; the peer's may come and go. Null:
  // `failure` gives the reason and what would be right.
  static std::unique_ptr<EthernetLink> make(const std::string& name, const Addresses& own,
                                            std::string& failure);
  ~EthernetLink() override;

  void attach(LinkReceiver& receiver) override { watch_.attach(receiver); }
  void detach() override { watch_.detach(); }
  SendResult send(Lane lane, std::span<const uint8_t> packet) override;
  void flush() override { transmit_ready(); }
  std::span<const uint8_t> front(Lane lane) override;
  void pop(Lane lane) override { arrived_.pop(lane); }
  bool has_arrived() override { return watch_.ask(); }
  bool is_connected() override { return connect_out(); }

private:
  static constexpr size_t most_waiting = 64;     // frames for neighbors that have not answered
  static constexpr size_t most_neighbors = 1024; // that are remembered

  struct Waiting {
    NetworkAddress to;
    std::vector<uint8_t> frame;
  };

  EthernetLink(Descriptor in, Descriptor out, const EthernetOptions& options, const Addresses& own);
  void receive();
  void accept(std::span<const uint8_t> frame);
  void take_note(const NeighborMessage& message);
  void learn(const Neighbor& neighbor);
  void ask(const NetworkAddress& wanted, std::span<const uint8_t> packet);
  std::optional<Neighbor> own(const NetworkAddress& address) const;
  bool transmit_ready();
  bool connect_out();
  SendResult transmit(std::span<const uint8_t> frame, const MacAddress* destination = nullptr);

  Descriptor in_;  // bound to the own path
  Descriptor out_; // connected to the peer's path, when there is one
  EthernetOptions options_;
  Addresses own_;
  SocketWatch watch_;
  ArrivedPackets arrived_;
  std::map<NetworkAddress, MacAddress> neighbors_;
  std::deque<Waiting> waiting_;            // oldest first
  std::deque<std::vector<uint8_t>> ready_; // frames that go before what is sent next
};

} // namespace fpga_verbs::link
