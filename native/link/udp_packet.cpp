#include "link/udp_packet.h"

#include "hca/packet_bytes.h"
#include "hca/packet_checksum.h"
#include "link/ethernet_frame.h"
#include "spec/enums.h"
#include "spec/packets.h"

namespace fpga_verbs::link {

namespace {

using hca::read_header;
using hca::write_header;

static_assert(udp_headers_bytes == ethernet_bytes + spec::Ipv4Header::bytes + spec::UdpHeader::bytes);

constexpr auto protocol_udp = static_cast<uint32_t>(spec::IpProtocol::udp);

} // namespace

std::optional<UdpFrame> udp_frame_of(std::span<const uint8_t> packet) {
  if (packet.size() < udp_headers_bytes)
    return std::nullopt;
  const uint8_t* const network = packet.data() + ethernet_bytes;
  const auto ip = read_header<spec::Ipv4Header>(network);
  const auto udp = read_header<spec::UdpHeader>(network + spec::Ipv4Header::bytes);
  if (ether_type_of(packet) != spec::EtherType::ipv4 || ip.protocol() != protocol_udp)
    return std::nullopt;
  return UdpFrame{.from = {ip.source_address(), static_cast<uint16_t>(udp.source_port())},
                  .to = {ip.destination_address(), static_cast<uint16_t>(udp.destination_port())},
                  .payload = packet.subspan(udp_headers_bytes)};
}

void write_udp_headers(uint8_t* payload, const UdpAddress& from, const UdpAddress& to, size_t bytes) {
  constexpr uint32_t usual_hop_limit = 64; // not covered
  const auto length = static_cast<uint32_t>(spec::UdpHeader::bytes + bytes);
  spec::UdpHeader udp;
  udp.set_source_port(from.port);
  udp.set_destination_port(to.port);
  udp.set_length(length);
  uint8_t* at = payload - spec::UdpHeader::bytes;
  write_header(at, udp);
  at -= spec::Ipv4Header::bytes;
  spec::Ipv4Header ip;
  ip.set_version(4);
  ip.set_header_length(spec::Ipv4Header::bytes / 4);
  ip.set_total_length(spec::Ipv4Header::bytes + length);
  ip.set_do_not_fragment(1);
  ip.set_time_to_live(usual_hop_limit);
  ip.set_protocol(protocol_udp);
  ip.set_source_address(from.address);
  ip.set_destination_address(to.address);
  write_header(at, ip);
  ip.set_header_checksum(~hca::folded(hca::internet_sum(at, spec::Ipv4Header::bytes)));
  write_header(at, ip);
  write_ethernet_header(at - ethernet_bytes, mac_address(mac_of(to.address)),
                        mac_address(mac_of(from.address)), spec::EtherType::ipv4);
}

} // namespace fpga_verbs::link
