#pragma once

#include "link/address.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Frames by which neighbors on an Ethernet find each other: ARP for IPv4 (RFC 826), neighbor discovery for
// IPv6 (RFC 4861).
namespace fpga_verbs::link {

struct Neighbor {
  NetworkAddress address;
  MacAddress mac;
};

// The content of such a frame.
struct NeighborMessage {
  std::optional<Neighbor> sender;         // whose MAC address it tells
  std::optional<NetworkAddress> question; // whose it asks for
};

// Nothing: the frame is another one, or damaged.
std::optional<NeighborMessage> neighbor_message_of(std::span<const uint8_t> frame);

// Asks all on the wire for the MAC address of `wanted`. Both addresses are of one kind.
std::vector<uint8_t> neighbor_question(const Neighbor& own, const NetworkAddress& wanted);

// Tells the MAC address of `own` to who asked; to all where the question did not tell who.
std::vector<uint8_t> neighbor_answer(const Neighbor& own, const std::optional<Neighbor>& asker);

} // namespace fpga_verbs::link
