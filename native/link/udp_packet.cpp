#include "link/udp_packet.h"

#include "spec/enums.h"
#include "spec/packets.h"
#include "wire/packet_bytes.h"
#include "wire/packet_checksum.h"
#include "wire/packet_gid.h"

namespace fpga_verbs::link {

namespace {

using wire::write_header;

constexpr auto protocol_udp = static_cast<uint32_t>(spec::IpProtocol::udp);
constexpr uint32_t usual_hop_limit = 64; // not covered

// 32-bit FNV-1a.
uint32_t hash_of(const NetworkAddress& address) {
  uint32_t hash = 0x811c'9dc5;
  for (const uint8_t byte : address)
    hash = (hash ^ byte) * 0x0100'0193;
  return hash;
}

// RFC 1112, 6.4; RFC 2464, 7.
Address group_mac(const NetworkAddress& group) {
  if (wire::is_ipv4(group))
    return Address{0x0100'5e00'0000} | (wire::ipv4_address(group) & 0x7f'ffff);
  Address mac = 0x3333;
  for (size_t at = group.size() - 4; at < group.size(); ++at)
    mac = mac << 8 | group[at];
  return mac;
}

void write_ipv4_header(uint8_t* at, const NetworkAddress& from, const NetworkAddress& to, size_t bytes) {
  spec::Ipv4Header ip;
  ip.set_version(4);
  ip.set_header_length(spec::Ipv4Header::bytes / 4);
  ip.set_total_length(static_cast<uint32_t>(spec::Ipv4Header::bytes + bytes));
  ip.set_do_not_fragment(1);
  ip.set_time_to_live(usual_hop_limit);
  ip.set_protocol(protocol_udp);
  ip.set_source_address(wire::ipv4_address(from));
  ip.set_destination_address(wire::ipv4_address(to));
  write_header(at, ip);
  ip.set_header_checksum(~wire::folded(wire::internet_sum(at, spec::Ipv4Header::bytes)));
  write_header(at, ip);
}

void write_ipv6_header(uint8_t* at, const NetworkAddress& from, const NetworkAddress& to, size_t bytes) {
  spec::Ipv6Header ip;
  ip.set_version(6);
  ip.set_payload_length(static_cast<uint32_t>(bytes));
  ip.set_next_header(protocol_udp);
  ip.set_hop_limit(usual_hop_limit);
  ip.set_source_address(from);
  ip.set_destination_address(to);
  write_header(at, ip);
}

} // namespace

size_t udp_headers_bytes(const NetworkAddress& address) {
  const size_t network = wire::is_ipv4(address) ? spec::Ipv4Header::bytes : spec::Ipv6Header::bytes;
  return ethernet_bytes + network + spec::UdpHeader::bytes;
}

Address mac_of(const NetworkAddress& address) {
  if (wire::is_multicast(address))
    return group_mac(address);
  if (wire::is_ipv4(address))
    return Address{0x02f0} << 32 | wire::ipv4_address(address);
  const Address candidate = mac_of_link_local(address);
  return link_local_address(candidate) == address ? candidate : Address{0x02f1} << 32 | hash_of(address);
}

void write_udp_headers(uint8_t* payload, const UdpAddress& from, const UdpAddress& to, size_t bytes) {
  const size_t length = spec::UdpHeader::bytes + bytes;
  spec::UdpHeader udp;
  udp.set_source_port(from.port);
  udp.set_destination_port(to.port);
  udp.set_length(static_cast<uint32_t>(length));
  uint8_t* const at = payload - spec::UdpHeader::bytes;
  write_header(at, udp);
  const bool ipv4 = wire::is_ipv4(to.address);
  uint8_t* const network = at - (ipv4 ? spec::Ipv4Header::bytes : spec::Ipv6Header::bytes);
  (ipv4 ? write_ipv4_header : write_ipv6_header)(network, from.address, to.address, length);
  write_ethernet_header(network - ethernet_bytes, mac_address(mac_of(to.address)),
                        mac_address(mac_of(from.address)),
                        ipv4 ? spec::EtherType::ipv4 : spec::EtherType::ipv6);
}

} // namespace fpga_verbs::link
