#pragma once

#include "link/address.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Neighbor discovery frames on Ethernet: ARP for IPv4 (RFC 826), neighbor discovery for IPv6 (RFC 4861).
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

// Nothing: another frame, or a damaged one.
std::optional<NeighborMessage> neighbor_message_of(std::span<const uint8_t> frame);

// Asks all nodes on the link for the MAC address of `wanted`. Both addresses have the same IP version.
std::vector<uint8_t> neighbor_question(const Neighbor& own, const NetworkAddress& wanted);

// Announces the MAC address of `own` to the sender of the question, or to all nodes if the question does not
// name its sender.
std::vector<uint8_t> neighbor_answer(const Neighbor& own, const std::optional<Neighbor>& asker);

} // namespace fpga_verbs::link
