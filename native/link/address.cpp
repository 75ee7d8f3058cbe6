#include "link/address.h"

#include "spec/packets.h"

#include <cstring>

namespace fpga_verbs::link {

Address destination_of(spec::LinkLayer link_layer, std::span<const uint8_t> packet) {
  if (link_layer == spec::LinkLayer::ethernet) {
    constexpr size_t padding = spec::EthernetHeader::padding_width / 8; // not on the wire
    constexpr size_t place = spec::EthernetHeader::destination_byte - padding;
    if (packet.size() < spec::EthernetHeader::bytes - padding)
      return ~Address{0};
    Address address = 0;
    for (size_t i = 0; i < spec::EthernetHeader::destination_bytes; ++i)
      address = address << 8 | packet[place + i];
    return address;
  }
  if (packet.size() < spec::LocalRouteHeader::bytes)
    return ~Address{0};
  spec::LocalRouteHeader header;
  std::memcpy(&header, packet.data(), spec::LocalRouteHeader::bytes);
  return header.destination_local_identifier();
}

} // namespace fpga_verbs::link
