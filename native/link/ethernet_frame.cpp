#include "link/ethernet_frame.h"

#include "wire/packet_bytes.h"

#include <algorithm>
#include <cstring>

namespace fpga_verbs::link {

using wire::read_header;

void write_ethernet_header(uint8_t* at, const MacAddress& to, const MacAddress& from, spec::EtherType type) {
  spec::EthernetHeader header;
  header.set_destination(to);
  header.set_source(from);
  header.set_ether_type(static_cast<uint32_t>(type));
  std::memcpy(at, reinterpret_cast<const uint8_t*>(&header) + ethernet_padding, ethernet_bytes);
}

spec::EtherType ether_type_of(std::span<const uint8_t> frame) {
  // The EtherType ends the Ethernet header, and a tag.
  const uint8_t* const end = frame.data() + ethernet_bytes;
  return static_cast<spec::EtherType>(
      read_header<spec::VirtualLanHeader>(end - spec::VirtualLanHeader::bytes).ether_type());
}

std::array<uint8_t, tagged_ethernet_bytes> tagged_header(std::span<const uint8_t> frame, unsigned vlan) {
  std::array<uint8_t, tagged_ethernet_bytes> header;
  MacAddress to;
  MacAddress from;
  std::ranges::copy(frame.first<sizeof to>(), to.begin());
  std::ranges::copy(frame.subspan<sizeof to, sizeof from>(), from.begin());
  write_ethernet_header(header.data(), to, from, spec::EtherType::virtual_lan);
  spec::VirtualLanHeader tag;
  tag.set_tag_control(vlan);
  tag.set_ether_type(static_cast<uint32_t>(ether_type_of(frame)));
  std::memcpy(header.data() + ethernet_bytes, &tag, sizeof tag);
  return header;
}

std::optional<size_t> untag(std::span<uint8_t> frame, unsigned vlan) {
  constexpr unsigned vlans = 4096; // the rest of the tag control tells priority and drop eligibility
  if (ether_type_of(frame) != spec::EtherType::virtual_lan)
    return vlan == 0 ? std::optional(frame.size()) : std::nullopt;
  if (frame.size() < tagged_ethernet_bytes ||
      read_header<spec::VirtualLanHeader>(frame.data() + ethernet_bytes).tag_control() % vlans != vlan)
    return std::nullopt;
  // The tag starts with its EtherType and ends before that of its content.
  constexpr size_t macs = 2 * sizeof(MacAddress);
  std::memmove(frame.data() + macs, frame.data() + macs + spec::VirtualLanHeader::bytes,
               frame.size() - macs - spec::VirtualLanHeader::bytes);
  return frame.size() - spec::VirtualLanHeader::bytes;
}

namespace {

std::optional<DatagramFrame> datagram_at(std::span<const uint8_t> packet, const NetworkAddress& from,
                                         const NetworkAddress& to, uint32_t protocol) {
  if (protocol != static_cast<uint32_t>(spec::IpProtocol::udp) || packet.size() < spec::UdpHeader::bytes)
    return std::nullopt;
  const auto udp = read_header<spec::UdpHeader>(packet.data());
  return DatagramFrame{.from = {from, static_cast<uint16_t>(udp.source_port())},
                       .to = {to, static_cast<uint16_t>(udp.destination_port())},
                       .payload = packet.subspan(spec::UdpHeader::bytes)};
}

} // namespace

std::optional<DatagramFrame> datagram_of(std::span<const uint8_t> frame) {
  if (frame.size() < ethernet_bytes)
    return std::nullopt;
  const auto packet = frame.subspan(ethernet_bytes);
  switch (ether_type_of(frame)) {
  case spec::EtherType::ipv4: {
    if (packet.size() < spec::Ipv4Header::bytes)
      return std::nullopt;
    const auto ip = read_header<spec::Ipv4Header>(packet.data());
    return datagram_at(packet.subspan(spec::Ipv4Header::bytes), ipv4_address(ip.source_address()),
                       ipv4_address(ip.destination_address()), ip.protocol());
  }
  case spec::EtherType::ipv6: {
    if (packet.size() < spec::Ipv6Header::bytes)
      return std::nullopt;
    const auto ip = read_header<spec::Ipv6Header>(packet.data());
    NetworkAddress from;
    NetworkAddress to;
    std::ranges::copy(ip.source_address(), from.begin());
    std::ranges::copy(ip.destination_address(), to.begin());
    return datagram_at(packet.subspan(spec::Ipv6Header::bytes), from, to, ip.next_header());
  }
  default:
    return std::nullopt;
  }
}

} // namespace fpga_verbs::link
