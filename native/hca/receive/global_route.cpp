#include "hca/receive/global_route.h"

#include "spec/packets.h"

#include <cstring>

namespace fpga_verbs::hca {

uint32_t expose_global_route(PacketMemory& packets, uint16_t packet) {
  Packet& datagram = packets[packet];
  const wire::ParsedPacket& parsed = datagram.parsed;
  if (parsed.framing == wire::PacketFraming::infiniband_local)
    return global_route_bytes;
  const bool is_ipv4 = parsed.framing == wire::PacketFraming::ethernet_ipv4;
  const uint32_t link_bytes =
      parsed.framing == wire::PacketFraming::infiniband_global ? spec::LocalRouteHeader::bytes : 0;
  const uint32_t header_bytes = is_ipv4 ? spec::Ipv4Header::bytes : global_route_bytes;
  // Overwrites the packet's own headers, which are already parsed.
  datagram.payload = static_cast<uint16_t>(datagram.payload - global_route_bytes);
  datagram.payload_bytes = static_cast<uint16_t>(datagram.payload_bytes + global_route_bytes);
  uint8_t* const begin = packets.payload(packet).data();
  std::memmove(begin + global_route_bytes - header_bytes,
               packets.wire(packet).data() + parsed.network_offset + link_bytes, header_bytes);
  std::memset(begin, 0, global_route_bytes - header_bytes);
  return 0;
}

} // namespace fpga_verbs::hca
