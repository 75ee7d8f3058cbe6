#include "link/address.h"

#include "spec/packets.h"

#include <cstring>
#include <optional>

namespace fpga_verbs::link {

namespace {

constexpr Address no_address = ~Address{0};

// The MAC address at an offset in the Ethernet header.
Address mac_at(std::span<const uint8_t> packet, size_t place) {
  constexpr size_t padding = spec::EthernetHeader::padding_width / 8; // not on the wire
  if (packet.size() < spec::EthernetHeader::bytes - padding)
    return no_address;
  // The two bytes behind it belong to the header as well.
  uint64_t bytes = 0;
  std::memcpy(&bytes, packet.data() + place - padding, sizeof bytes);
  return __builtin_bswap64(bytes) >> 16;
}

std::optional<spec::LocalRouteHeader> local_route_of(std::span<const uint8_t> packet) {
  if (packet.size() < spec::LocalRouteHeader::bytes)
    return std::nullopt;
  spec::LocalRouteHeader header;
  std::memcpy(&header, packet.data(), spec::LocalRouteHeader::bytes);
  return header;
}

} // namespace

Address destination_of(spec::LinkLayer link_layer, std::span<const uint8_t> packet) {
  if (link_layer == spec::LinkLayer::ethernet)
    return mac_at(packet, spec::EthernetHeader::destination_byte);
  const auto header = local_route_of(packet);
  return header ? header->destination_local_identifier() : no_address;
}

Address source_of(spec::LinkLayer link_layer, std::span<const uint8_t> packet) {
  if (link_layer == spec::LinkLayer::ethernet)
    return mac_at(packet, spec::EthernetHeader::source_byte);
  const auto header = local_route_of(packet);
  return header ? header->source_local_identifier() : no_address;
}

} // namespace fpga_verbs::link
