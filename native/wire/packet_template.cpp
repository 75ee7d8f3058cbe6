#include "wire/packet_template.h"

#include "spec/packets.h"
#include "spec/parameters.h"
#include "wire/packet_bytes.h"
#include "wire/packet_checksum.h"

#include <cstring>

namespace fpga_verbs::wire {
namespace {

// Multiplicative hashing spreads the flows of queue pairs over the paths of the network; C000h to FFFFh are
// the dynamic ports.
uint32_t source_port_of(uint32_t source_queue_pair, uint32_t destination_queue_pair) {
  constexpr uint32_t golden_ratio = 0x9e3779b1u;
  const uint32_t mixed = (source_queue_pair * golden_ratio) ^ destination_queue_pair;
  return 0xc000u | ((mixed * golden_ratio) >> 18);
}

// Prepends headers to those already there.
class Prepend {
public:
  explicit Prepend(PacketTemplate& packet_template) : template_(packet_template) {}

  template <class Header> void operator()(const Header& header) {
    template_.size = static_cast<uint8_t>(template_.size + Header::bytes);
    write_header(template_.request.wire.data() + (PacketTemplate::bytes - template_.size), header);
  }

private:
  PacketTemplate& template_;
};

void prepend_transport(Prepend& prepend, uint32_t partition_key, uint32_t destination_queue_pair) {
  spec::BaseTransportHeader transport;
  transport.set_migration_request(1);
  transport.set_partition_key(partition_key);
  transport.set_destination_queue_pair(destination_queue_pair);
  prepend(transport);
}

spec::Ipv4Header ipv4_of(const spec::AddressVector& destination, const PacketSource& source) {
  spec::Ipv4Header ip;
  ip.set_version(4);
  ip.set_header_length(spec::Ipv4Header::bytes / 4);
  ip.set_differentiated_services(destination.traffic_class() >>
                                 spec::Ipv4Header::congestion_notification_width);
  ip.set_congestion_notification(destination.traffic_class());
  ip.set_do_not_fragment(1); // so that the identification may be 0 (RFC 6864)
  ip.set_time_to_live(destination.hop_limit());
  ip.set_protocol(static_cast<uint32_t>(spec::IpProtocol::udp));
  ip.set_source_address(ipv4_address(source.gid));
  ip.set_destination_address(ipv4_address(destination.destination_gid()));
  return ip;
}

spec::Ipv6Header ipv6_of(const spec::AddressVector& destination, const PacketSource& source) {
  spec::Ipv6Header ip;
  ip.set_version(6);
  ip.set_traffic_class(destination.traffic_class());
  ip.set_flow_label(destination.flow_label());
  ip.set_next_header(static_cast<uint32_t>(spec::IpProtocol::udp));
  ip.set_hop_limit(destination.hop_limit());
  ip.set_source_address(source.gid);
  ip.set_destination_address(destination.destination_gid());
  return ip;
}

void prepend_ethernet(Prepend& prepend, PacketTemplate& made, const spec::AddressVector& destination,
                      const PacketSource& source) {
  auto ether_type = static_cast<uint32_t>(
      made.framing == PacketFraming::ethernet_ipv4 ? spec::EtherType::ipv4 : spec::EtherType::ipv6);
  const uint8_t network_size = made.size;
  if (destination.vlan() != 0) {
    spec::VirtualLanHeader tag;
    tag.set_tag_control(destination.vlan());
    tag.set_ether_type(ether_type);
    prepend(tag);
    ether_type = static_cast<uint32_t>(spec::EtherType::virtual_lan);
  }
  spec::EthernetHeader ethernet;
  const uint32_t mac_low = destination.destination_mac_low();
  const uint32_t mac_high = destination.destination_mac_high();
  MacAddress mac;
  std::memcpy(mac.data(), &mac_low, 4);
  std::memcpy(mac.data() + 4, &mac_high, 2);
  ethernet.set_destination(mac);
  ethernet.set_source(source.mac);
  ethernet.set_ether_type(ether_type);
  prepend(ethernet);
  made.size = static_cast<uint8_t>(made.size - spec::EthernetHeader::padding_width / 8);
  made.link_bytes = static_cast<uint8_t>(made.size - network_size);
}

void prepend_roce(Prepend& prepend, PacketTemplate& made, const spec::AddressVector& destination,
                  const PacketSource& source, uint32_t source_port) {
  spec::UdpHeader udp;
  udp.set_source_port(source_port);
  udp.set_destination_port(spec::rocev2_udp_port);
  prepend(udp);
  if (is_ipv4(source.gid) && is_ipv4(destination.destination_gid())) {
    made.framing = PacketFraming::ethernet_ipv4;
    prepend(ipv4_of(destination, source));
    made.ipv4_checksum_sum = static_cast<uint32_t>(internet_sum(
        made.request.wire.data() + (PacketTemplate::bytes - made.size), spec::Ipv4Header::bytes));
  } else {
    made.framing = PacketFraming::ethernet_ipv6;
    prepend(ipv6_of(destination, source));
  }
  prepend_ethernet(prepend, made, destination, source);
}

void prepend_infiniband(Prepend& prepend, PacketTemplate& made, const spec::AddressVector& destination,
                        const PacketSource& source) {
  const bool is_global = destination.is_global() != 0;
  made.framing = is_global ? PacketFraming::infiniband_global : PacketFraming::infiniband_local;
  if (is_global) {
    spec::GlobalRouteHeader route;
    route.set_ip_version(6);
    route.set_traffic_class(destination.traffic_class());
    route.set_flow_label(destination.flow_label());
    route.set_next_header(static_cast<uint32_t>(spec::IpProtocol::infiniband_transport));
    route.set_hop_limit(destination.hop_limit());
    route.set_source_gid(source.gid);
    route.set_destination_gid(destination.destination_gid());
    prepend(route);
  }
  spec::LocalRouteHeader route;
  route.set_service_level(destination.service_level());
  route.set_link_next_header(
      static_cast<uint32_t>(is_global ? spec::LinkNextHeader::global : spec::LinkNextHeader::local));
  route.set_destination_local_identifier(destination.destination_local_identifier());
  route.set_source_local_identifier(source.local_identifier + destination.source_path_bits());
  prepend(route);
}

} // namespace

PacketTemplate make_packet_template(const spec::AddressVector& destination, const PacketSource& source,
                                    uint32_t source_queue_pair, uint32_t destination_queue_pair) {
  PacketTemplate made;
  Prepend prepend(made);
  prepend_transport(prepend, source.partition_key, destination_queue_pair);
  if (source.link_layer == spec::LinkLayer::infiniband) {
    prepend_infiniband(prepend, made, destination, source);
  } else {
    const uint32_t given_port =
        source.udp_source_port != 0 ? source.udp_source_port : destination.udp_source_port();
    prepend_roce(prepend, made, destination, source,
                 given_port != 0 ? given_port : source_port_of(source_queue_pair, destination_queue_pair));
  }
  made.response = made.request;
  return made;
}

} // namespace fpga_verbs::wire
